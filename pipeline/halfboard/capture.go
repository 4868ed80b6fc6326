package halfboard

import (
	"grenier/layers/awari/halves"
)

// blocked marks, among negated scores, that there is no such move: it never is
// the minimum. Scores are at most colex.MaxSeeds.
const blocked = 127

// An offer is one way to capture: all parents in pairs capture gain seeds and
// their children stand in the same run of columns.
type offer struct {
	gain  int
	start int // rank of the columns' slab among the halves of their sum
	pairs []pair
}

// offersOf returns what each route of the tile's columns can capture from the
// rows of class.
func (g *grid) offersOf(p *patterns, t *tile, class rowClass) ([][]offer, error) {
	moves := &g.moves[t.sum][t.colSlab]
	offers := make([][]offer, len(moves.routes))
	for i := range moves.routes {
		var err error
		if offers[i], err = g.routeOffers(p, t, &moves.routes[i], class); err != nil {
			return nil, err
		}
	}
	return offers, nil
}

func (g *grid) routeOffers(p *patterns, t *tile, r *route, class rowClass) ([]offer, error) {
	if r.move.Last < 0 {
		return nil, nil
	}
	suffix, low := g.sow(g.opponents(t), r, g.rowsOf(t, class))
	fromSuffix := g.captureSuffix(&suffix, r, &low)
	captures, err := p.capture(low)
	if err != nil {
		return nil, err
	}
	sown := g.n - t.sum + r.seeds // seeds in B' before the capture
	var offers []offer
	for _, c := range captures {
		gain := fromSuffix + c.seeds
		if gain == 0 || gain == sown { // quiet, or a grand slam: no ordinary move
			continue
		}
		columns := &g.slabs[sown-gain][g.slabOf(sown-gain, suffix)]
		offers = append(offers, offer{gain: gain, start: columns.start, pairs: c.pairs})
	}
	return offers, nil
}

// captureSuffix runs the captures of a route back through the suffix pits: it
// empties those captured, sets the low pit from which low goes on, and returns
// the seeds taken.
func (g *grid) captureSuffix(suffix *half, r *route, low *lowMove) int {
	pit, seeds := int(r.move.Last), 0
	for ; pit >= g.lowPits() && halves.Capturable(suffix[pit]); pit-- {
		seeds += int(suffix[pit])
		suffix[pit] = 0
	}
	if pit < g.lowPits() {
		low.last = int8(pit)
	}
	return seeds
}

// captureTile computes the offers of the rows of one class of a tile. lower
// holds the scores of the layers below in colex order.
func (e *engine) captureTile(t *tile, class rowClass, lower [][]int8) error {
	rows := t.rows[class]
	if rows == 0 {
		return nil
	}
	offers, err := e.grid.offersOf(e.patterns, t, class)
	if err != nil {
		return err
	}
	all, err := e.arena.keep(rows * t.cols)
	if err != nil {
		return err
	}
	fill(all, blocked)
	moves := &e.grid.moves[t.sum][t.colSlab]
	for c := range t.cols {
		dst := all[c*rows : (c+1)*rows]
		for _, edge := range moves.of(c) {
			for i := range offers[edge.route] {
				o := &offers[edge.route][i]
				o.apply(dst, e.grid.lowerRow(lower, edge.code, o.gain)[o.start:])
			}
		}
	}
	t.offers[class] = all
	return e.endGames(t, class)
}

// apply lowers the negated scores of dst to what the captures of o give; src is
// the run of child scores.
func (o *offer) apply(dst, src []int8) {
	gain := int8(o.gain)
	for _, p := range o.pairs {
		dst[p.parent] = min(dst[p.parent], src[p.child]-gain)
	}
}

// lowerRow returns the scores that follow a capture of gain seeds when the
// opponent's half is the one with the given code.
func (g *grid) lowerRow(lower [][]int8, code uint32, gain int) []int8 {
	n := g.n - gain
	return lower[n][g.halves.RowStart(n, g.pits[code][:g.q]):]
}

// endGames sets the offers of positions without an ordinary move: nothing quiet
// and no capture that leaves the opponent seeds.
func (e *engine) endGames(t *tile, class rowClass) error {
	sources, err := e.sources(t, class)
	if err != nil {
		return err
	}
	rows, moves := t.rows[class], &e.grid.moves[t.sum][t.colSlab]
	quiet := make([]uint64, (rows+63)/64)
	for c := range t.cols {
		clear(quiet)
		for _, edge := range moves.of(c) {
			if s := &sources[edge.route]; s.mask != nil {
				for w, bits := range s.mask.out {
					quiet[w] |= bits
				}
			}
		}
		e.endColumn(t, class, c, quiet)
	}
	return nil
}

// endColumn sets the offers of the positions of column c that have neither a
// capture nor, by the bits of quiet, a quiet move.
func (e *engine) endColumn(t *tile, class rowClass, c int, quiet []uint64) {
	rows := t.rows[class]
	offers := t.offers[class][c*rows : (c+1)*rows]
	for row, score := range offers {
		if score == blocked && quiet[row/64]>>(row%64)&1 == 0 {
			offers[row] = -e.endScore(e.grid.columns(t).code(c), e.grid.opponents(t).rowCodes(class)[row])
		}
	}
}

// endScore is the score of a position without an ordinary move. There are few
// of them, so the rules themselves are asked: what is legal then, if anything
// is, takes seeds and ends the game.
func (e *engine) endScore(mover, opponent uint32) int8 {
	board := e.grid.board(mover, opponent)
	score := e.game.Terminal(board)
	for _, play := range e.game.Plays(board) {
		if play.Legal {
			score = max(score, play.Captured)
		}
	}
	return int8(score)
}

func fill(dst []int8, x int8) {
	for i := range dst {
		dst[i] = x
	}
}
