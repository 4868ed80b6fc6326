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
	switch f {
	case cpu.AVX512:
		return updateAVX512
	case cpu.BMI2:
		return updateAVX2
	}
	return updateGeneric
}

func updateAVX512(lines []int8, block *Block, columns, rows uint64, changes *Changes) {
	rows &= present(lines, Side)
	switch {
	case rows == 0 || columns == 0:
		changes.Rows = 0
	case bits.OnesCount64(columns) <= few:
		changes.columnwise(lines, block, columns, rows)
	default:
		changes.Rows = updateLines(&lines[0], block, columns, rows, &changes.Columns)
	}
}

func updateAVX2(lines []int8, block *Block, columns, rows uint64, changes *Changes) {
	rows &= present(lines, Side)
	switch {
	case rows == 0 || columns == 0:
		changes.Rows = 0
	case bits.OnesCount64(columns) <= few:
		changes.columnwise(lines, block, columns, rows)
	default:
		turnAVX2(&changes.turned, block)
		mask := byteMask(columns)
		changes.Rows = replaceAVX2(&lines[0], rows, &changes.turned, &mask, &changes.Columns)
	}
}

// few is the number of columns up to which it is faster to take them one by one,
// without turning the block.
const few = 3

// updateLines is the update by AVX-512; it returns Rows.
//
//go:noescape
func updateLines(lines *int8, block *Block, columns, rows uint64, changed *[Side]uint64) uint64

// turnAVX2 transposes a block.
//
//go:noescape
func turnAVX2(dst, src *Block)

// replaceAVX2 is Changes.replace, for at least one row; it returns Rows. columns has
// a byte of ones for each.
//
//go:noescape
func replaceAVX2(lines *int8, rows uint64, block *Block, columns *[Side]int8, changed *[Side]uint64) uint64
