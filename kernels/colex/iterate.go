package colex

import (
	"fmt"
	"iter"
	"math/bits"
)

// NextBV returns the next larger word with as many one bits as x, which must
// not be zero (document 000, next_bv; Anderson, "Bit Twiddling Hacks", next
// bit permutation).
func NextBV(x uint64) uint64 {
	t := x | (x - 1)
	return (t + 1) | (((^t & (t + 1)) - 1) >> (bits.TrailingZeros64(x) + 1))
}

// BVToList writes to board the board of n seeds whose bit vector is x: P-1 ones
// among P+n-1 bits, the gaps between them being the pits (document 000,
// bv2list; the implicit top one at bit P+n-1 is added here: docs/sources.md).
func BVToList(x uint64, n int, board []uint8) {
	x |= 1 << (len(board) + n - 1)
	for i := range board {
		gap := bits.TrailingZeros64(x)
		x = x >> (gap % 64) >> 1 // of two shifts neither is checked
		board[i] = uint8(gap)
	}
}

// Iterate lists the boards with n seeds in rank order, with their ranks. Every
// step reuses the same board slice. It fails with ErrOverflow when the bit
// vector of P+n bits does not fit a word, and with ErrRange when n is not
// covered by the ranking.
func (r *Ranking) Iterate(n int) (iter.Seq2[uint64, []uint8], error) {
	if n < 0 || n > r.seeds {
		return nil, fmt.Errorf("%w: %d seeds (0 to %d are supported)", ErrRange, n, r.seeds)
	}
	if r.pits+n > 64 {
		return nil, fmt.Errorf("%w: iterating over %d pits with %d seeds", ErrOverflow, r.pits, n)
	}
	return func(yield func(uint64, []uint8) bool) {
		board := make([]uint8, r.pits)
		bv, size := uint64(1)<<(r.pits-1)-1, r.Size(n)
		for rank := range size {
			BVToList(bv, n, board)
			if !yield(rank, board) {
				return
			}
			if rank+1 < size { // one pit only: nothing follows, bv is 0
				bv = NextBV(bv)
			}
		}
	}, nil
}

// ListToBV is the inverse of BVToList: the bit vector of board, without the
// implicit top one. It is meaningful when pits and seeds together are at most
// 64.
func ListToBV(board []uint8) uint64 {
	x, c := uint64(0), 0
	for i, seeds := range board[:len(board)-1] {
		c += int(seeds)
		x |= 1 << (c + i)
	}
	return x
}
