package planes

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/guard"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/twins"
	"grenier/kernels/cpu"
)

// maxLines is the longest input of the twin tests.
const maxLines = 12

// fence holds the memory of both sides of a transform, so that it starts after or ends before an unreadable page.
type fence struct {
	scores *guard.Region[int8]
	packed *guard.Region[uint8]
}

func newFence(tb testing.TB) fence {
	return fence{guard.New[int8](tb, maxLines*Side), guard.New[uint8](tb, Bound(maxLines*Side))}
}

// ends calls f with n scores and size packed bytes at the start of the memory, and with those at its end.
func (m fence) ends(n, size int, f func(scores []int8, packed []byte)) {
	for _, end := range guard.Ends {
		f(m.scores.At(end, n), m.packed.At(end, size))
	}
}

// checkPack packs x and compares with the definition.
func (m fence) checkPack(t *testing.T, f cpu.Family, x []int8) {
	want := packNaive(x)
	m.ends(len(x), Bound(len(x)), func(scores []int8, packed []byte) {
		copy(scores, x)
		for i := range packed {
			packed[i] = 0xa5
		}
		n := For(f).Pack(packed, scores)
		must.List(t, packed[:max(n, 0)], want, "%v: %v: packed", f, x)
		must.List(t, scores, x, "%v: %v became", f, x)
	})
}

// checkUnpack unpacks n scores of bytes that may be anything and compares with the definition.
func (m fence) checkUnpack(t *testing.T, f cpu.Family, n int, src []byte) {
	t.Helper()
	want, size := unpackNaive(n, src)
	m.ends(n, len(src), func(scores []int8, packed []byte) {
		copy(packed, src)
		for i := range scores {
			scores[i] = 0x5a
		}
		got := For(f).Unpack(scores, packed)
		must.Not(t, got != size || size >= 0 && !slices.Equal(scores, want),
			"%v: %d scores of % x: %v of %d bytes, want %v of %d", f, n, src, scores, got, want, size)
		must.Hold(t, bytes.Equal(packed, src), "%v: % x became % x", f, src, packed)
	})
}

// check goes both ways.
func (m fence) check(t *testing.T, f cpu.Family, x []int8) {
	t.Helper()
	m.checkPack(t, f, x)
	m.checkUnpack(t, f, len(x), packNaive(x))
}

// randomLine returns scores of a random range of the given width in bits, both ends of which occur.
func randomLine(rng *rand.Rand, w int) []int8 {
	largest := 1<<w - 1 // above the least
	if w > 0 {
		largest -= rng.IntN(1 << (w - 1))
	}
	least := -128 + rng.IntN(256-largest)
	out := make([]int8, Side)
	for i := range out {
		out[i] = int8(least + rng.IntN(largest+1))
	}
	ends := rng.Perm(Side)
	out[ends[0]], out[ends[1]] = int8(least), int8(least+largest)
	return out
}

// randomLines returns n lines of random widths, most of them small.
func randomLines(rng *rand.Rand, n int) []int8 {
	out := []int8{}
	for range n {
		out = append(out, randomLine(rng, min(rng.IntN(9), 1+rng.IntN(8)))...)
	}
	return out
}

func TestTwins(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng, m := tries.Rand(t), newFence(t)
		for range 20 {
			for n := range maxLines + 1 {
				m.check(t, f, randomLines(rng, n))
			}
		}
	})
}

// TestEveryWidth has lines of each number of planes, the narrowest and the widest, with every least score that they can have.
func TestEveryWidth(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		m := newFence(t)
		for _, largest := range []int{0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255} {
			for least := -128; least+largest < 128; least++ {
				line := slices.Repeat([]int8{int8(least)}, Side)
				line[(least+128)%Side] = int8(least + largest)
				line[(least+largest+141)%Side] = int8(least + largest/2)
				m.check(t, f, line)
			}
		}
	})
}

// TestDamage cuts packed lines short at every byte, lets others follow, and gives each line each number of planes.
func TestDamage(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng, m := tries.Rand(t), newFence(t)
		scores := randomLines(rng, maxLines/2)
		packed := packNaive(scores)
		for n := range packed {
			must.Equal(t, For(f).Unpack(slices.Clone(scores), packed[:n]), -1, "%d of %d bytes: unpacked", n, len(packed))
			m.checkUnpack(t, f, len(scores), packed[:n])
			m.checkUnpack(t, f, 0, packed[:n])
			m.checkUnpack(t, f, Side, packed[:n])
		}
		for at := 0; at < len(packed); {
			w := packed[at]
			for wrong := range 256 {
				packed[at] = byte(wrong)
				m.checkUnpack(t, f, len(scores), packed)
			}
			packed[at] = w
			at += 2 + 8*int(w)
		}
	})
}

func TestNoAllocations(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		k, scores := For(f), randomLines(tries.Rand(t), maxLines)
		packed := make([]byte, Bound(len(scores)))
		should.Equal(t, testing.AllocsPerRun(10, func() { k.Unpack(scores, packed[:k.Pack(packed, scores)]) }), 0, "allocations")
	})
}

// FuzzPackTwins packs lines that repeat a pattern.
func FuzzPackTwins(f *testing.F) {
	f.Add(uint8(0), []byte{})
	f.Add(uint8(1), []byte{1, 0x80, 0x7f, 0xff})
	f.Add(uint8(3), []byte("scores"))
	f.Fuzz(func(t *testing.T, lines uint8, pattern []byte) {
		m, x := newFence(t), make([]int8, int(lines)%(maxLines+1)*Side)
		pattern = append(pattern, 0)
		for i := range x {
			x[i] = int8(pattern[i%len(pattern)])
		}
		for _, family := range cpu.Available() {
			m.check(t, family, x)
		}
	})
}

func FuzzUnpackTwins(f *testing.F) {
	f.Add(uint8(0), []byte{})
	f.Add(uint8(2), []byte{0, 5, 1, 3, 0xff, 0, 1, 2, 3, 4, 5, 6})
	f.Add(uint8(1), append([]byte{8, 0x7f}, bytes.Repeat([]byte{0xff}, 64)...))
	f.Add(uint8(1), append([]byte{9}, make([]byte, 80)...))
	f.Fuzz(func(t *testing.T, lines uint8, src []byte) {
		m, n := newFence(t), int(lines)%(maxLines+1)*Side
		src = src[:min(len(src), Bound(maxLines*Side))]
		for _, family := range cpu.Available() {
			m.checkUnpack(t, family, n, src)
		}
	})
}

func BenchmarkPack(b *testing.B) {
	bench(b, func(k Kernel, scores []int8, packed []byte) { k.Pack(packed, scores) })
}

func BenchmarkUnpack(b *testing.B) {
	bench(b, func(k Kernel, scores []int8, packed []byte) { k.Unpack(scores, packed) })
}

// bench measures one direction, on scores that fit the first cache and on more.
func bench(b *testing.B, op func(k Kernel, scores []int8, packed []byte)) {
	for _, n := range []int{4 << 10, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			scores := randomLines(rand.New(rand.NewPCG(1, 2)), n/Side)
			twins.Measure(b, int64(n), func(f cpu.Family) func() {
				k, packed := For(f), make([]byte, Bound(n))
				k.Pack(packed, scores)
				return func() { op(k, scores, packed) }
			})
		})
	}
}

func TestMisusePanics(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		k := For(f)
		for _, n := range []int{1, 63, 65, 200} {
			must.Panic(t, func() { k.Pack(make([]byte, 1000), make([]int8, n)) })
			must.Panic(t, func() { k.Unpack(make([]int8, n), make([]byte, 1000)) })
		}
		for _, n := range []int{64, 640} {
			must.Panic(t, func() { k.Pack(make([]byte, Bound(n)-1), make([]int8, n)) })
		}
	})
}

// packNaive follows the definition, bit by bit.
func packNaive(scores []int8) []byte {
	out := []byte{}
	for line := range slices.Chunk(scores, Side) {
		least := slices.Min(line)
		w := bits.Len(uint(int(slices.Max(line)) - int(least)))
		out = append(out, byte(w), byte(least))
		for k := range w {
			var plane [8]byte
			for i, x := range line {
				plane[i/8] |= byte((int(x)-int(least))>>k&1) << (i % 8)
			}
			out = append(out, plane[:]...)
		}
	}
	return out
}

// unpackNaive returns n scores and the number of bytes that they took, or -1.
func unpackNaive(n int, src []byte) ([]int8, int) {
	out, at := []int8{}, 0
	for len(out) < n {
		if at+2 > len(src) || src[at] > 8 || at+2+8*int(src[at]) > len(src) {
			return nil, -1
		}
		w, least, planes := int(src[at]), src[at+1], src[at+2:]
		for i := range Side {
			x := least
			for k := range w {
				x += planes[8*k+i/8] >> (i % 8) & 1 << k
			}
			out = append(out, int8(x))
		}
		at += 2 + 8*w
	}
	return out, at
}
