//go:build !purego

package transpose

import "grenier/kernels/cpu"

// For returns the kernel of the family f, which must be supported.
func For(f cpu.Family) UpdateFunc {
	switch f {
	case cpu.AVX512:
		return updateAVX512
	case cpu.BMI2:
		return updateAVX2
	}
	return updateGeneric
}

func updateAVX512(lines []int8, block *Block, columns, rows uint64, changes *Changes) {
	changes.Rows = 0
	if rows &= present(lines); rows != 0 {
		turnAVX512(&changes.turned, block)
		changes.Rows = replaceAVX512(&lines[0], rows, &changes.turned, columns, &changes.Columns)
	}
}

func updateAVX2(lines []int8, block *Block, columns, rows uint64, changes *Changes) {
	changes.Rows = 0
	if rows &= present(lines); rows != 0 {
		turnAVX2(&changes.turned, block)
		var mask [Side]int8
		for c := range mask {
			mask[c] = -int8(columns >> c & 1)
		}
		changes.Rows = replaceAVX2(&lines[0], rows, &changes.turned, &mask, &changes.Columns)
	}
}

// turnAVX512 negates and transposes a block.
//
//go:noescape
func turnAVX512(dst, src *Block)

// turnAVX2 does the same.
//
//go:noescape
func turnAVX2(dst, src *Block)

// replaceAVX512 is Changes.replace for at least one row; it returns Rows.
//
//go:noescape
func replaceAVX512(lines *int8, rows uint64, block *Block, columns uint64, changed *[Side]uint64) uint64

// replaceAVX2 does the same; columns has a byte of ones for each.
//
//go:noescape
func replaceAVX2(lines *int8, rows uint64, block *Block, columns *[Side]int8, changed *[Side]uint64) uint64
