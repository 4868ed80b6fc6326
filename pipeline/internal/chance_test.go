package internal_test

import (
	"math"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/pipeline/internal/chance"
)

func TestPermutation(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 4, 5, 16, 17, 1000, 4096, 4097, 70000} {
		p, seen := chance.NewPermutation(n, n^12345), make([]bool, n)
		for i := range n {
			at := p.At(i)
			must.Not(t, at >= n || seen[at], "%d numbers: %d comes out at %d, which is too large or was there", n, at, i)
			seen[at] = true
		}
	}
	p := chance.NewPermutation(1<<62, 1)
	a, b := p.At(0), p.At(1<<62-1)
	should.Not(t, a >= 1<<62 || b >= 1<<62 || a == b, "%d, %d", a, b)
}

// TestUniform counts the number that comes first, and the one after the number 0, over many seeds: each
// number comes equally often, as far as a chi-square test tells.
func TestUniform(t *testing.T) {
	const n, seeds = 23, 23 * 2000
	var first [n]int
	var follows [n]int
	for seed := range uint64(seeds) {
		p := chance.NewPermutation(n, seed)
		first[p.At(0)]++
		follows[(p.At(1)+n-p.At(0))%n]++
	}
	should.Hold(t, follows[0] == 0, "a number follows itself %d times", follows[0])
	check := func(name string, counts []int) {
		mean, sum := float64(seeds)/float64(len(counts)), 0.0
		for _, c := range counts {
			sum += (float64(c) - mean) * (float64(c) - mean) / mean
		}
		// The sum has the mean k and the variance 2k, for k degrees of freedom.
		k := float64(len(counts) - 1)
		should.Not(t, sum > k+6*math.Sqrt(2*k), "%s: chi-square %.1f with %.0f degrees of freedom: %v", name, sum, k, counts)
	}
	check("first", first[:])
	check("differences", follows[1:])
}

// TestGolden: samples that were published stay reproducible.
func TestGolden(t *testing.T) {
	p := chance.NewPermutation(1_000_000, 7)
	want := [3]uint64{593443, 383901, 18571}
	should.Equal(t, [3]uint64{p.At(0), p.At(1), p.At(999_999)}, want)
}
