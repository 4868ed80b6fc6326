package classes

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSorted compares with package slices: keys of all widths, many and few, equal
// and different.
func TestSorted(t *testing.T) {
	const seed = 3
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for width := range uint(65) {
		for _, n := range []int{0, 1, 2, 5, 1000} {
			keys := make([]uint64, n)
			high := random.Uint64() << width
			for i := range keys {
				keys[i] = high | random.Uint64()&(1<<width-1)
			}
			want := slices.Clone(keys)
			slices.Sort(want)
			want = slices.Compact(want)
			if got := sorted(keys, make([]uint64, n)); !slices.Equal(got, want) {
				t.Fatalf("%d keys of %d bits: %v, want %v", n, width, got, want)
			}
		}
	}
}

func BenchmarkSorted(b *testing.B) {
	const n = 1 << 20
	random := rand.New(rand.NewPCG(1, 1))
	from, keys, scratch := make([]uint64, n), make([]uint64, n), make([]uint64, n)
	for i := range from {
		from[i] = random.Uint64N(479001600)
	}
	b.SetBytes(8 * n)
	for b.Loop() {
		copy(keys, from)
		sorted(keys, scratch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
}
