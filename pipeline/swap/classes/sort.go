package classes

import "math/bits"

// maxDigit is the largest number of bits that one pass of a sort looks at.
const maxDigit = 11

// sorted sorts keys with the help of scratch, which has as many elements, and
// returns them without repetitions in one of the two slices. It is a radix sort,
// least significant digits first, of the bits in which keys differ.
func sorted(keys, scratch []uint64) []uint64 {
	all, any := ^uint64(0), uint64(0)
	for _, k := range keys {
		all &= k
		any |= k
	}
	size := uint(bits.Len64(all ^ any))
	passes := (size + maxDigit - 1) / maxDigit
	for i := range passes {
		low, end := size*i/passes, size*(i+1)/passes
		scatter(scratch, keys, low, 1<<(end-low)-1)
		keys, scratch = scratch, keys
	}
	return unique(keys)
}

// scatter sorts keys by the digit that begins at bit low and has this mask into
// sorted, stably.
func scatter(sorted, keys []uint64, low uint, mask uint64) {
	var next [1 << maxDigit]uint32
	mask &= uint64(len(next) - 1)
	for _, k := range keys {
		next[k>>(low&63)&mask]++
	}
	sum := uint32(0)
	for i, n := range next[:mask+1] {
		next[i] = sum
		sum += n
	}
	for _, k := range keys {
		digit := k >> (low & 63) & mask
		sorted[next[digit]] = k
		next[digit]++
	}
}

// unique drops repetitions from sorted keys, in place.
func unique(keys []uint64) []uint64 {
	n := 0
	for i, k := range keys {
		if i == 0 || k != keys[n-1] {
			keys[n] = k
			n++
		}
	}
	return keys[:n]
}
