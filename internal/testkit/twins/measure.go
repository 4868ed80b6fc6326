package twins

import (
	"testing"

	"grenier/kernels/cpu"
)

// Measure benchmarks what prepare returns, which handles so many bytes at a time, for every family that can run here.
func Measure(b *testing.B, bytes int64, prepare func(f cpu.Family) (run func())) {
	Bench(b, func(b *testing.B, f cpu.Family) {
		run := prepare(f)
		b.SetBytes(bytes)
		for b.Loop() {
			run()
		}
	})
}
