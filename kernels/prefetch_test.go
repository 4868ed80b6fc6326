package kernels_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"grenier/internal/testkit/must"
	"grenier/kernels/prefetch"
)

// TestLine asks for lines inside memory and beyond it: nothing changes, nothing fails.
func TestLine(t *testing.T) {
	data := make([]byte, 1<<16)
	for i := range data {
		data[i] = byte(i)
	}
	for i := range data {
		prefetch.Line(unsafe.Pointer(&data[i]))
	}
	prefetch.Line(nil)
	for i := range data {
		must.Equal(t, data[i], byte(i), "byte %d", i)
	}
}

// BenchmarkSum adds up words of 64 MiB in a random order, with lines asked for some words ahead and without.
func BenchmarkSum(b *testing.B) {
	words := make([]uint64, 1<<23)
	order := make([]uint32, 1<<16)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range order {
		order[i] = random.Uint32N(uint32(len(words)))
	}
	for _, ahead := range []int{0, 8} {
		b.Run(map[int]string{0: "plain", 8: "ahead"}[ahead], func(b *testing.B) {
			sum := uint64(0)
			for b.Loop() {
				for i := range order {
					if ahead > 0 {
						prefetch.Line(unsafe.Pointer(&words[order[(i+ahead)%len(order)]]))
					}
					sum = (sum + words[order[i]]) * 3
				}
			}
			if sum != 0 {
				b.Fatal(sum)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(order)), "ns/word")
		})
	}
}
