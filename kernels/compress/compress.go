// Package compress gathers the scores of the positions that moves lead to.
//
// In a layer file, a row holds the scores of all boards with one given
// opponent half, in the order of the mover's half. Play the same move on one
// half against every possible other half, and the boards reached lie in a
// single row, in ascending order, with gaps: the move adds a constant number of
// seeds to each pit of the other half, so a board is reached if it has at least
// that many. Reading all results of the move is therefore not a walk with
// random access: it is a compress of the row by a bit mask, the reach.
//
// A second mask tells quiet results from captures: a reached board that the
// game would not leave in place, because the move ends with a capture there, has
// no score to read, and Blocked stands in for it. Since a mover negates the
// scores of the boards he moves to and takes the maximum, Blocked, +127, loses
// against every move.
//
// The generic code defines the result; the twins for amd64 give the same one.
package compress

import "math/bits"

// Blocked stands for the score of a board that is reached but not quiet. It is
// larger than any score, so it never wins a minimum against one.
const Blocked = 127

// rowFunc compresses a row. For every set bit p of reach, ascending, it appends
// one score to dst: src[p] if the bit p of quiet is set too, Blocked if it is
// not. It returns how many these are. Bit p is the bit p%64 of word p/64.
//
//   - quiet has at least as many words as reach; bits of quiet outside reach
//     are ignored.
//   - reach may be shorter than src needs: it has no set bits beyond its end.
//     Bits of reach at or beyond len(src) are ignored.
//   - dst has room for all set bits; if it has not, the call panics. What lies
//     in dst beyond the returned count is scratch: it may be overwritten, up to
//     the length of dst but not up to its capacity.
//   - dst overlaps nothing else.
//
// Words of reach that are 0 cost next to nothing.
type rowFunc func(dst, src []int8, reach, quiet []uint64) int

func compressGeneric(dst, src []int8, reach, quiet []uint64) int {
	return compressFrom(dst, src, reach, quiet, 0, 0)
}

// compressFrom is the rest of a compress: source positions from p on, to
// dst[o:]. It returns the new value of o.
func compressFrom(dst, src []int8, reach, quiet []uint64, p, o int) int {
	words := min(len(reach), (len(src)+63)/64)
	quiet = quiet[:len(reach)]
	for w := p / 64; w < words; w++ {
		r := reach[w]
		if w == p/64 {
			r &= ^uint64(0) << (p % 64)
		}
		if rest := len(src) - 64*w; rest < 64 {
			r &= 1<<rest - 1
		}
		if r != 0 {
			o = compressWord(dst, src[64*w:], r, quiet[w], o)
		}
	}
	return o
}

// compressWord appends src[p], or Blocked, for the set bits p of r.
func compressWord(dst, src []int8, r, q uint64, o int) int {
	for ; r != 0; r &= r - 1 {
		p := bits.TrailingZeros64(r)
		x := src[p]
		if q>>(p&63)&1 == 0 {
			x = Blocked
		}
		dst[o] = x
		o++
	}
	return o
}
