package compress

import "math/bits"

// Mask is the pair of bit masks of a compress, prepared for Least: how a move
// picks the scores of its children from a row. It is immutable.
type Mask struct {
	reach, quiet []uint64 // without empty words at either end
	skip         int      // empty words before reach
	width        int      // one more than the last set bit of reach
	count        int      // set bits of reach
}

// NewMask prepares the masks reach and quiet, see rowFunc.
func NewMask(reach, quiet []uint64) *Mask {
	m := &Mask{}
	for m.skip < len(reach) && reach[m.skip] == 0 {
		m.skip++
	}
	end := len(reach)
	for end > m.skip && reach[end-1] == 0 {
		end--
	}
	m.reach, m.quiet = reach[m.skip:end:end], quiet[m.skip:end:end]
	for _, word := range m.reach {
		m.count += bits.OnesCount64(word)
	}
	if end > m.skip {
		m.width = 64*(end-1) + bits.Len64(reach[end-1])
	}
	return m
}

// Count returns how many scores the mask picks.
func (m *Mask) Count() int { return m.count }

// Pick is a row with the mask that picks from it. The children of one move may
// be spread over several rows: their picks follow each other, and the first one
// is marked.
type Pick struct {
	Src   []int8
	Mask  *Mask
	First bool
}

// Column is a column of scores to be computed: what the best move of each
// position leaves the opponent with. Dst[i] becomes the least of Offers[i] and,
// for each move, the i-th of the scores that its picks list one after the other.
type Column struct {
	Dst, Offers []int8
	Picks       int // how many of the picks are the column's
}

// LeastFunc computes columns of the same length. The picks of the columns follow
// each other in picks, which lets the kernel fetch rows ahead.
//
//   - Offers has the length of Dst, and so have the scores of each move.
//   - Each Src is long enough for its mask.
//   - scratch holds a compressed row for each move of a column: it has at least
//     Scratch(len(Dst), number of moves) elements.
//
// It panics if that does not hold. Dst, Offers, scratch and the rows must not
// overlap.
type LeastFunc func(columns []Column, picks []Pick, scratch []int8)

// slack is the room behind a compressed row, so that whole registers can be
// stored.
const slack = 64

// stride is the distance of compressed rows of n scores in scratch.
func stride(n int) int { return (n+63)&^63 + slack }

// Scratch returns the number of scores that LeastFunc needs to compute n scores
// from that many moves.
func Scratch(n, moves int) int { return moves * stride(n) }

// checkPicks panics unless the picks are complete moves of n scores that fit in
// scratch. It returns the number of moves.
func checkPicks(n int, picks []Pick, scratch []int8) int {
	moves, left := 0, 0
	for i := range picks {
		p := &picks[i]
		if p.First {
			if left != 0 {
				panic("compress: a move lists too few scores")
			}
			left = n
			moves++
		}
		if left -= p.Mask.count; left < 0 {
			panic("compress: a move lists too many scores")
		}
		if p.Mask.width > len(p.Src) {
			panic("compress: a row is shorter than its mask")
		}
	}
	if left != 0 || Scratch(n, moves) > len(scratch) {
		panic("compress: a move lists too few scores, or scratch is too short")
	}
	return moves
}

// leastBy returns the LeastFunc made of a compress and a minimum.
func leastBy(compress rowFunc, minimum func(dst, a []int8)) LeastFunc {
	return func(columns []Column, picks []Pick, scratch []int8) {
		for i := range columns {
			c := &columns[i]
			checkPicks(len(c.Dst), picks[:c.Picks], scratch)
			copy(c.Dst, c.Offers[:len(c.Dst)])
			c.least(compress, minimum, picks[:c.Picks], scratch[:min(len(scratch), stride(len(c.Dst)))])
			picks = picks[c.Picks:]
		}
	}
}

// least lowers Dst to what the moves give; row has room for one of them.
func (c *Column) least(compress rowFunc, minimum func(dst, a []int8), picks []Pick, row []int8) {
	done := 0
	for i := range picks {
		p := &picks[i]
		src := p.Src[min(64*p.Mask.skip, len(p.Src)):]
		done += compress(row[done:], src, p.Mask.reach, p.Mask.quiet)
		if done == len(c.Dst) {
			minimum(c.Dst, row)
			done = 0
		}
	}
}
