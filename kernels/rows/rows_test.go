package rows

import (
	"math/rand/v2"
	"testing"
)

func TestGeneric(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for n := range 200 {
		a, b, want := make([]int8, n), make([]int8, n), make([]int8, n)
		diff := 0
		for i := range a {
			a[i] = int8(rng.Uint32())
			b[i] = a[i]
			if rng.IntN(2) == 0 {
				b[i] = int8(rng.Uint32())
			}
			want[i] = min(a[i], b[i])
			if a[i] != b[i] {
				diff++
			}
		}
		if got := countDiffGeneric(a, b); got != diff {
			t.Fatalf("n=%d: %d differences, want %d", n, got, diff)
		}
		minGeneric(a, b)
		if got := countDiffGeneric(a, want); got != 0 {
			t.Fatalf("n=%d: minimum %v, want %v", n, a, want)
		}
	}
}
