// Package twins runs the tests and benchmarks of a kernel for every family.
package twins

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"grenier/kernels/cpu"
)

// families are all of them, supported or not.
var families = []cpu.Family{cpu.Generic, cpu.BMI2, cpu.AVX512, cpu.NEON}

// Test runs a subtest for every family and skips those that cannot run here.
func Test(t *testing.T, run func(t *testing.T, f cpu.Family)) {
	for _, f := range families {
		t.Run(f.String(), func(t *testing.T) {
			if !cpu.Supported(f) {
				t.Skipf("the kernel family %v cannot run here", f)
			}
			run(t, f)
		})
	}
}

// Bench runs a sub-benchmark for every family that can run here.
func Bench(b *testing.B, run func(b *testing.B, f cpu.Family)) {
	for _, f := range cpu.Available() {
		b.Run(f.String(), func(b *testing.B) { run(b, f) })
	}
}

// Fill overwrites s with random bytes.
func Fill(rng *rand.Rand, s []int8) {
	for i := range s {
		s[i] = int8(rng.Uint32())
	}
}

// Aligned returns n zeros that start at a multiple of 64 bytes.
func Aligned(n int) []int8 {
	s := make([]int8, n+64)
	s = s[-uintptr(unsafe.Pointer(&s[0]))%64:]
	return s[:n:n]
}
