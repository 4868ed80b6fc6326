package perm_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/kernels/perm"
)

// arrangements calls visit with the k-arrangements of n items in lexicographic order, found by plain recursion.
func arrangements(n, k int, visit func(a []uint8)) {
	var extend func(a []uint8)
	extend = func(a []uint8) {
		if len(a) == k {
			visit(a)
			return
		}
		for x := range uint8(n) {
			if !slices.Contains(a, x) {
				extend(append(a, x))
			}
		}
	}
	extend(make([]uint8, 0, k))
}

// naiveInversions counts inversions by their definition.
func naiveInversions(p []uint8) int {
	count := 0
	for i := range p {
		for j := range i {
			if p[j] > p[i] {
				count++
			}
		}
	}
	return count
}

// TestExhaustive lists all arrangements of up to 7 items and checks that they have the ranks 0, 1, 2, ...
func TestExhaustive(t *testing.T) {
	for n := 0; n <= 7; n++ {
		for k := 0; k <= n; k++ {
			rank := uint64(0)
			arrangements(n, k, func(a []uint8) {
				must.Equal(t, checkArrangement(t, a, n), rank, "n=%d: rank of %v", n, a)
				rank++
			})
			must.Equal(t, perm.Arrangements(n, k), rank, "Arrangements(%d, %d)", n, k)
		}
	}
}

// checkArrangement returns the rank of some of n items, which leads back to them.
func checkArrangement(t *testing.T, a []uint8, n int) uint64 {
	t.Helper()
	rank, got := perm.RankArrangement(a, n), make([]uint8, len(a))
	must.Hold(t, rank < perm.Arrangements(n, len(a)), "n=%d: rank of %v is %d", n, a, rank)
	perm.UnrankArrangement(got, n, rank)
	must.Hold(t, slices.Equal(got, a), "n=%d: unrank %d is %v, want %v", n, rank, got, a)
	if len(a) == n {
		checkPermutation(t, a, rank)
	}
	return rank
}

// checkPermutation checks everything about one permutation and its packed form.
func checkPermutation(t *testing.T, p []uint8, rank uint64) {
	t.Helper()
	n := len(p)
	must.Equal(t, perm.Rank(p), rank, "rank of %v", p)
	got := make([]uint8, n)
	perm.Unrank(got, rank)
	must.Hold(t, slices.Equal(got, p), "n=%d: unrank %d is %v, want %v", n, rank, got, p)
	must.Equal(t, perm.Inversions(p), naiveInversions(p), "inversions of %v", p)
	must.Equal(t, perm.Parity(p), naiveInversions(p)%2, "parity of %v", p)
	if n <= perm.MaxPacked {
		checkPacked(t, p, rank)
	}
}

// checkPacked checks that the packed twin agrees.
func checkPacked(t *testing.T, p []uint8, rank uint64) {
	n, packed := len(p), pack(p)
	got, inverse := make([]uint8, n), make([]uint8, n)
	for i, x := range p {
		inverse[x] = uint8(i)
	}
	packed.Unpack(got)
	must.Hold(t, slices.Equal(got, p), "unpacked %v, want %v", got, p)
	for i, x := range p {
		must.Equal(t, packed.At(i), int(x), "item %d of %v", i, p)
	}
	must.Equal(t, packed.Rank(n), rank, "packed rank of %v", p)
	must.Equal(t, perm.UnrankPacked(n, rank), packed, "n=%d: packed unrank %d", n, rank)
	must.Hold(t, packed.Inverse(n) == pack(inverse), "packed inverse of %v is %x, want %v", p, packed.Inverse(n), inverse)
	must.Equal(t, packed.Compose(packed.Inverse(n), n), perm.Identity(n), "%v after its inverse", p)
	must.Hold(t, packed.Inversions(n) == perm.Inversions(p) && packed.Parity(n) == perm.Parity(p),
		"packed inversions of %v: %d, parity %d", p, packed.Inversions(n), packed.Parity(n))
}

func randomPermutation(rng *rand.Rand, n int) []uint8 {
	p := make([]uint8, n)
	for i, x := range rng.Perm(n) {
		p[i] = uint8(x)
	}
	return p
}

// TestRandom checks random permutations and arrangements of up to 20 items, the first permutation and the last one.
func TestRandom(t *testing.T) {
	rng := tries.Rand(t)
	for n := 9; n <= perm.MaxItems; n++ {
		p := make([]uint8, n)
		perm.Unrank(p, 0)
		checkPermutation(t, p, 0)
		should.Hold(t, slices.IsSorted(p), "the first of %d items is %v", n, p)
		perm.Unrank(p, perm.Factorial(n)-1)
		checkPermutation(t, p, perm.Factorial(n)-1)
		slices.Reverse(p)
		should.Hold(t, slices.IsSorted(p), "the last of %d items is not the reversal", n)
		for range 500 {
			rank := rng.Uint64N(perm.Factorial(n))
			perm.Unrank(p, rank)
			checkPermutation(t, p, rank)
			q := randomPermutation(rng, n)
			must.Equal(t, cmp.Compare(rank, perm.Rank(q)), slices.Compare(p, q), "ranks of %v and %v compare as", p, q)
			checkArrangement(t, q[:rng.IntN(n+1)], n)
		}
	}
}

// TestComposeAndSwap checks products against their definition, and that a swap is a product with a transposition.
func TestComposeAndSwap(t *testing.T) {
	rng := tries.Rand(t)
	for n := 1; n <= perm.MaxPacked; n++ {
		for range 100 {
			p, q, want := randomPermutation(rng, n), randomPermutation(rng, n), make([]uint8, n)
			for i := range n {
				want[i] = p[q[i]]
			}
			packedP := pack(p)
			got := packedP.Compose(pack(q), n)
			must.Hold(t, got == pack(want), "%v after %v is %x, want %v", p, q, got, want)
			i, j := rng.IntN(n), rng.IntN(n)
			p[i], p[j] = p[j], p[i]
			got = packedP.Swap(i, j)
			must.Hold(t, got == pack(p), "after swap of %d and %d: %x, want %v", i, j, got, p)
			must.Not(t, i != j && packedP.Swap(i, j).Parity(n) == packedP.Parity(n),
				"swap of %d and %d keeps the parity of %x", i, j, packedP)
		}
	}
}

// pack packs a list.
func pack(p []uint8) (packed perm.Packed) {
	for i, x := range p {
		packed |= perm.Packed(x) << (4 * i)
	}
	return packed
}

// FuzzRank feeds any bytes: an arrangement has a rank that leads back.
func FuzzRank(f *testing.F) {
	f.Add([]byte{2, 0, 1}, 3)
	f.Add([]byte{19, 3}, 20)
	f.Add([]byte{0, 0}, 2)
	f.Fuzz(func(t *testing.T, a []byte, n int) {
		sorted := slices.Sorted(slices.Values(a))
		if n < len(a) || n > perm.MaxItems || len(slices.Compact(sorted)) < len(a) || len(a) > 0 && int(slices.Max(a)) >= n {
			return
		}
		checkArrangement(t, a, n)
	})
}
