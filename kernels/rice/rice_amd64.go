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

var avx512 = operations{low: lowAVX512, filter: filterAVX512, expand: expandAVX512, addLow: addLowAVX512}

var bmi2 = operations{low: lowBMI2, filter: filterBMI2, expand: expandBMI2, addLow: addLowBMI2}

func lowAVX512(vector, ranks []byte) {
	groups := len(ranks) / 64
	if groups > 0 {
		low64(&vector[0], &ranks[0], groups)
	}
	lowFrom(vector, ranks, 64*groups)
}

func filterAVX512(level, ranks []byte, least byte) int {
	groups, n := len(ranks)/64, 0
	if groups > 0 {
		n = filter64(&level[0], &ranks[0], groups, least)
	}
	return filterFrom(level, ranks, least, 64*groups, n)
}

func expandAVX512(ranks, level []byte, ones int) {
	groups := len(ranks) / 64
	ones = expandTo(ranks, level, ones, 64*groups)
	if groups > 0 {
		expand64(&ranks[0], &level[0], groups, ones)
	}
}

func addLowAVX512(ranks, vector []byte) {
	groups := len(ranks) / 64
	if groups > 0 {
		addLow64(&ranks[0], &vector[0], groups)
	}
	addLowFrom(ranks, vector, 64*groups)
}

func lowBMI2(vector, ranks []byte) {
	groups := len(ranks) / 8
	if groups > 0 {
		low8(&vector[0], &ranks[0], groups)
	}
	lowFrom(vector, ranks, 8*groups)
}

func filterBMI2(level, ranks []byte, least byte) int {
	groups, n := len(ranks)/8, 0
	if groups > 0 {
		n = filter8(&level[0], &ranks[0], groups, least)
	}
	return filterFrom(level, ranks, least, 8*groups, n)
}

func expandBMI2(ranks, level []byte, ones int) {
	groups := len(ranks) / 8
	ones = expandTo(ranks, level, ones, 8*groups)
	if groups > 0 {
		expand8(&ranks[0], &level[0], groups, ones)
	}
}

func addLowBMI2(ranks, vector []byte) {
	groups := len(ranks) / 8
	if groups > 0 {
		addLow8(&ranks[0], &vector[0], groups)
	}
	addLowFrom(ranks, vector, 8*groups)
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
