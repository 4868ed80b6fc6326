//go:build !purego

package compress

import "grenier/kernels/cpu"

// For returns the kernel of the family f, which must be supported.
func For(f cpu.Family) Func {
	switch f {
	case cpu.AVX512:
		return compressAVX512
	case cpu.BMI2:
		return compressBMI2
	}
	return compressGeneric
}

func compressAVX512(dst, src []int8, reach, quiet []uint64) int {
	n := compressWords(dst, src, reach, quiet[:len(reach)])
	if n < 0 {
		panic("compress: dst is too short")
	}
	return n
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

// compressWords is Func in AVX-512, but returns -1 where that panics.
//
//go:noescape
func compressWords(dst, src []int8, reach, quiet []uint64) int

// compressBytes compresses eight source positions at a time with PEXT, as long
// as src has eight more and dst room for eight more. It returns the position
// where it stopped and the count so far. masks is byteMask.
//
//go:noescape
func compressBytes(dst, src []int8, reach, quiet []uint64, masks *[256]uint64) (p, n int)
