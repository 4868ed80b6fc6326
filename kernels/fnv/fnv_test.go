package fnv

import (
	"bytes"
	stdfnv "hash/fnv"
	"math/rand/v2"
	"testing"

	"grenier/internal/testkit/guard"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/twins"
	"grenier/kernels/cpu"
)

// basis is the hash of nothing.
const basis = 14695981039346656037

// longest is the length of the longest input of the twin tests: a few steps.
const longest = 4300

// check compares a kernel with the definition, at both ends of fenced memory.
func check(t *testing.T, m *guard.Region[uint8], f cpu.Family, hash uint64, data []byte) {
	t.Helper()
	want := addGeneric(hash, data)
	for _, end := range guard.Ends {
		at := m.Copy(end, data)
		got := For(f)(hash, at)
		must.Hold(t, got == want, "%v: %d bytes after hash %016x: got %016x, want %016x; % x", f, len(data), hash, got, want, data)
		must.Hold(t, bytes.Equal(at, data), "%v: the %d bytes were overwritten", f, len(data))
	}
}

func randomBytes(rng *rand.Rand, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(rng.Uint32())
	}
	return out
}

// TestStandard compares with the standard library.
func TestStandard(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		data := randomBytes(tries.Rand(t), 1<<17+77)
		h := stdfnv.New64a()
		h.Write(data)
		should.Equal(t, For(f)(basis, data), h.Sum64())
	})
}

func TestTwins(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng, m := tries.Rand(t), guard.New[uint8](t, longest)
		for range 100 {
			check(t, m, f, rng.Uint64(), randomBytes(rng, rng.IntN(longest+1)))
		}
		data := make([]byte, 1100)
		for i := range data { // one byte of many
			data[i] = byte(1 + rng.IntN(255))
			check(t, m, f, basis, data)
			data[i] = 0
		}
		random := randomBytes(rng, longest)
		for l := rng.Uint64N(3); l < 256; l += 3 { // the byte that decides about the rest; few and many bits are set
			hash := rng.Uint64()&^255 | l
			check(t, m, f, hash, random)
			check(t, m, f, hash, bytes.Repeat([]byte{byte(l)}, 2100))
			check(t, m, f, l, make([]byte, 2100))
			check(t, m, f, ^l, bytes.Repeat([]byte{0xff}, 2100))
		}
		for n := range 200 { // around whole steps
			check(t, m, f, rng.Uint64(), randomBytes(rng, 2*1024-100+n))
		}
	})
}

// TestLargestSums has each byte change the hash up or down as far as it can, by the sign
// of a digit of the power that the change is multiplied with: all products have one sign.
func TestLargestSums(t *testing.T) {
	powers := make([]uint64, 1024) // Prime^(1024-i)
	for i, p := len(powers)-1, uint64(Prime); i >= 0; i-- {
		powers[i] = p
		p *= Prime
	}
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		m := guard.New[uint8](t, longest)
		data := make([]byte, 3*len(powers))
		for sign := 15; sign < 64; sign += 16 {
			for _, up := range []uint64{0, 1} {
				hash := uint64(basis)
				for i := range data {
					data[i] = byte(hash) // down to 0
					if powers[i%len(powers)]>>sign&1 == up {
						data[i] = ^data[i] // up to 255
					}
					hash = (hash ^ uint64(data[i])) * Prime
				}
				check(t, m, f, basis, data)
			}
		}
	})
}

func TestNoAllocations(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		add, data, hash := For(f), make([]byte, longest), uint64(basis)
		should.Equal(t, testing.AllocsPerRun(10, func() { hash = add(hash, data) }), 0, "allocations")
	})
}

// FuzzTwins repeats what it is given, for the twins begin with a thousand bytes.
func FuzzTwins(f *testing.F) {
	f.Add(uint64(basis), uint16(0), []byte{})
	f.Add(uint64(0), uint16(1024), []byte{0})
	f.Add(uint64(basis), uint16(2500), []byte("scores"))
	f.Add(^uint64(0), uint16(longest), []byte{0xff, 0x80, 1})
	f.Fuzz(func(t *testing.T, hash uint64, size uint16, pattern []byte) {
		data := make([]byte, max(int(size)%(longest+1), min(len(pattern), longest)))
		for i := range data {
			data[i] = byte(i >> 8)
			if len(pattern) > 0 {
				data[i] += pattern[i%len(pattern)]
			}
		}
		m := guard.New[uint8](t, len(data))
		for _, family := range cpu.Available() {
			check(t, m, family, hash, data)
		}
	})
}

// blockSize is that of a storage block.
const blockSize = 64 << 10

func BenchmarkAdd(b *testing.B) {
	data := randomBytes(rand.New(rand.NewPCG(1, 2)), blockSize)
	twins.Measure(b, blockSize, func(f cpu.Family) func() {
		add, hash := For(f), uint64(basis)
		return func() { hash = add(hash, data) }
	})
}
