//go:build !purego

package compress

import "grenier/kernels/cpu"

// rowFor returns the kernel of the family f, which must be supported. Whole
// columns are faster still in AVX-512, see LeastFor.
func rowFor(f cpu.Family) rowFunc {
	if f >= cpu.BMI2 {
		return compressBMI2
	}
	return compressGeneric
}

func compressBMI2(dst, src []int8, reach, quiet []uint64) int {
	p, n := compressBytes(dst, src, reach, quiet[:len(reach)], &byteMask)
	return compressFrom(dst, src, reach, quiet, p, n)
}

// byteMask[b] has the byte i all ones if bit i of b is set, and 0 otherwise.
var byteMask = func() (t [256]uint64) {
	for b := range t {
		for i := range 8 {
			t[b] |= uint64(b>>i&1) * 0xff << (8 * i)
		}
	}
	return t
}()

// compressBytes compresses eight source positions at a time with PEXT, as long
// as src has eight more and dst room for eight more. It returns the position
// where it stopped and the count so far. masks is byteMask.
//
//go:noescape
func compressBytes(dst, src []int8, reach, quiet []uint64, masks *[256]uint64) (p, n int)
