package compress

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// naive follows the definition, bit by bit.
func naive(src []int8, reach, quiet []uint64) []int8 {
	var out []int8
	for p, x := range src {
		if p/64 >= len(reach) {
			break
		}
		if reach[p/64]>>(p%64)&1 == 0 {
			continue
		}
		if quiet[p/64]>>(p%64)&1 == 0 {
			x = Blocked
		}
		out = append(out, x)
	}
	return out
}

// TestGeneric holds the generic kernel against the definition, for all short
// rows and destinations with no or some scratch room.
func TestGeneric(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for n := 0; n <= 200; n++ {
		for try := range 20 {
			src, reach, quiet := randomRow(rng, n)
			want := naive(src, reach, quiet)
			dst := make([]int8, len(want)+try%10)
			got := compressGeneric(dst, src, reach, quiet)
			if got != len(want) || !slices.Equal(dst[:got], want) {
				t.Fatalf("n=%d: got %d %v, want %d %v", n, got, dst[:got], len(want), want)
			}
		}
	}
}

// randomRow returns a row of n scores and masks for it: of random density, and
// sometimes too short, or with bits beyond the row.
func randomRow(rng *rand.Rand, n int) (src []int8, reach, quiet []uint64) {
	src = make([]int8, n)
	for i := range src {
		src[i] = int8(rng.Uint32())
	}
	words := max(0, (n+63)/64+rng.IntN(5)/2-1)
	density := rng.IntN(9)
	for range words {
		reach = append(reach, randomBits(rng, density))
		quiet = append(quiet, randomBits(rng, rng.IntN(9)))
	}
	return src, reach, quiet
}

// randomBits returns a word in which each bit is set with the chance of about
// density/8: all of them for 8, none for 0.
func randomBits(rng *rand.Rand, density int) uint64 {
	var w uint64
	for b := range 64 {
		if rng.IntN(8) < density {
			w |= 1 << b
		}
	}
	return w
}
