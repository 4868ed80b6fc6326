// Package boards iterates over and unranks the boards of a layer many at a time: the functions
// next_bv and bv2list, and decode of document 000, for arrays. Package colex defines them one
// by one and explains ranks and bit vectors.
//
// Boards stand one behind the other, a byte a pit. A Layer belongs to a number of pits
// and seeds whose bit vectors, of pits+seeds bits with the implicit top one, fit a word.
//
// The document calls iterating more efficient than unranking one code after the other:
// docs/boards.md has the figures.
package boards

import (
	"fmt"

	"grenier/kernels/colex"
)

// maxBits is the length of the longest bit vector, the implicit top bit included.
const maxBits = 64

// Layer iterates over and unranks the boards with a number of pits and seeds. It is
// immutable and safe for concurrent use.
type Layer struct {
	pits, seeds int
	size        uint64
	binomials   [colex.MaxPits][maxBits]uint64 // [i][c] is "c choose i+1"
}

// New returns the layer of boards with pits pits, 1 to colex.MaxPits, and seeds seeds. It
// fails with colex.ErrRange, and with colex.ErrOverflow when pits+seeds is more than 64.
func New(pits, seeds int) (*Layer, error) {
	ranking, err := colex.New(pits, seeds)
	if err != nil {
		return nil, err
	}
	if pits+seeds > maxBits {
		return nil, fmt.Errorf("%w: the bit vectors of %d pits with %d seeds", colex.ErrOverflow, pits, seeds)
	}
	l := &Layer{pits: pits, seeds: seeds, size: ranking.Size(seeds)}
	for i := range pits {
		for c := range maxBits {
			if l.binomials[i][c], err = colex.Binomial(c, i+1); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}

// Size returns the number of boards.
func (l *Layer) Size() uint64 { return l.size }

// First returns the bit vector of the board with rank 0.
func (l *Layer) First() uint64 { return 1<<(l.pits-1) - 1 }

// Iterate writes the board with the bit vector x and those that follow it in the order of
// ranks to boards, as many as it has room for, and returns the bit vector of the one that
// follows them. The layer must have as many.
func (l *Layer) Iterate(boards []uint8, x uint64) uint64 {
	if l.pits == 1 { // one board, without a one
		for i := range boards {
			boards[i] = uint8(l.seeds)
		}
		return x
	}
	for ; len(boards) >= l.pits; boards = boards[l.pits:] {
		colex.BVToList(x, l.seeds, boards[:l.pits])
		x = colex.NextBV(x)
	}
	return x
}

// Unrank writes the boards with the given ranks to boards, which has room for them. It
// fails with colex.ErrRange when there is no such board, and writes nothing then.
func (l *Layer) Unrank(boards []uint8, ranks []uint64) error {
	for _, r := range ranks {
		if r >= l.size {
			return fmt.Errorf("%w: rank %d of %d boards with %d seeds", colex.ErrRange, r, l.size, l.seeds)
		}
	}
	for k, rank := range ranks {
		l.unrank(boards[k*l.pits:][:l.pits], rank)
	}
	return nil
}

// unrank writes the board with a rank.
func (l *Layer) unrank(board []uint8, rank uint64) {
	above := l.seeds + l.pits - 1
	for i := l.pits - 2; i >= 0; i-- {
		c := above - 1
		for l.binomials[i][c] > rank {
			c--
		}
		rank -= l.binomials[i][c]
		board[i+1] = uint8(above - c - 1)
		above = c
	}
	board[0] = uint8(above)
}
