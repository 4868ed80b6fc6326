// Package radix sorts lists of numbers digit by digit, the lowest first: several times faster than
// comparing them when they are many.
package radix

import (
	"fmt"
	"slices"
)

const (
	digit = 11 // bits: the counters fit the first cache
	few   = 512
)

// Sort sorts numbers below 2^bits, with scratch of the same length, and returns each of them once,
// ascending, in the memory of one of the two.
func Sort(numbers, scratch []uint64, bits int) []uint64 {
	if len(scratch) != len(numbers) {
		panic(fmt.Sprintf("radix: scratch for %d of %d numbers", len(scratch), len(numbers)))
	}
	if len(numbers) < few {
		slices.Sort(numbers)
		return slices.Compact(numbers)
	}
	for shift := 0; shift < bits; shift += digit {
		distribute(scratch, numbers, uint(shift))
		numbers, scratch = scratch, numbers
	}
	return slices.Compact(numbers)
}

// distribute sorts by the digit at shift, and keeps the order of numbers that agree in it.
func distribute(to, from []uint64, shift uint) {
	var next [1 << digit]int
	for _, x := range from {
		next[x>>shift&(1<<digit-1)]++
	}
	sum := 0
	for i, n := range next {
		next[i] = sum
		sum += n
	}
	for _, x := range from {
		place := &next[x>>shift&(1<<digit-1)]
		to[*place] = x
		*place++
	}
}
