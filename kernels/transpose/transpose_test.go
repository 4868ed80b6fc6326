package transpose

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// canary marks what no kernel may touch.
const canary = 0x5a

// TestGeneric holds the generic kernel against the definition.
func TestGeneric(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for rows := range 20 {
		for cols := range 20 {
			src := make([]int8, rows*(cols+2))
			for i := range src {
				src[i] = int8(rng.Uint32())
			}
			got := slices.Repeat([]int8{canary}, cols*(rows+3))
			want := slices.Clone(got)
			for r := range rows {
				for c := range cols {
					want[c*(rows+3)+r] = -src[r*(cols+2)+c]
				}
			}
			negateGeneric(got, rows+3, src, cols+2, rows, cols)
			if !slices.Equal(got, want) {
				t.Fatalf("%dx%d: got %v, want %v", rows, cols, got, want)
			}
		}
	}
}
