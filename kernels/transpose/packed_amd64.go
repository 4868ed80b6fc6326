//go:build !purego

package transpose

import (
	"grenier/kernels/cpu"
	"grenier/kernels/internal/shared"
	"grenier/kernels/window"
)

// kernel returns the kernel of the family f.
func (p *packed) kernel(f cpu.Family) UpdateFunc {
	v := map[int]*vectors{2: vectors2, 3: vectors3, 4: vectors4, 6: vectors6}[p.bits]
	switch f {
	case cpu.AVX512:
		return v.updateAVX512
	case cpu.BMI2:
		return v.updateAVX2
	}
	return p.updateGeneric
}

// vectors are the operands of vector kernels.
type vectors struct {
	heights
	mask  [16]uint8 // the bits of a code, or of its first part
	shift [8]uint64 // for each eight codes: where those are in the bytes of a line
	high  [8]uint64 // of 6 bits: the same for the high bits, by rotation to bits 4 and 5
	up    [4]uint64 // the same for the first four by a shift to the left
	down  [4]uint64 // and for the last four by one to the right
	steps [3]table  // negated, floor and first, each 16 bytes XOR the 16 before
	// Of 3 bits: the tables of shared.Threes, and for the first 32 codes the byte of the second part, and
	// the bit in it.
	threes, parts, places [Side]uint8
	byteOf, bitOf         [32]uint8
	*packed
}

var (
	vectors2 = newVectors(window.Two, two)
	vectors3 = newVectors(window.Three, three)
	vectors4 = newVectors(window.Four, four)
	vectors6 = newVectors(window.Six, six)
)

func newVectors(c *window.Codes, p *packed) *vectors {
	v := &vectors{heights: newHeights(c), packed: p}
	v.threes, v.parts, v.places = shared.Threes()
	for i := range v.byteOf {
		v.byteOf[i], v.bitOf[i] = uint8(i/8), 1<<(i%8)
	}
	low := min(p.bits, 4) &^ 1 // bits of the first part
	for i := range v.mask {
		v.mask[i] = 1<<low - 1
	}
	for i := range v.shift {
		v.shift[i] = uint64(i / low * low)
		v.high[i] = uint64(i/2*2-4) % 64
	}
	for i := range v.up {
		v.up[i], v.down[i] = uint64(4-i/2*2), uint64(i/2*2)
	}
	for k, t := range []*table{&v.negated, &v.floor, &v.first} {
		for i := range t {
			v.steps[k][i] = t[i]
			if i >= 16 {
				v.steps[k][i] ^= t[i-16]
			}
		}
	}
	return v
}

func (v *vectors) updateAVX512(lines []int8, block *Block, columns, rows uint64, changes *Changes) {
	rows &= present(lines, v.line)
	switch {
	case rows == 0 || columns == 0:
		changes.Rows = 0
	case sparse(columns, rows, turningAVX512):
		v.columnwise(lines, block, columns, rows, changes)
	default:
		turnAVX512(&changes.turned, block, rows)
		changes.Rows = v.replaceAVX512(&lines[0], rows, &changes.turned, columns, &changes.Columns)
	}
}

func (v *vectors) replaceAVX512(lines *int8, rows uint64, block *Block, columns uint64, changed *[Side]uint64) uint64 {
	switch v.bits {
	case 2:
		return replace2AVX512(lines, rows, block, columns, v, changed)
	case 3:
		return replace3AVX512(lines, rows, block, columns, v, changed)
	case 4:
		return replace4AVX512(lines, rows, block, columns, v, changed)
	}
	return replace6AVX512(lines, rows, block, columns, v, changed)
}

func (v *vectors) updateAVX2(lines []int8, block *Block, columns, rows uint64, changes *Changes) {
	rows &= present(lines, v.line)
	switch {
	case rows == 0 || columns == 0:
		changes.Rows = 0
	case sparse(columns, rows, turningAVX2):
		v.columnwise(lines, block, columns, rows, changes)
	default:
		turnAVX2(&changes.turned, block)
		mask := byteMask(columns)
		changes.Rows = v.replaceAVX2(&lines[0], rows, &changes.turned, &mask, &changes.Columns)
	}
}

func (v *vectors) replaceAVX2(lines *int8, rows uint64, block *Block, columns *[Side]int8, changed *[Side]uint64) uint64 {
	switch v.bits {
	case 2:
		return replace2AVX2(lines, rows, block, columns, v, changed)
	case 3:
		return replace3AVX2(lines, rows, block, columns, v, changed)
	case 4:
		return replace4AVX2(lines, rows, block, columns, v, changed)
	}
	return replace6AVX2(lines, rows, block, columns, v, changed)
}

// The times to turn a block and to update a line of it, in units of the time of one code when
// columns are updated one by one.
const (
	turningAVX512 = 24
	turningAVX2   = 160
	turnedLine    = 2
)

// turnAVX512 transposes the given rows of a block, and some near them.
//
//go:noescape
func turnAVX512(dst, src *Block, rows uint64)

// replace4AVX512 updates at least one line of codes of 4 bits by a block of least codes,
// row by row; it returns Rows.
//
//go:noescape
func replace4AVX512(lines *int8, rows uint64, block *Block, columns uint64, v *vectors, changed *[Side]uint64) uint64

// replace2AVX512 is replace4AVX512 for codes of 2 bits.
//
//go:noescape
func replace2AVX512(lines *int8, rows uint64, block *Block, columns uint64, v *vectors, changed *[Side]uint64) uint64

// replace3AVX512 is replace4AVX512 for codes of 3 bits.
//
//go:noescape
func replace3AVX512(lines *int8, rows uint64, block *Block, columns uint64, v *vectors, changed *[Side]uint64) uint64

// replace6AVX512 is replace4AVX512 for codes of 6 bits.
//
//go:noescape
func replace6AVX512(lines *int8, rows uint64, block *Block, columns uint64, v *vectors, changed *[Side]uint64) uint64

// replace4AVX2 is replace4AVX512 by AVX2. columns has a byte of ones for each.
//
//go:noescape
func replace4AVX2(lines *int8, rows uint64, block *Block, columns *[Side]int8, v *vectors, changed *[Side]uint64) uint64

// replace2AVX2 is replace4AVX2 for codes of 2 bits.
//
//go:noescape
func replace2AVX2(lines *int8, rows uint64, block *Block, columns *[Side]int8, v *vectors, changed *[Side]uint64) uint64

// replace3AVX2 is replace4AVX2 for codes of 3 bits.
//
//go:noescape
func replace3AVX2(lines *int8, rows uint64, block *Block, columns *[Side]int8, v *vectors, changed *[Side]uint64) uint64

// replace6AVX2 is replace4AVX2 for codes of 6 bits.
//
//go:noescape
func replace6AVX2(lines *int8, rows uint64, block *Block, columns *[Side]int8, v *vectors, changed *[Side]uint64) uint64
