//go:build !purego

package transpose

import "grenier/kernels/cpu"

// For returns the kernel of the family f, which must be supported.
func For(f cpu.Family) Func {
	switch f {
	case cpu.AVX512:
		return negateAVX512
	case cpu.BMI2:
		return negateAVX2
	}
	return negateGeneric
}

const (
	// lane is the side of the squares of the vector kernels: 16 bytes hold one
	// of its rows. The last squares reach back, as in negateGeneric.
	lane = 16

	// high is the number of rows that one register holds a column of.
	high = 64
)

func negateAVX512(dst []int8, dstStride int, src []int8, srcStride, rows, cols int) {
	if rows <= 0 || cols < lane {
		negateGeneric(dst, dstStride, src, srcStride, rows, cols)
		return
	}
	check(dst, dstStride, src, srcStride, rows, cols)
	for r := 0; r < rows; r += high {
		r := min(r, max(0, rows-high))
		negateStripe(dst[r:], dstStride, src[r*srcStride:], srcStride, min(rows, high), cols)
	}
}

// negateStripe does up to 64 rows of at least 16 columns.
func negateStripe(dst []int8, dstStride int, src []int8, srcStride, rows, cols int) {
	columns(&dst[0], dstStride, &src[0], srcStride, rows, cols/lane)
	if rest := cols % lane; rest != 0 {
		c := cols - lane
		columns(&dst[c*dstStride], dstStride, &src[c], srcStride, rows, 1)
	}
}

func negateAVX2(dst []int8, dstStride int, src []int8, srcStride, rows, cols int) {
	if rows < lane || cols < lane {
		negateGeneric(dst, dstStride, src, srcStride, rows, cols)
		return
	}
	check(dst, dstStride, src, srcStride, rows, cols)
	for c := 0; c < cols; c += lane {
		c := min(c, cols-lane)
		squares(&dst[c*dstStride], dstStride, &src[c], srcStride, rows/lane)
		if rows%lane != 0 {
			r := rows - lane
			squares(&dst[c*dstStride+r], dstStride, &src[r*srcStride+c], srcStride, 1)
		}
	}
}

// columns does rows, 1 to 64, of 16*blocks columns in AVX-512; blocks > 0.
//
//go:noescape
func columns(dst *int8, dstStride int, src *int8, srcStride, rows, blocks int)

// squares does 16*blocks rows of 16 columns in AVX2; blocks > 0.
//
//go:noescape
func squares(dst *int8, dstStride int, src *int8, srcStride, blocks int)
