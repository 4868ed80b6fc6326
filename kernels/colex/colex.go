// Package colex ranks boards: it numbers the ways of putting n seeds into P
// pits 0, 1, 2, ... without gaps, in colexicographic order, and back.
//
// A board x of P pits becomes the strictly increasing vector
// c[i] = x[0]+...+x[i]+i, and its code is the sum of binom(c[i], i+1), the
// number of that vector in the combinatorial number system (document 000,
// "Encodage compact de plateaux d'Awalé"; Knuth, TAoCP 7.2.1.3). Codes are
// sorted by seeds first, so the boards of n seeds have the consecutive codes
// from binom(P+n-1, P) on; the rank of a board is its code minus that.
//
// The first board of a layer is (0, ..., 0, n), the last (n, 0, ..., 0): among
// boards with as many seeds, the one with more seeds in the last pit where
// they differ comes first.
//
// Two things make fast solvers possible and live here too. Boards of one layer
// can be listed in rank order without unranking, by bit permutation (Iterate).
// And the rank of a board factors over its two halves (Halves).
package colex

import (
	"fmt"
	"math/bits"

	"grenier/kernels/fault"
)

// Limits of boards that can be ranked.
const (
	MaxPits  = 16
	MaxSeeds = 64
)

var (
	// ErrRange reports a number of pits or seeds, or a rank, outside the
	// supported range.
	ErrRange = fault.New(fault.Usage, "out of range")
	// ErrOverflow reports that a count does not fit 64 bits.
	ErrOverflow = fault.New(fault.Usage, "does not fit 64 bits")
)

// Binomial returns the coefficient "n choose k", 0 when k > n. It fails with
// ErrRange for negative arguments and with ErrOverflow when the value, or an
// intermediate product of the multiplicative formula, leaves 64 bits.
func Binomial(n, k int) (uint64, error) {
	if n < 0 || k < 0 {
		return 0, fmt.Errorf("%w: binomial of n=%d, k=%d", ErrRange, n, k)
	}
	if k > n {
		return 0, nil
	}
	k = min(k, n-k)
	b := uint64(1)
	for i := 1; i <= k; i++ {
		hi, lo := bits.Mul64(b, uint64(n-k+i))
		if hi >= uint64(i) {
			return 0, fmt.Errorf("%w: binomial of n=%d, k=%d", ErrOverflow, n, k)
		}
		b, _ = bits.Div64(hi, lo, uint64(i))
	}
	return b, nil
}

// MustBinomial is Binomial where the caller knows that it cannot fail. It panics if it does.
func MustBinomial(n, k int) uint64 {
	b, err := Binomial(n, k)
	if err != nil {
		panic(err)
	}
	return b
}

// Ranking numbers the boards of a fixed number of pits with up to a fixed
// number of seeds. It is immutable and safe for concurrent use.
type Ranking struct {
	pits, seeds int
	// binom[i][c] is "c choose i+1", for c from 0 to pits+seeds.
	binom [][]uint64
}

// New returns the ranking of boards of 1 to MaxPits pits with at most seeds
// seeds, 0 to MaxSeeds. It fails with ErrRange outside these limits and with
// ErrOverflow when the codes do not fit 64 bits.
func New(pits, seeds int) (*Ranking, error) {
	if pits < 1 || pits > MaxPits {
		return nil, fmt.Errorf("%w: %d pits (1 to %d are supported)", ErrRange, pits, MaxPits)
	}
	if seeds < 0 || seeds > MaxSeeds {
		return nil, fmt.Errorf("%w: %d seeds (0 to %d are supported)", ErrRange, seeds, MaxSeeds)
	}
	r := &Ranking{pits: pits, seeds: seeds, binom: make([][]uint64, pits)}
	for i := range r.binom {
		r.binom[i] = make([]uint64, pits+seeds+1)
		for c := range r.binom[i] {
			b, err := Binomial(c, i+1)
			if err != nil {
				return nil, fmt.Errorf("ranking %d pits, %d seeds: %w", pits, seeds, err)
			}
			r.binom[i][c] = b
		}
	}
	return r, nil
}

// MaxSeeds returns the largest number of seeds that the ranking covers.
func (r *Ranking) MaxSeeds() int { return r.seeds }

// Size returns the number of boards with exactly n seeds,
// binom(P+n-1, P-1).
func (r *Ranking) Size(n int) uint64 { return r.First(n+1) - r.First(n) }

// First returns the code of the first board with n seeds, binom(P+n-1, P): the
// number of boards with fewer seeds. n may be one more than MaxSeeds.
func (r *Ranking) First(n int) uint64 {
	if n == 0 {
		return 0
	}
	return r.binom[r.pits-1][r.pits+n-1]
}

// Code returns the code of board among boards of any number of seeds. The
// board must have Pits entries whose sum is at most MaxSeeds.
func (r *Ranking) Code(board []uint8) uint64 {
	code, c := uint64(0), 0
	for i, x := range board[:r.pits] {
		c += int(x)
		code += r.binom[i][c+i]
	}
	return code
}

// Rank returns the index of board among the boards with as many seeds.
func (r *Ranking) Rank(board []uint8) uint64 {
	rank, c := uint64(0), 0
	last := r.pits - 1
	for i, x := range board[:last] {
		c += int(x)
		rank += r.binom[i][c+i]
	}
	// The last term differs from the layer's first code by Pascal's rule
	// only when the seeds do; within a layer both are binom(P+n-1, P).
	return rank
}

// Unrank writes to board the board of n seeds with the given rank. It fails
// with ErrRange when there is none.
func (r *Ranking) Unrank(n int, rank uint64, board []uint8) error {
	if n < 0 || n > r.seeds {
		return fmt.Errorf("%w: %d seeds (0 to %d are supported)", ErrRange, n, r.seeds)
	}
	if rank >= r.Size(n) {
		return fmt.Errorf("%w: rank %d of %d boards with %d seeds", ErrRange, rank, r.Size(n), n)
	}
	above := n + r.pits - 1 // c[i+1]
	for i := r.pits - 2; i >= 0; i-- {
		c := largest(r.binom[i], rank, above-1)
		rank -= r.binom[i][c]
		board[i+1] = uint8(above - c - 1)
		above = c
	}
	board[0] = uint8(above)
	return nil
}

// Decode writes to board the board with the given code and returns its number
// of seeds. It fails with ErrRange when there is none.
func (r *Ranking) Decode(code uint64, board []uint8) (seeds int, err error) {
	if code >= r.First(r.seeds+1) {
		return 0, fmt.Errorf("%w: code %d (%d boards have up to %d seeds)",
			ErrRange, code, r.First(r.seeds+1), r.seeds)
	}
	for code >= r.First(seeds+1) {
		seeds++
	}
	return seeds, r.Unrank(seeds, code-r.First(seeds), board)
}

// largest returns the largest c <= top with column[c] <= rank. Columns do not
// decrease and start at 0.
func largest(column []uint64, rank uint64, top int) int {
	lo, hi := 0, top
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if column[mid] <= rank {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}
