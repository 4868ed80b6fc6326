package board

import (
	"math/bits"

	"grenier/kernels/compress"
	"grenier/kernels/window"
)

// apply lowers the negated scores of a column, a row after the other, to what the captures of c
// give, which lead to a row of a lower layer. Inlined in the loops around it, it would have too few registers.
//
//go:noinline
func (c *capture) apply(column, row []int8) {
	gain := int8(c.seeds)
	for _, p := range c.pairs {
		// The lesser of two without a branch, which would be mispredicted.
		to := &column[p.row]
		less := int32(row[p.child]-gain) - int32(*to)
		*to += int8(less & (less >> 31))
	}
}

// endGames sets the offers of a block for positions without an ordinary move: neither a
// capture nor a quiet move; moves that leave the opponent without seeds are not
// ordinary.
func (r *Round) endGames(m *Matrix, class RowClass, panel, chunk int, offers *compress.Block) {
	p := &m.Programs[panel]
	var quiet [Side]uint64 // by column
	for _, group := range p.Groups {
		rows := m.Routes[group.Route].Pattern.quiet[class][chunk]
		for left := group.Columns; left != 0; left &= left - 1 {
			quiet[bits.TrailingZeros64(left)] |= rows
		}
	}
	all := ^uint64(0) >> (Side - m.Depth(class, chunk))
	opponents := r.layer.Rows[r.layer.N-m.Sum][class][chunk*Side:]
	for c := range m.Width(panel) {
		r.endColumn(m.First+uint32(panel*Side+c), opponents, offers[c*Side:][:Side], all&^quiet[c])
	}
}

// endColumn sets the offers of positions that have no ordinary move: rows have no
// quiet one. Where scores are codes, it marks bad offers of positions that have only
// captures (window.OnlyCaptures).
func (r *Round) endColumn(mover uint32, opponents []uint32, offers []int8, rows uint64) {
	for left := rows; left != 0; left &= left - 1 {
		row := bits.TrailingZeros64(left)
		offer := &offers[row]
		if *offer == r.layer.Blocked() {
			*offer = -r.endScore(mover, opponents[row])
		}
		if r.codes && *offer > 0 {
			*offer -= window.OnlyCaptures
		}
	}
}

// endScore is the score of a position without an ordinary move. There are few
// of them, so the rules themselves are asked: what is legal then, if anything
// is, takes seeds and ends the game.
func (r *Round) endScore(mover, opponent uint32) int8 {
	board := r.layer.Board(mover, opponent)
	score := r.game.Terminal(board)
	for _, play := range r.game.Plays(board) {
		if play.Legal {
			score = max(score, play.Captured)
		}
	}
	return int8(score)
}

// fill sets all of dst to x.
func fill(dst []int8, x int8) {
	head := dst[:min(len(dst), 1<<12)]
	for i := range head {
		head[i] = x
	}
	for n := len(head); n < len(dst); n += len(head) {
		copy(dst[n:], head)
	}
}
