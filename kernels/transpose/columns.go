//go:build (amd64 || arm64) && !purego

package transpose

import (
	"math/bits"

	"grenier/kernels/internal/shared"
)

// byteMask returns a byte of ones for each bit of columns that is set.
func byteMask(columns uint64) (mask [Side]int8) {
	for c := range mask {
		mask[c] = -int8(columns >> c & 1)
	}
	return mask
}

// columnwise is the update, for at least one row.
func (c *Changes) columnwise(lines []int8, block *Block, columns, rows uint64) {
	c.Rows = 0
	for ; columns != 0; columns &= columns - 1 {
		i := bits.TrailingZeros64(columns)
		c.addColumn(i, updateColumn(&lines[i], &block[i*Side], rows))
	}
}

// addColumn adds the rows of column i that changed.
func (c *Changes) addColumn(i int, changed uint64) {
	for left := changed &^ c.Rows; left != 0; left &= left - 1 {
		c.Columns[bits.TrailingZeros64(left)] = 0
	}
	for left := changed; left != 0; left &= left - 1 {
		c.Columns[bits.TrailingZeros64(left)] |= 1 << i
	}
	c.Rows |= changed
}

// updateColumn puts the negated scores of at least one row of a column into
// lines, which starts at the column's score of line 0, and returns the rows that
// changed.
//
//go:noescape
func updateColumn(lines, column *int8, rows uint64) uint64

// sparse reports whether it is faster to take columns one by one than to turn the block.
// Each column takes as long as four codes.
func sparse(columns, rows uint64, turning int) bool {
	n := bits.OnesCount64(rows)
	return bits.OnesCount64(columns)*(n+4) <= turning+turnedLine*n
}

// columnwise is the update, for at least one row.
func (p *packed) columnwise(lines []int8, block *Block, columns, rows uint64, changes *Changes) {
	changes.Rows = 0
	for ; columns != 0; columns &= columns - 1 {
		i := bits.TrailingZeros64(columns)
		changes.addColumn(i, p.updateColumn(lines, i, &block[i*Side], rows))
	}
}

func (p *packed) updateColumn(lines []int8, i int, column *int8, rows uint64) uint64 {
	switch p.bits {
	case 3:
		return updateCodes3(&lines[i%16], &lines[16+i/8], i/16*2, i%8, column, rows, nextThree)
	case 6:
		return updateCodes6(&lines[i%32], &lines[32+i%16], i/32*4, i/16*2, column, rows, &p.next)
	}
	return updateCodes(&lines[i%p.line], p.line, i/p.line*p.bits, p.bits, column, rows, &p.next)
}

// updateCodes updates at least one row of a column of codes: those at a shift in every
// line-th byte from lines on. It returns the rows that changed.
//
//go:noescape
func updateCodes(lines *int8, line, shift, bits int, column *int8, rows uint64, next *[4096]uint8) uint64

// updateCodes6 is updateCodes for codes of 6 bits, whose two parts each have a place of their own.
//
//go:noescape
func updateCodes6(first, second *int8, firstShift, secondShift int, column *int8, rows uint64, next *[4096]uint8) uint64

// updateCodes3 is updateCodes6 for codes of 3 bits. next takes and gives a code as lines store it:
// the bits of the first part, and above them the bit of the second.
//
//go:noescape
func updateCodes3(first, second *int8, firstShift, secondShift int, column *int8, rows uint64, next *[4096]uint8) uint64

// nextThree is the next of updateCodes3.
var nextThree = func() *[4096]uint8 {
	codes, parts, _ := shared.Threes()
	stored := func(code uint8) uint8 { return parts[code]&3 | parts[code]>>7<<2 }
	next := &[4096]uint8{}
	for i := range next {
		next[i] = stored(three.next[i&^63|int(codes[i%8])])
	}
	return next
}()
