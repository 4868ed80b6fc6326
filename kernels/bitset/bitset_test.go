package bitset

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"grenier/internal/testkit/guard"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/twins"
	"grenier/kernels/cpu"
)

// plain deposits bit by bit.
func plain(src, mask []uint64) []uint64 {
	dst := make([]uint64, len(mask))
	k := 0
	for i := range 64 * len(mask) {
		if mask[i/64]>>(i%64)&1 != 0 {
			dst[i/64] |= src[k/64] >> (k % 64) & 1 << (i % 64)
			k++
		}
	}
	return dst
}

// fenced returns n words at an end of memory between pages that cannot be read.
func fenced(t testing.TB, n int, end guard.End) []uint64 {
	t.Helper()
	b := guard.New[uint8](t, 8*n).At(end, 8*n)
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// check compares a family with the plain code.
func check(t testing.TB, f cpu.Family, rng *rand.Rand, mask []uint64) {
	t.Helper()
	m := NewMask(mask)
	for _, end := range guard.Ends {
		src, dst := fenced(t, m.source(), end), fenced(t, len(mask), end)
		for i := range src {
			src[i] = rng.Uint64()
		}
		want := plain(src, mask)
		For(f)(dst, src, &m)
		must.List(t, dst, want, "%v: mask %x, bits %x", f, mask, src)
	}
}

// checkExtract wants what Deposit has put at the ones of a mask, and nothing else.
func checkExtract(t testing.TB, f cpu.Family, rng *rand.Rand, mask []uint64) {
	t.Helper()
	m := NewMask(mask)
	for _, end := range guard.Ends {
		want, src, dst := make([]uint64, m.source()), fenced(t, len(mask), end), fenced(t, m.Extracted(), end)
		for i := range m.ones {
			want[i/64] |= rng.Uint64() & 1 << (i % 64)
		}
		for i, x := range plain(want, mask) {
			src[i] = x | rng.Uint64()&^mask[i]
		}
		ExtractFor(f)(dst, src, &m)
		must.List(t, dst, want[:len(dst)], "%v: mask %x, bits %x", f, mask, src)
	}
}

func TestDeposit(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng := tries.Rand(t)
		for words := range 12 {
			for range 8 {
				mask := make([]uint64, words)
				for i := range mask {
					mask[i] = []uint64{0, ^uint64(0), rng.Uint64(), rng.Uint64() & rng.Uint64() & rng.Uint64()}[rng.IntN(4)]
				}
				check(t, f, rng, mask)
				checkExtract(t, f, rng, mask)
			}
		}
		m := NewMask([]uint64{^uint64(0)})
		must.Panic(t, func() { For(f)(make([]uint64, 1), make([]uint64, 2), &m) })
		must.Panic(t, func() { For(f)(nil, make([]uint64, 9), &m) })
		must.Panic(t, func() { ExtractFor(f)(make([]uint64, 1), make([]uint64, 1), &m) })
		must.Panic(t, func() { ExtractFor(f)(make([]uint64, 2), nil, &m) })
	})
}

func FuzzExtract(f *testing.F) { fuzz(f, checkExtract) }

func FuzzDeposit(f *testing.F) { fuzz(f, check) }

// fuzz checks the kernels of all families with any masks.
func fuzz(f *testing.F, check func(t testing.TB, f cpu.Family, rng *rand.Rand, mask []uint64)) {
	f.Add(uint64(0), ^uint64(0), uint64(1)<<63, uint64(7))
	f.Add(^uint64(0), ^uint64(0), ^uint64(0), uint64(8))
	f.Fuzz(func(t *testing.T, a, b, c, seed uint64) {
		for _, family := range cpu.Available() {
			check(t, family, rand.New(rand.NewPCG(seed, 0)), []uint64{a, b, c, a ^ b, b & c})
		}
	})
}

func TestTranspose(t *testing.T) {
	rng := tries.Rand(t)
	var square [64]uint64
	for i := range square {
		square[i] = rng.Uint64()
	}
	turned := square
	Transpose(&turned)
	for i := range 64 {
		for j := range 64 {
			must.Hold(t, turned[i]>>j&1 == square[j]>>i&1, "bit %d of word %d", j, i)
		}
	}
}

func BenchmarkDeposit(b *testing.B) {
	bench(b, func(f cpu.Family, m *Mask, ones, words []uint64) func() {
		deposit := For(f)
		return func() { deposit(words, ones, m) }
	})
}

func BenchmarkExtract(b *testing.B) {
	bench(b, func(f cpu.Family, m *Mask, ones, words []uint64) func() {
		extract := ExtractFor(f)
		return func() { extract(ones, words, m) }
	})
}

// bench runs what is made of a mask and of words for its ones, and for all of it.
func bench(b *testing.B, of func(f cpu.Family, m *Mask, ones, words []uint64) func()) {
	const size = 512
	twins.Measure(b, 8*size, func(f cpu.Family) func() {
		rng := rand.New(rand.NewPCG(1, 2))
		mask := make([]uint64, size)
		for i := range mask {
			mask[i] = rng.Uint64() | rng.Uint64()
		}
		m := NewMask(mask)
		ones, words := make([]uint64, m.source()), make([]uint64, len(mask))
		for i := range words {
			words[i] = rng.Uint64()
		}
		copy(ones, words)
		return of(f, &m, ones, words)
	})
}
