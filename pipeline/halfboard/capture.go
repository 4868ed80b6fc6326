package halfboard

import (
	"math/bits"

	"grenier/kernels/compress"
)

// captureStrip computes the offers of one class of rows of a strip. lower holds
// the scores of the layers below in colex order.
func (e *engine) captureStrip(s *strip, class rowClass, lower [][]int8) error {
	sum := e.grid.n - s.sum
	rows := len(e.grid.rows[sum][class])
	if rows == 0 {
		return nil
	}
	cols := e.grid.columns(s).size
	offers, err := e.arena.keep(rows * cols)
	if err != nil {
		return err
	}
	fill(offers, compress.Blocked)
	s.offers[class] = offers
	patterns := make([]*pattern, len(s.routes))
	for i, r := range s.routes {
		patterns[i] = e.patterns.get(e.grid.geometry, sum, r.move)
	}
	quiet := make([]uint64, (rows+63)/64)
	for c := range cols {
		column := offers[c*rows:][:rows]
		clear(quiet)
		for _, edge := range s.moves(c) {
			p := patterns[edge.route]
			for i := range p.captures[class] {
				p.captures[class][i].apply(column, e.grid, lower, edge.code)
			}
			if sum+s.routes[edge.route].seeds > 0 { // else it leaves the opponent without seeds
				union(quiet, p.quiet[class])
			}
		}
		e.endColumn(s, class, c, quiet)
	}
	return nil
}

// apply lowers the negated scores of a column to what the captures of c give.
// code names the opponent's half afterwards.
func (c *capture) apply(column []int8, g *grid, lower [][]int8, code uint32) {
	n := g.n - c.seeds
	row := lower[n][g.halves.RowStart(n, g.pits[code][:g.q]):]
	gain := int8(c.seeds)
	for _, p := range c.pairs {
		column[p.row] = min(column[p.row], row[p.child]-gain)
	}
}

func union(dst, a []uint64) {
	for i, x := range a[:len(dst)] {
		dst[i] |= x
	}
}

// endColumn sets the offers of the positions of column c without an ordinary
// move: neither a capture nor, by the bits of quiet, a quiet move.
func (e *engine) endColumn(s *strip, class rowClass, c int, quiet []uint64) {
	codes := e.grid.rows[e.grid.n-s.sum][class]
	column := s.offers[class][c*len(codes):][:len(codes)]
	for w, word := range quiet {
		for left := ^word; left != 0; left &= left - 1 {
			row := 64*w + bits.TrailingZeros64(left)
			if row < len(column) && column[row] == compress.Blocked {
				column[row] = -e.endScore(e.grid.columns(s).code(c), codes[row])
			}
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
