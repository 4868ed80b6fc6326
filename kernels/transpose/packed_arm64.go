//go:build !purego

package transpose

import (
	"grenier/kernels/cpu"
	"grenier/kernels/window"
)

// kernel returns the kernel of the family f.
func (p *packed) kernel(f cpu.Family) UpdateFunc {
	if f == cpu.NEON {
		return map[int]*vectors{2: vectors2, 3: vectors3, 4: vectors4, 6: vectors6}[p.bits].updateNEON
	}
	return p.updateGeneric
}

// vectors are the operands of vector kernels.
type vectors struct {
	heights
	*packed
}

var (
	vectors2 = &vectors{newHeights(window.Two), two}
	vectors3 = &vectors{newHeights(window.Three), three}
	vectors4 = &vectors{newHeights(window.Four), four}
	vectors6 = &vectors{newHeights(window.Six), six}
)

// The times to turn a block and to update a line of it, in units of the time of one code when
// columns are updated one by one: by the number of instructions, 1,680, 70 to 93 and 14 to 18,
// not measured.
const (
	turningNEON = 120
	turnedLine  = 5
)

func (v *vectors) updateNEON(lines []int8, block *Block, columns, rows uint64, changes *Changes) {
	rows &= present(lines, v.line)
	switch {
	case rows == 0 || columns == 0:
		changes.Rows = 0
	case sparse(columns, rows, turningNEON):
		v.columnwise(lines, block, columns, rows, changes)
	default:
		turnNEON(&changes.turned, block, rows)
		mask := byteMask(columns)
		changes.Rows = v.replace(&lines[0], rows, &changes.turned, &mask, &changes.Columns)
	}
}

func (v *vectors) replace(lines *int8, rows uint64, block *Block, columns *[Side]int8, changed *[Side]uint64) uint64 {
	switch v.bits {
	case 2:
		return replace2NEON(lines, rows, block, columns, &v.heights, changed)
	case 3:
		return replace3NEON(lines, rows, block, columns, &v.heights, changed)
	case 4:
		return replace4NEON(lines, rows, block, columns, &v.heights, changed)
	}
	return replace6NEON(lines, rows, block, columns, &v.heights, changed)
}

// replace4NEON updates at least one line of codes of 4 bits by a block of least codes, row by
// row; it returns Rows. columns has a byte of ones for each.
//
//go:noescape
func replace4NEON(lines *int8, rows uint64, block *Block, columns *[Side]int8, h *heights, changed *[Side]uint64) uint64

// replace2NEON is replace4NEON for codes of 2 bits.
//
//go:noescape
func replace2NEON(lines *int8, rows uint64, block *Block, columns *[Side]int8, h *heights, changed *[Side]uint64) uint64

// replace3NEON is replace4NEON for codes of 3 bits.
//
//go:noescape
func replace3NEON(lines *int8, rows uint64, block *Block, columns *[Side]int8, h *heights, changed *[Side]uint64) uint64

// replace6NEON is replace4NEON for codes of 6 bits.
//
//go:noescape
func replace6NEON(lines *int8, rows uint64, block *Block, columns *[Side]int8, h *heights, changed *[Side]uint64) uint64
