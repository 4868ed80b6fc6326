//go:build !purego

package rows

import "grenier/kernels/cpu"

// For returns the kernel of the family f, which must be supported.
func For(f cpu.Family) Kernel {
	switch f {
	case cpu.AVX512:
		return Kernel{Min: minAVX2, CountDiff: countDiffAVX512}
	case cpu.BMI2:
		return Kernel{Min: minAVX2, CountDiff: countDiffAVX2}
	}
	return Kernel{Min: minGeneric, CountDiff: countDiffGeneric}
}

func countDiffAVX512(a, b []int8) int {
	checkLengths(a, b)
	return countDiffWords(a, b)
}

func minAVX2(dst, a []int8) {
	a = a[:len(dst)]
	blocks := len(dst) / 32
	if blocks > 0 {
		minBlocks(&dst[0], &a[0], blocks)
	}
	minFrom(dst, a, 32*blocks)
}

func countDiffAVX2(a, b []int8) (n int) {
	checkLengths(a, b)
	blocks := len(a) / 32
	if blocks > 0 {
		n = countDiffBlocks(&a[0], &b[0], blocks)
	}
	return n + countDiffFrom(a, b, 32*blocks)
}

// countDiffWords is CountDiff in AVX-512; b is at least as long as a.
//
//go:noescape
func countDiffWords(a, b []int8) int

// minBlocks is Min for 32*blocks scores in AVX2; blocks > 0.
//
//go:noescape
func minBlocks(dst, a *int8, blocks int)

// countDiffBlocks is CountDiff for 32*blocks scores in AVX2; blocks > 0.
//
//go:noescape
func countDiffBlocks(a, b *int8, blocks int) int
