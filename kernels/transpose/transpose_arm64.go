//go:build !purego

package transpose

import (
	"math/bits"

	"grenier/kernels/cpu"
)

// For returns the kernel of the family f, which must be supported, for scores of 8 bits
// or codes of 2, 3, 4 or 6. It panics at other bits.
func For(f cpu.Family, bits int) UpdateFunc {
	if bits != 8 {
		return packedOf(bits).kernel(f)
	}
	if f == cpu.NEON {
		return updateNEON
	}
	return updateGeneric
}

// few is the number of columns up to which they are taken one by one, without turning the
// block: they then take fewer instructions, 11 for each score, than turning all columns, 1,680,
// and its lines, 35 each or 43 if they change. It is not measured.
const few = 6

func updateNEON(lines []int8, block *Block, columns, rows uint64, changes *Changes) {
	rows &= present(lines, Side)
	switch {
	case rows == 0 || columns == 0:
		changes.Rows = 0
	case bits.OnesCount64(columns) <= few:
		changes.columnwise(lines, block, columns, rows)
	default:
		turnNEON(&changes.turned, block, rows)
		mask := byteMask(columns)
		changes.Rows = replaceNEON(&lines[0], rows, &changes.turned, &mask, &changes.Columns)
	}
}

// turnNEON transposes the given rows of a block, and some near them.
//
//go:noescape
func turnNEON(dst, src *Block, rows uint64)

// replaceNEON is Changes.replace, for at least one row; it returns Rows. columns has
// a byte of ones for each.
//
//go:noescape
func replaceNEON(lines *int8, rows uint64, block *Block, columns *[Side]int8, changed *[Side]uint64) uint64
