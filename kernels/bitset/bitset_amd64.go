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
