//go:build !purego

package planes

import "grenier/kernels/cpu"

// For returns the kernel of the family f, which must be supported.
func For(f cpu.Family) Kernel {
	switch f {
	case cpu.AVX512:
		return avx512
	case cpu.BMI2:
		return avx2
	}
	return generic
}

var (
	avx512 = checked(packAVX512, unpackAVX512)
	avx2   = checked(packAVX2, unpackAVX2)
)

//go:noescape
func packAVX512(dst []byte, src []int8) int

//go:noescape
func unpackAVX512(dst []int8, src []byte) int

//go:noescape
func packAVX2(dst []byte, src []int8) int

//go:noescape
func unpackAVX2(dst []int8, src []byte) int
