// Package transpose turns blocks of scores over.
//
// The scores of one player are those of the other negated, and what one player
// holds fixed while the other moves changes with every ply. A solver that
// computes a block with one half along the rows therefore needs its negative
// with that half along the columns. Both in one pass cost no more than either.
//
// The generic code defines the result; the twins for amd64 give the same one.
package transpose

import (
	"fmt"

	"grenier/kernels/internal/swar"
)

// Func writes the negated transpose of a block of rows x cols scores:
//
//	dst[c*dstStride+r] = -src[r*srcStride+c]   for r < rows, c < cols
//
// The strides are the distances, in scores, from one row of src to the next and
// from one column's place in dst to the next. -128 stays -128. Nothing else of
// dst is touched, and dst and src must not overlap. An empty block is allowed.
//
// Any stride is right, but multiples of 1024 are half as fast, of 4096 several
// times slower: they bring all rows to the same few lines of the nearest cache.
// Odd multiples of 64 are best.
//
// It panics if a stride is too short, so that rows would overlap, or if the
// block does not fit in src or dst.
type Func func(dst []int8, dstStride int, src []int8, srcStride, rows, cols int)

// tile is the side of the squares that the generic code works on: one uint64
// holds one row.
const tile = 8

func negateGeneric(dst []int8, dstStride int, src []int8, srcStride, rows, cols int) {
	check(dst, dstStride, src, srcStride, rows, cols)
	if rows < tile || cols < tile {
		negateSmall(dst, dstStride, src, srcStride, rows, cols)
		return
	}
	// The last squares reach back over scores already written, which then get
	// the same values again.
	for c := 0; c < cols; c += tile {
		c := min(c, cols-tile)
		for r := 0; r < rows; r += tile {
			r := min(r, rows-tile)
			negateTile(dst[c*dstStride+r:], dstStride, src[r*srcStride+c:], srcStride)
		}
	}
}

// negateSmall goes score by score: for blocks narrower than a square.
func negateSmall(dst []int8, dstStride int, src []int8, srcStride, rows, cols int) {
	for c := range cols {
		for r := range rows {
			dst[c*dstStride+r] = -src[r*srcStride+c]
		}
	}
}

// negateTile does a square of 8 x 8 scores: 2x2, 4x4 and 8x8 squares swap their
// off-diagonal quarters.
func negateTile(dst []int8, dstStride int, src []int8, srcStride int) {
	a0, a1 := swap(swar.Load(src), swar.Load(src[srcStride:]), 8, 0x00ff00ff00ff00ff)
	a2, a3 := swap(swar.Load(src[2*srcStride:]), swar.Load(src[3*srcStride:]), 8, 0x00ff00ff00ff00ff)
	a4, a5 := swap(swar.Load(src[4*srcStride:]), swar.Load(src[5*srcStride:]), 8, 0x00ff00ff00ff00ff)
	a6, a7 := swap(swar.Load(src[6*srcStride:]), swar.Load(src[7*srcStride:]), 8, 0x00ff00ff00ff00ff)

	b0, b2 := swap(a0, a2, 16, 0x0000ffff0000ffff)
	b1, b3 := swap(a1, a3, 16, 0x0000ffff0000ffff)
	b4, b6 := swap(a4, a6, 16, 0x0000ffff0000ffff)
	b5, b7 := swap(a5, a7, 16, 0x0000ffff0000ffff)

	c0, c4 := swap(b0, b4, 32, 0x00000000ffffffff)
	c1, c5 := swap(b1, b5, 32, 0x00000000ffffffff)
	c2, c6 := swap(b2, b6, 32, 0x00000000ffffffff)
	c3, c7 := swap(b3, b7, 32, 0x00000000ffffffff)

	swar.Store(dst, swar.Neg(c0))
	swar.Store(dst[dstStride:], swar.Neg(c1))
	swar.Store(dst[2*dstStride:], swar.Neg(c2))
	swar.Store(dst[3*dstStride:], swar.Neg(c3))
	swar.Store(dst[4*dstStride:], swar.Neg(c4))
	swar.Store(dst[5*dstStride:], swar.Neg(c5))
	swar.Store(dst[6*dstStride:], swar.Neg(c6))
	swar.Store(dst[7*dstStride:], swar.Neg(c7))
}

// swap exchanges the upper parts of the fields of x, n bits wide and selected
// by low when shifted down, with the lower parts of the fields of y.
func swap(x, y uint64, n uint, low uint64) (uint64, uint64) {
	t := (x>>n ^ y) & low
	return x ^ t<<n, y ^ t
}

// check panics unless the block and its transpose fit.
func check(dst []int8, dstStride int, src []int8, srcStride, rows, cols int) {
	if rows <= 0 || cols <= 0 {
		return
	}
	if srcStride < cols && rows > 1 || dstStride < rows && cols > 1 {
		panic(fmt.Sprintf("transpose: strides %d of src and %d of dst for %d rows and %d columns", srcStride, dstStride, rows, cols))
	}
	if !fits(len(src), rows, srcStride, cols) || !fits(len(dst), cols, dstStride, rows) {
		panic(fmt.Sprintf("transpose: %d rows and %d columns, strides %d and %d, do not fit in src (%d scores) or dst (%d)",
			rows, cols, srcStride, dstStride, len(src), len(dst)))
	}
}

// fits tells whether n lines of the given width, a stride apart, fit in length
// scores. It divides because a product could overflow.
func fits(length, n, stride, width int) bool {
	return width <= length && (n == 1 || n-1 <= (length-width)/stride)
}
