// Package transpose brings computed columns of scores into place.
//
// The scores of one player are the other's negated, and the half that one player
// holds fixed while the other moves changes with every ply. A solver computes a
// block with one half along the columns and needs its negative with that half along
// the lines, and it wants to know the changes. All in one pass costs little
// more than the transposition.
//
// Lines hold scores, one byte each, or the codes of package window, 2, 3, 4 or 6 bits each, or are a
// thin block of that package.
//
// TestExample shows a small update with all its numbers. The generic code defines the
// result; the twins for amd64 and arm64 give the same one.
package transpose

import (
	"math/bits"

	"grenier/kernels/internal/shared"
	"grenier/kernels/internal/swar"
)

// Side is the number of rows and columns of a block, and of scores in a line.
const Side = shared.Side

// Block holds a block column by column: row r of column c is at c*Side+r.
type Block = [Side * Side]int8

// UpdateFunc puts the negated scores of the given rows and columns of a block
// into lines, which holds the same block row by row: score c of line r is at
// r*Side+c. Rows beyond the end of lines are left out. It sets changes to the
// changes by that.
//
// Lines of packed codes hold codes as package window lays them out, one line after the
// other, and a block holds the least code of the quiet moves, or window.None: each code
// becomes the result of window.Codes.Next for the two.
//
// lines starts at a multiple of the bytes of a line. Others may read it meanwhile: they
// see the old or the new score, or code, of each place; of 3 or 6 bits, a code as package window says.
type UpdateFunc func(lines []int8, block *Block, columns, rows uint64, changes *Changes)

// Changes says which scores or codes of a block an update changed.
type Changes struct {
	Rows    uint64       // a bit for each line with a change
	Columns [Side]uint64 // by line: a bit for each column that did; only lines of Rows are set
	turned  Block        // scratch: the block row by row
}

func updateGeneric(lines []int8, block *Block, columns, rows uint64, changes *Changes) {
	changes.turn(block)
	changes.replace(lines, columns, rows&present(lines, Side))
}

// turn transposes a block.
func (c *Changes) turn(block *Block) {
	for i := 0; i < Side; i += tile {
		for r := 0; r < Side; r += tile {
			turn((*[tileEnd]int8)(c.turned[r*Side+i:]), (*[tileEnd]int8)(block[i*Side+r:]))
		}
	}
}

// present returns a bit for each row of a block that lines of the given bytes each have.
func present(lines []int8, line int) uint64 {
	if len(lines) >= Side*line {
		return ^uint64(0)
	}
	return 1<<(len(lines)/line) - 1
}

// replace puts the given columns of the turned block, negated, into lines.
func (c *Changes) replace(lines []int8, columns, rows uint64) {
	c.Rows = 0
	for ; rows != 0; rows &= rows - 1 {
		r := bits.TrailingZeros64(rows)
		var line shared.Line
		line.Load(lines[r*Side:])
		c.Columns[r] = replaceLine(line.Scores(), (*[Side]int8)(c.turned[r*Side:]), columns)
		if c.Columns[r] != 0 {
			c.Rows |= 1 << r
			line.Store(lines[r*Side:])
		}
	}
}

// replaceLine puts the given columns of a row, negated, into line and returns those that
// changed.
func replaceLine(line, row *[Side]int8, columns uint64) (changed uint64) {
	for c := 0; c < Side; c += tile {
		old, x := swar.Load(line[c:]), swar.Neg(swar.Load(row[c:]))
		if old != x {
			flips, differ := differences(old, x, columns>>c)
			swar.Store(line[c:], old^flips)
			changed |= differ << c
		}
	}
	return changed
}

// differences returns the bits and the bytes in which x and y differ, among the eight
// given bytes.
func differences(x, y, among uint64) (flips, differ uint64) {
	flips = (x ^ y) & swar.Spread(among)
	return flips, swar.Gather(swar.NonZero(flips))
}

// tile is the side of the squares that the generic code works on: one uint64
// holds one row.
const tile = 8

// tileEnd is the length of the span of a tile in its block, from its first score to its last.
const tileEnd = (tile-1)*Side + tile

// turn transposes a tile: 2x2, 4x4 and 8x8 squares swap their
// off-diagonal quarters.
func turn(dst, src *[tileEnd]int8) {
	a0, a1 := swap(swar.Load(src[:]), swar.Load(src[Side:]), 8, 0x00ff00ff00ff00ff)
	a2, a3 := swap(swar.Load(src[2*Side:]), swar.Load(src[3*Side:]), 8, 0x00ff00ff00ff00ff)
	a4, a5 := swap(swar.Load(src[4*Side:]), swar.Load(src[5*Side:]), 8, 0x00ff00ff00ff00ff)
	a6, a7 := swap(swar.Load(src[6*Side:]), swar.Load(src[7*Side:]), 8, 0x00ff00ff00ff00ff)

	b0, b2 := swap(a0, a2, 16, 0x0000ffff0000ffff)
	b1, b3 := swap(a1, a3, 16, 0x0000ffff0000ffff)
	b4, b6 := swap(a4, a6, 16, 0x0000ffff0000ffff)
	b5, b7 := swap(a5, a7, 16, 0x0000ffff0000ffff)

	c0, c4 := swap(b0, b4, 32, 0x00000000ffffffff)
	c1, c5 := swap(b1, b5, 32, 0x00000000ffffffff)
	c2, c6 := swap(b2, b6, 32, 0x00000000ffffffff)
	c3, c7 := swap(b3, b7, 32, 0x00000000ffffffff)

	for i, x := range [tile]uint64{c0, c1, c2, c3, c4, c5, c6, c7} {
		swar.Store(dst[i*Side:], x)
	}
}

// swap exchanges the upper parts of the fields of x, n bits wide and selected
// by low when shifted down, with the lower parts of the fields of y.
func swap(x, y uint64, n uint, low uint64) (uint64, uint64) {
	t := (x>>n ^ y) & low
	return x ^ t<<n, y ^ t
}
