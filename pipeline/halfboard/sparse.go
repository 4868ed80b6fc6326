package halfboard

import (
	"context"
	"slices"

	"grenier/layers/awari/halves"
)

// position names a position by the codes of its halves.
type position struct{ mover, opponent uint32 }

// A change is a position whose score has been replaced and has not yet been
// passed on to its predecessors.
type change struct {
	position
	old int8
}

// update is a new score for a position.
type update struct {
	position
	score int8
}

// settle passes changes on, round by round, until nothing changes. In a round
// the workers first read only: they find the predecessors that may change and
// recompute them. Then the new scores are written, in place, by nobody else:
// between rounds no version has readers. It returns the number of changes.
func (e *engine) settle(ctx context.Context, changes []change) (int, error) {
	total := 0
	for len(changes) > 0 {
		total += len(changes)
		affected, err := gather(ctx, e.workers, changes, e.affected)
		if err != nil {
			return total, err
		}
		updates, err := gather(ctx, e.workers, affected, e.recompute)
		if err != nil {
			return total, err
		}
		changes = e.apply(changes[:0], updates)
	}
	return total, nil
}

// A candidate is a quiet predecessor of a changed position.
type candidate struct {
	position
	score    *int8
	old, new int8 // scores of the changed position
}

// affected appends the quiet predecessors of changed positions whose score the
// changes may move. A predecessor knows the old score: its own is at least -old.
// When the new score is lower, the predecessor gains if -new is above its score;
// when it is higher, the predecessor can only lose if this move was its best.
//
// Scores lie all over memory: first the places are worked out, then all are read
// at once, so that the CPU waits for many of them together.
func (e *engine) affected(dst []position, changes []change) []position {
	var candidates []candidate
	for _, c := range changes {
		candidates = e.candidates(candidates, c)
	}
	for i := range candidates {
		c := &candidates[i]
		if s := *c.score; c.new < c.old && -c.new > s || c.new > c.old && -c.old == s {
			dst = append(dst, c.position)
		}
	}
	return dst
}

// candidates appends the quiet predecessors of a changed position.
func (e *engine) candidates(dst []candidate, c change) []candidate {
	if e.grid.pits[c.mover] == (half{}) {
		return dst // no ordinary move leaves the opponent without seeds
	}
	score := *e.grid.score(c.position)
	for pit, seeds := range e.grid.pits[c.opponent][:e.grid.q] {
		if seeds == 0 {
			dst = e.candidatesFrom(dst, c, score, pit)
		}
	}
	return dst
}

// candidatesFrom is candidates for those that sowed out of pit: seeds are taken
// back one by one, in the order in which they were sown, as long as the pits hold
// some.
func (e *engine) candidatesFrom(dst []candidate, c change, score int8, pit int) []candidate {
	g := e.grid
	mover, opponent := g.pits[c.opponent], g.pits[c.mover]
	after := opponent // the opponent's half, sown
	for last := g.next(pit, pit); ; last = g.next(last, pit) {
		owner, at := &mover, last
		if last >= g.q {
			owner, at = &opponent, last-g.q
		}
		if owner[at] == 0 {
			return dst
		}
		owner[at]--
		mover[pit]++
		if last >= g.q && halves.Capturable(after[at]) || !opponent.hasEmpty(g.q) {
			continue // not quiet, or a full row: computed at the end
		}
		p := position{g.code(&mover), g.code(&opponent)}
		dst = append(dst, candidate{p, g.score(p), c.old, score})
	}
}

// next returns the pit of the board sown after pit, by a move from origin.
func (g *geometry) next(pit, origin int) int {
	for {
		if pit++; pit == 2*g.q {
			pit = 0
		}
		if pit != origin {
			return pit
		}
	}
}

// A reading is where the score of a position and all it depends on are.
type reading struct {
	position
	score, offer *int8
	children     int // the children are the next so many of a list
}

// recompute appends updates for the positions whose score is not what their
// moves give. Like affected, it works out all places first.
func (e *engine) recompute(dst []update, positions []position) []update {
	readings := make([]reading, 0, len(positions))
	children := make([]*int8, 0, maxHalf*len(positions))
	for _, p := range positions {
		before := len(children)
		t, row, col := e.grid.find(p)
		for _, edge := range t.strip.moves(col) {
			if child := e.grid.quietChild(t, edge, p.opponent); child != nil {
				children = append(children, child)
			}
		}
		readings = append(readings, reading{
			p, &t.current.scores[row*t.cols+col], &e.grid.offersOf(t, openRows, col)[row], len(children) - before,
		})
	}
	for i := range readings {
		r := &readings[i]
		best := -*r.offer
		for _, child := range children[:r.children] {
			best = max(best, -*child)
		}
		children = children[r.children:]
		if best != *r.score {
			dst = append(dst, update{r.position, best})
		}
	}
	return dst
}

// quietChild returns the place of the score that edge leads to from a position
// of t with the given opponent's half, nil if the move is not a quiet one.
func (g *grid) quietChild(t *tile, edge edge, opponent uint32) *int8 {
	r := &t.strip.routes[edge.route]
	sown := g.sown(opponent, r.move)
	if r.move.Last >= 0 && halves.Capturable(sown[r.move.Last]) || sown == (half{}) {
		return nil
	}
	at := &g.places[g.code(&sown)]
	child := g.tile(g.n-t.strip.sum+r.seeds, r.rows, int(at.slab))
	return &child.current.scores[int(edge.row)*child.cols+int(at.col)]
}

// apply writes the updates and appends the changes they make. A position may
// have several updates, all the same.
func (e *engine) apply(dst []change, updates []update) []change {
	for _, u := range updates {
		score := e.grid.score(u.position)
		if *score != u.score {
			dst = append(dst, change{u.position, *score})
			*score = u.score
		}
	}
	return dst
}

// score returns the place of the score of p, which is in an open row.
func (g *grid) score(p position) *int8 {
	t, row, col := g.find(p)
	return &t.current.scores[row*t.cols+col]
}

// find returns the tile of p, which is in an open row, and its place there.
func (g *grid) find(p position) (t *tile, row, col int) {
	a, b := &g.places[p.mover], &g.places[p.opponent]
	return g.tile(g.pits[p.mover].sum(), int(b.slab), int(a.slab)), int(b.row), int(a.col)
}

// changesOf appends the positions of t whose scores differ from the old ones.
func (g *grid) changesOf(dst []change, t *tile, old, scores []int8) []change {
	columns, rows := g.columns(t.strip), g.rowCodes(g.n-t.strip.sum, g.opponents(t), openRows)
	for row, opponent := range rows {
		was, is := old[row*t.cols:][:t.cols], scores[row*t.cols:][:t.cols]
		if slices.Equal(was, is) {
			continue
		}
		for col := range was {
			if was[col] != is[col] {
				dst = append(dst, change{position{columns.code(col), opponent}, was[col]})
			}
		}
	}
	return dst
}
