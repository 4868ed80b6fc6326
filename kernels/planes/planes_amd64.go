//go:build !purego

package planes

import "grenier/kernels/cpu"

// For returns the kernel of the family f, which must be supported.
func For(f cpu.Family) Kernel {
	switch f {
	case cpu.AVX512:
		return Kernel{Split: splitAVX512, Join: joinAVX512}
	case cpu.BMI2:
		return Kernel{Split: splitAVX2, Join: joinAVX2}
	}
	return Kernel{Split: splitGeneric, Join: joinGeneric}
}

func splitAVX512(dst, src []byte) {
	checkSize(dst, src)
	blocks := len(src) / 64
	if blocks > 0 {
		splitBlocksAVX512(&dst[0], &src[0], Stride(len(src)), blocks)
	}
	splitFrom(dst, src, 64*blocks)
}

func joinAVX512(dst, src []byte) {
	checkSize(src, dst)
	blocks := len(dst) / 64
	if blocks > 0 {
		joinBlocksAVX512(&dst[0], &src[0], Stride(len(dst)), blocks)
	}
	joinFrom(dst, src, 64*blocks)
}

func splitAVX2(dst, src []byte) {
	checkSize(dst, src)
	blocks := len(src) / 32
	if blocks > 0 {
		splitBlocksAVX2(&dst[0], &src[0], Stride(len(src)), blocks)
	}
	splitFrom(dst, src, 32*blocks)
}

func joinAVX2(dst, src []byte) {
	checkSize(src, dst)
	blocks := len(dst) / 32
	if blocks > 0 {
		joinBlocksAVX2(&dst[0], &src[0], Stride(len(dst)), blocks)
	}
	joinFrom(dst, src, 32*blocks)
}

// splitBlocksAVX512 splits 64*blocks scores; blocks > 0.
//
//go:noescape
func splitBlocksAVX512(dst, src *byte, stride, blocks int)

// joinBlocksAVX512 joins 64*blocks scores; blocks > 0.
//
//go:noescape
func joinBlocksAVX512(dst, src *byte, stride, blocks int)

// splitBlocksAVX2 splits 32*blocks scores; blocks > 0.
//
//go:noescape
func splitBlocksAVX2(dst, src *byte, stride, blocks int)

// joinBlocksAVX2 joins 32*blocks scores; blocks > 0.
//
//go:noescape
func joinBlocksAVX2(dst, src *byte, stride, blocks int)
