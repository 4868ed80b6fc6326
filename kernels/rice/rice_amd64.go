//go:build !purego

package rice

import "grenier/kernels/cpu"

// For returns the kernel of the family f, which must be supported.
func For(f cpu.Family) Kernel {
	switch f {
	case cpu.AVX512:
		return avx512.kernel()
	case cpu.BMI2:
		return bmi2.kernel()
	}
	return generic.kernel()
}

var (
	avx512 = inGroups(64, low64, addLow64, filter64, expand64)
	bmi2   = inGroups(8, low8, addLow8, filter8, expand8)
)

// inGroups returns operations that leave whole groups of ranks, width each, to
// kernels and do the rest in portable code.
func inGroups(
	width int, low, addLow func(a, b *byte, groups int),
	filter func(level, ranks *byte, groups int, least byte) int, expand func(ranks, level *byte, groups, ones int),
) operations {
	return operations{
		low: func(vector, ranks []byte) {
			groups := len(ranks) / width
			if groups > 0 {
				low(&vector[0], &ranks[0], groups)
			}
			lowFrom(vector, ranks, width*groups)
		},
		filter: func(level, ranks []byte, least byte) int {
			groups, n := len(ranks)/width, 0
			if groups > 0 {
				n = filter(&level[0], &ranks[0], groups, least)
			}
			return filterFrom(level, ranks, least, width*groups, n)
		},
		expand: func(ranks, level []byte, ones int) {
			groups := len(ranks) / width
			ones = expandTo(ranks, level, ones, width*groups)
			if groups > 0 {
				expand(&ranks[0], &level[0], groups, ones)
			}
		},
		addLow: func(ranks, vector []byte) {
			groups := len(ranks) / width
			if groups > 0 {
				addLow(&ranks[0], &vector[0], groups)
			}
			addLowFrom(ranks, vector, width*groups)
		},
	}
}

// The following work on 64*groups or 8*groups ranks; groups > 0.

//go:noescape
func low64(vector, ranks *byte, groups int)

//go:noescape
func filter64(level, ranks *byte, groups int, least byte) int

// expand64 expects as many ones as level has in these groups.
//
//go:noescape
func expand64(ranks, level *byte, groups, ones int)

//go:noescape
func addLow64(ranks, vector *byte, groups int)

//go:noescape
func low8(vector, ranks *byte, groups int)

//go:noescape
func filter8(level, ranks *byte, groups int, least byte) int

// expand8 expects as many ones as level has in these groups.
//
//go:noescape
func expand8(ranks, level *byte, groups, ones int)

//go:noescape
func addLow8(ranks, vector *byte, groups int)
