package halfboard

import (
	"math/bits"

	"grenier/kernels/compress"
	"grenier/kernels/window"
)

// apply lowers the negated scores of a column, a row after the other, to what the captures of c
// give, which lead to a row of a lower layer.
func (c *capture) apply(column, row []int8) {
	gain := int8(c.seeds)
	for _, p := range c.pairs {
		column[p.row] = min(column[p.row], row[p.child]-gain)
	}
}

// endGames sets the offers of a block for positions without an ordinary move: neither a
// capture nor a quiet move; moves that leave the opponent without seeds are not
// ordinary.
func (r *round) endGames(m *matrix, class rowClass, panel, chunk int, offers *compress.Block) {
	p := &m.programs[panel]
	var quiet [side]uint64 // by column
	for _, group := range p.Groups {
		rows := m.routes[group.Route].pattern.quiet[class][chunk]
		for left := group.Columns; left != 0; left &= left - 1 {
			quiet[bits.TrailingZeros64(left)] |= rows
		}
	}
	all := ^uint64(0) >> (side - m.depth(class, chunk))
	opponents := r.layer.rows[r.layer.n-m.sum][class][chunk*side:]
	for c := range m.width(panel) {
		r.endColumn(m.first+uint32(panel*side+c), opponents, offers[c*side:][:side], all&^quiet[c])
	}
}

// endColumn sets those of offers whose positions have no ordinary move: rows are those without
// a quiet one. Where scores are codes, it marks bad offers of positions that have only
// captures (window.OnlyCaptures).
func (r *round) endColumn(mover uint32, opponents []uint32, offers []int8, rows uint64) {
	for left := rows; left != 0; left &= left - 1 {
		row := bits.TrailingZeros64(left)
		offer := &offers[row]
		if *offer == r.layer.blocked() {
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
func (r *round) endScore(mover, opponent uint32) int8 {
	board := r.layer.board(mover, opponent)
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
