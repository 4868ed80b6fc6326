// Package rows has the arithmetic on whole rows of scores that needs no masks:
// the minimum over several moves, and the count of what a sweep has changed.
//
// The generic code defines the results; the twins for amd64 give the same.
package rows

import (
	"fmt"
	"math/bits"

	"grenier/kernels/internal/swar"
)

// Kernel is the set of row operations in one family.
type Kernel struct {
	// Min lowers dst to a: dst[i] = min(dst[i], a[i]) for every i of dst. a must
	// be at least as long as dst, and must not overlap it unless it starts at
	// the same element.
	Min func(dst, a []int8)

	// CountDiff returns the number of positions where a and b differ. Their
	// lengths must be equal.
	CountDiff func(a, b []int8) int
}

func minGeneric(dst, a []int8) {
	a = a[:len(dst)]
	minFrom(dst, a, 0)
}

// minFrom is Min from position i on. Twins leave to it what does not fill a
// register.
func minFrom(dst, a []int8, i int) {
	for ; i+8 <= len(dst); i += 8 {
		swar.Store(dst[i:], swar.Min(swar.Load(dst[i:]), swar.Load(a[i:])))
	}
	for ; i < len(dst); i++ {
		dst[i] = min(dst[i], a[i])
	}
}

func countDiffGeneric(a, b []int8) int {
	checkLengths(a, b)
	return countDiffFrom(a, b, 0)
}

// checkLengths panics unless a and b are equally long.
func checkLengths(a, b []int8) {
	if len(a) != len(b) {
		panic(fmt.Sprintf("rows: counting differences of rows of %d and %d scores", len(a), len(b)))
	}
}

// countDiffFrom is CountDiff from position i on.
func countDiffFrom(a, b []int8, i int) (n int) {
	for ; i+8 <= len(a); i += 8 {
		n += bits.OnesCount64(swar.Differing(swar.Load(a[i:]), swar.Load(b[i:])))
	}
	for ; i < len(a); i++ {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}
