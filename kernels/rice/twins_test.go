package rice

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
	"testing"

	"grenier/internal/testkit/guard"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/twins"
	"grenier/kernels/cpu"
)

// maxRanks is the longest input of the twin tests: a few registers' worth.
const maxRanks = 700

// randomRanks returns ranks distributed like those of scores, and from time to time any.
func randomRanks(rng *rand.Rand, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		if rng.IntN(50) == 0 {
			out[i] = byte(rng.IntN(MaxRank + 1))
		} else {
			out[i] = byte(2*bits.TrailingZeros32(rng.Uint32()|1<<20) + rng.IntN(2))
		}
	}
	return out
}

// fence holds the memory of both sides of a transform, so that it starts after or ends before an unreadable page.
type fence struct {
	ranks, code, scratch *guard.Region[uint8]
}

func newFence(tb testing.TB, n int) fence {
	return fence{guard.New[uint8](tb, n), guard.New[uint8](tb, n*(levels+1)), guard.New[uint8](tb, PartScratch(n))}
}

// parts are where parts of n ranks begin and end: none, all, and some between.
func parts(rng *rand.Rand, n int) []span {
	all := []span{{0, 0}, {n, n}, {0, n}}
	for range 6 {
		from := rng.IntN(n + 1)
		all = append(all, span{from, from + rng.IntN(n-from+1)})
	}
	return all
}

// check runs both directions at both ends of the memory and compares with the definition.
func (m fence) check(t *testing.T, k Kernel, x []byte) {
	t.Helper()
	want := layout(x)
	for _, end := range guard.Ends {
		ranks, code := m.ranks.At(end, len(x)), m.code.At(end, len(want))
		copy(ranks, x)
		for i := range code {
			code[i] = 0xa5
		}
		n := k.Split(code, ranks)
		must.Hold(t, n == len(want) && bytes.Equal(code, want), "%v: code % x of %d bytes, want % x", x, code, n, want)
		clear(ranks)
		err := k.Join(ranks, code)
		must.Hold(t, err == nil && bytes.Equal(ranks, x), "ranks %v, want %v, %v", ranks, x, err)
		for _, p := range parts(rand.New(rand.NewPCG(uint64(len(x)), uint64(len(want)))), len(x)) {
			part, scratch := m.ranks.At(end, p.len()), m.scratch.At(end, PartScratch(p.len()))
			clear(part)
			err := k.JoinPart(part, code, p.from, len(x), scratch)
			must.Hold(t, err == nil && bytes.Equal(part, x[p.from:p.to]), "ranks %d to %d of %v: %v, %v", p.from, p.to, x, part, err)
		}
	}
}

// checkDamaged decodes bytes that may be no code: all families must agree.
func (m fence) checkDamaged(t *testing.T, k Kernel, n int, src []byte) {
	want := make([]byte, n)
	wantErr := generic.join(want, src)
	for _, end := range guard.Ends {
		ranks, code := m.ranks.At(end, n), m.code.At(end, len(src))
		copy(code, src)
		err := k.Join(ranks, code)
		must.Not(t, err != wantErr || err == nil && !bytes.Equal(ranks, want),
			"%d ranks of % x: %v, %v; want %v, %v", n, src, ranks, err, want, wantErr)
		for _, p := range parts(rand.New(rand.NewPCG(uint64(n), uint64(len(src)))), n) {
			part := m.ranks.At(end, p.len())
			err := k.JoinPart(part, code, p.from, n, m.scratch.At(end, PartScratch(p.len())))
			must.Not(t, err != wantErr || err == nil && !bytes.Equal(part, want[p.from:p.to]),
				"ranks %d to %d of %d of % x: %v, %v; want %v, %v", p.from, p.to, n, src, part, err, want, wantErr)
		}
	}
}

func TestTwins(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng := tries.Rand(t)
		m := newFence(t, maxRanks)
		for n := 0; n <= maxRanks; n += 1 + rng.IntN(4) {
			m.check(t, For(f), randomRanks(rng, n))
		}
		for r := range MaxRank + 1 {
			m.check(t, For(f), bytes.Repeat([]byte{byte(r)}, 200))
		}
	})
}

func FuzzTwins(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 0x80, 0x7f, 0xff})
	f.Add(bytes.Repeat([]byte{0, 9, 3}, 60))
	f.Fuzz(func(t *testing.T, x []byte) {
		x = bytes.Clone(x[:min(len(x), maxRanks)])
		for i := range x {
			x[i] &= MaxRank
		}
		m := newFence(t, len(x))
		for _, f := range cpu.Available() {
			m.check(t, For(f), x)
		}
	})
}

func FuzzJoin(f *testing.F) {
	f.Add([]byte{}, uint16(0))
	f.Add([]byte{0x16, 0x32, 0x02, 0x00}, uint16(6))
	f.Add(layout(bytes.Repeat([]byte{0, 9, 3}, 60)), uint16(180))
	f.Fuzz(func(t *testing.T, src []byte, size uint16) {
		n := int(size) % maxRanks
		m := newFence(t, maxRanks)
		src = src[:min(len(src), maxRanks)]
		for _, f := range cpu.Available() {
			m.checkDamaged(t, For(f), n, src)
		}
	})
}

// blockSize is that of a storage block.
const blockSize = 64 << 10

func BenchmarkSplit(b *testing.B) {
	ranks := randomRanks(rand.New(rand.NewPCG(1, 2)), blockSize)
	twins.Measure(b, blockSize, func(f cpu.Family) func() {
		k, scratch, code := For(f), make([]byte, blockSize), make([]byte, blockSize)
		return func() {
			copy(scratch, ranks)
			k.Split(code, scratch)
		}
	})
}

func BenchmarkJoin(b *testing.B) {
	ranks := randomRanks(rand.New(rand.NewPCG(1, 2)), blockSize)
	code := layout(ranks)
	twins.Measure(b, blockSize, func(f cpu.Family) func() { return func() { must.OK(b, For(f).Join(ranks, code)) } })
}

func layout(ranks []byte) []byte {
	out := pack(ranks, func(r byte) bool { return r&1 != 0 })
	for least := byte(2); len(ranks) > 0; least += 2 {
		out = append(out, pack(ranks, func(r byte) bool { return r >= least })...)
		var rest []byte
		for _, r := range ranks {
			if r >= least {
				rest = append(rest, r)
			}
		}
		ranks = rest
	}
	return out
}

func pack(ranks []byte, bit func(r byte) bool) []byte {
	out := make([]byte, stride(len(ranks)))
	for i, r := range ranks {
		if bit(r) {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return out
}

// TestExample is the example in docs/format/layer-file.md.
func TestExample(t *testing.T) {
	got := make([]byte, 4)
	For(cpu.Generic).Split(got, []byte{0, 3, 1, 0, 5, 2})
	// low 0 1 1 0 1 0; level 0: 0 1 0 0 1 1; level 1, of 3, 5, 2: 0 1 0; level 2, of 5: 0.
	should.List(t, got, []byte{0x16, 0x32, 0x02, 0x00})
}

func TestDamage(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		k, ranks := For(f), make([]byte, 9)
		for name, src := range map[string][]byte{
			"empty":       {},
			"no level":    {1, 0},
			"short level": {1, 0, 0},
			"tail":        {1, 0, 0, 0, 0},
			"padding":     {1, 2, 0, 0},
			"missing":     {1, 0, 1, 0},
			"too many":    append([]byte{0, 0}, bytes.Repeat([]byte{0xff, 1}, 70)...),
		} {
			should.Be(t, k.Join(ranks, src), ErrCode, "%s", name)
			should.Be(t, k.JoinPart(ranks[:2], src, 3, 9, make([]byte, PartScratch(2))), ErrCode, "%s: a part", name)
		}
		must.OK(t, k.Join(nil, nil))
		ranks = bytes.Repeat([]byte{9, 0, 3}, 50)
		want := layout(ranks)
		for n := range want { // bytes of room
			must.Equal(t, k.Split(make([]byte, n), bytes.Clone(ranks)), -1, "%d bytes hold %d", n, len(want))
		}
	})
}
