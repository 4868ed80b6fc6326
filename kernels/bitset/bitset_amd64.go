//go:build !purego

package bitset

import "grenier/kernels/cpu"

// of returns the kernel of the family f, which must be supported.
func of(f cpu.Family) DepositFunc {
	if f == cpu.BMI2 || f == cpu.AVX512 {
		return depositBMI2
	}
	return deposit
}

func depositBMI2(dst, src []uint64, m *Mask) {
	dst, src = dst[:len(m.words)], src[:m.source()]
	if len(dst) > 0 {
		depositWords(&dst[0], &src[0], &m.words[0], len(dst))
	}
}

// depositWords deposits into count words, at least one.
//
//go:noescape
func depositWords(dst, src, mask *uint64, count int)

// extractOf is of for Extract.
func extractOf(f cpu.Family) ExtractFunc {
	if f == cpu.BMI2 || f == cpu.AVX512 {
		return extractBMI2
	}
	return extract
}

func extractBMI2(dst, src []uint64, m *Mask) {
	dst, src = dst[:m.Extracted()], src[:len(m.words)]
	if len(src) == 0 {
		dst[0] = 0
		return
	}
	extractWords(&dst[0], &src[0], &m.words[0], len(src))
}

// extractWords extracts from count words, at least one.
//
//go:noescape
func extractWords(dst, src, mask *uint64, count int)
