// Package boards iterates over, ranks and unranks the boards of a layer many at a time: the
// functions next_bv and bv2list, encode and decode of document 000 for arrays. Package
// colex defines them one by one and says what ranks and bit vectors are.
//
// Boards stand one behind the other, a byte a pit. A Layer belongs to a number of pits
// and seeds whose bit vectors, of pits+seeds bits with the implicit top one, fit a word.
//
// The twins, of which the generic code is the definition:
//
//	Iterate  BMI2: the next bit vector by BLSI, TZCNT and SHRX, a pit by TZCNT and SHRX;
//	         AVX-512: VPCOMPRESSB takes the numbers of all ones out of 0, 1, ..., 63, and
//	         pits are their differences
//	Rank     BMI2: plain instructions without checks of bounds; eight boards at a time
//	         with AVX-512 took hardly less
//	Unrank   AVX-512, eight ranks at a time: of the binomials of a pit the block of eight is
//	         found by seven comparisons, the place in it by seven more after VPERMQ
//
// To iterate is what the document calls more efficient than to unrank one code after the
// other: docs/boards.md has the figures.
package boards

import (
	"fmt"

	"grenier/kernels/colex"
	"grenier/kernels/cpu"
)

// maxBits is the length of the longest bit vector, the implicit top bit included.
const maxBits = 64

// Layer iterates over, ranks and unranks the boards with a number of pits and seeds. It is
// immutable and safe for concurrent use.
type Layer struct {
	pits, seeds int
	size        uint64
	// binomials[i][c] is "c choose i+1"; strided[i][j][b] is binomials[i][8*b+j].
	binomials [colex.MaxPits][maxBits]uint64
	strided   [colex.MaxPits][8][8]uint64
	ops       operations
}

// operations are the kernels of a family. They get valid input.
type operations struct {
	iterate func(l *Layer, boards []uint8, x uint64) uint64
	rank    func(l *Layer, ranks []uint64, boards []uint8)
	unrank  func(l *Layer, boards []uint8, ranks []uint64)
}

// For returns the layer of boards with pits pits, 1 to colex.MaxPits, and seeds seeds with
// the kernels of family f, which must be supported. It fails with colex.ErrRange, and with
// colex.ErrOverflow when pits+seeds is more than 64.
func For(f cpu.Family, pits, seeds int) (*Layer, error) {
	ranking, err := colex.New(pits, seeds)
	if err != nil {
		return nil, err
	}
	if pits+seeds > maxBits {
		return nil, fmt.Errorf("%w: the bit vectors of %d pits with %d seeds", colex.ErrOverflow, pits, seeds)
	}
	l := &Layer{pits: pits, seeds: seeds, size: ranking.Size(seeds), ops: of(f)}
	for i := range pits {
		for c := range maxBits {
			b, err := colex.Binomial(c, i+1)
			if err != nil {
				return nil, err
			}
			l.binomials[i][c] = b
			l.strided[i][c%8][c/8] = b
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
	return l.ops.iterate(l, boards[:len(boards)/l.pits*l.pits], x)
}

// Rank writes the ranks of boards, which are boards of the layer, to ranks, which has as
// many entries.
func (l *Layer) Rank(ranks []uint64, boards []uint8) {
	l.ops.rank(l, ranks, boards[:len(ranks)*l.pits])
}

// Unrank writes the boards with the given ranks to boards, which has room for them. It
// fails with colex.ErrRange when there is no such board, and writes nothing then.
func (l *Layer) Unrank(boards []uint8, ranks []uint64) error {
	for _, r := range ranks {
		if r >= l.size {
			return fmt.Errorf("%w: rank %d of %d boards with %d seeds", colex.ErrRange, r, l.size, l.seeds)
		}
	}
	l.ops.unrank(l, boards[:len(ranks)*l.pits], ranks)
	return nil
}

var generic = operations{iterate: iterate, rank: rank, unrank: unrank}

func iterate(l *Layer, boards []uint8, x uint64) uint64 {
	for ; len(boards) > 0; boards = boards[l.pits:] {
		colex.BVToList(x, l.seeds, boards[:l.pits])
		x = colex.NextBV(x)
	}
	return x
}

func rank(l *Layer, ranks []uint64, boards []uint8) {
	last := l.pits - 1
	for k := range ranks {
		sum, c := uint64(0), 0
		for i, x := range boards[k*l.pits:][:last] {
			c += int(x)
			sum += l.binomials[i][(c+i)%maxBits]
		}
		ranks[k] = sum
	}
}

func unrank(l *Layer, boards []uint8, ranks []uint64) {
	for k, rank := range ranks {
		board := boards[k*l.pits:][:l.pits]
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
}
