package perm_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/kernels/perm"
)

// TestConjugator compares with the definition.
func TestConjugator(t *testing.T) {
	const seed = 6
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for n := 1; n <= perm.MaxPacked; n++ {
		for range 200 {
			h := perm.UnrankPacked(n, random.Uint64N(perm.Factorial(n)))
			p := perm.UnrankPacked(n, random.Uint64N(perm.Factorial(n)))
			want := h.Compose(p, n).Compose(h.Inverse(n), n)
			if got := perm.NewConjugator(h, n).Apply(p); got != want {
				t.Fatalf("%d items: %x conjugated by %x: %x, want %x", n, p, h, got, want)
			}
		}
	}
}

// TestReverse compares with lists, and the order of numbers with that of lists.
func TestReverse(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= perm.MaxPacked; n++ {
		for range 200 {
			var a, b [perm.MaxPacked]uint8
			p := perm.UnrankPacked(n, random.Uint64N(perm.Factorial(n)))
			q := perm.UnrankPacked(n, random.Uint64N(perm.Factorial(n)))
			p.Unpack(a[:n])
			slices.Reverse(a[:n])
			q.Unpack(b[:n])
			slices.Reverse(b[:n])
			want, err := perm.Pack(a[:n])
			if err != nil || p.Reverse(n) != want {
				t.Fatalf("%d items: %x reversed: %x, want %x, %v", n, p, p.Reverse(n), want, err)
			}
			if cmp.Compare(p, q) != slices.Compare(a[:n], b[:n]) {
				t.Fatalf("%d items: %x and %x compare unlike %v and %v", n, p, q, a[:n], b[:n])
			}
		}
	}
}
