package ranks

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/guard"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/twins"
	"grenier/kernels/cpu"
)

// walk returns n scores from low to high that a context predicts well.
func walk(rng *rand.Rand, n int, low, high int8) []int8 {
	out := make([]int8, n)
	span := int(high) - int(low) + 1
	for i := range out {
		x := rng.IntN(span)
		if i >= far && rng.IntN(4) > 0 {
			x = (int(out[i-1]) - int(out[i-far]) + rng.IntN(3) + span) % span
			x = (x + span) % span
		}
		out[i] = low + int8(x)
	}
	return out
}

func asBytes(scores []int8) []byte {
	out := make([]byte, len(scores))
	for i, x := range scores {
		out[i] = byte(x)
	}
	return out
}

// modelOf returns the model of the scores themselves.
func modelOf(tb testing.TB, scores []int8, low, high int8) Model {
	tb.Helper()
	n := must.Get(NewCounts(low, high))(tb)
	n.Add(scores)
	m := n.Model()
	must.OK(tb, m.Check())
	return m
}

// define returns the ranks of scores in the way the package comment puts it.
func define(low int8, list map[[2]int][]byte, scores []int8) []byte {
	out := make([]byte, len(scores))
	length := len(scores) / 6
	for i, x := range scores {
		start := 0
		if length > 0 {
			start = min(i/length, 5) * length
		}
		symbol := func(i int) int {
			if i < start {
				return 0
			}
			return int(scores[i]) - int(low)
		}
		out[i] = byte(bytes.IndexByte(list[[2]int{symbol(i - 3), symbol(i - 1)}], byte(int(x)-int(low))))
	}
	return out
}

func TestTwins(t *testing.T) {
	rng := tries.Rand(t)
	for _, r := range [][2]int8{{0, 0}, {-1, 1}, {-20, 20}, {5, 36}, {-16, 16}, {-48, 48}, {-64, 63}, {-128, -1}} {
		all := walk(rng, 3000, r[0], r[1])
		c := newChecker(t, modelOf(t, all, r[0], r[1]), len(all))
		twins.Test(t, func(t *testing.T, f cpu.Family) {
			for n := 0; n < 200; n += 1 + rng.IntN(4) {
				c.check(t, For(f), all[rng.IntN(2500):][:n])
			}
			c.check(t, For(f), all)
		})
	}
}

// checker compares one model in use with the definition.
type checker struct {
	low      int8
	list     map[[2]int][]byte
	encoding *Encoding
	decoding *Decoding
	region   *guard.Region[uint8]
}

// newChecker returns a checker for up to n scores.
func newChecker(tb testing.TB, m Model, n int) checker {
	list := map[[2]int][]byte{}
	m.lists(func(c, a int, symbols []byte) { list[[2]int{c, a}] = slices.Clone(symbols) })
	return checker{int8(m[0]), list, NewEncoding(m), NewDecoding(m), guard.New[uint8](tb, n)}
}

// check encodes and decodes at both ends of fenced memory.
func (c checker) check(t *testing.T, k Kernel, scores []int8) {
	t.Helper()
	src, want := asBytes(scores), define(c.low, c.list, scores)
	var ranks []byte
	for _, end := range guard.Ends {
		from := c.region.Copy(end, src)
		ranks = make([]byte, len(scores))
		k.Ranks(c.encoding, ranks, from)
		must.Hold(t, bytes.Equal(ranks, want) && bytes.Equal(from, src), "%v: ranks %v, want %v", scores, ranks, want)
		block := c.region.Copy(end, src) // written where it is fenced
		k.Ranks(c.encoding, block, src)
		must.Hold(t, bytes.Equal(block, want) && c.region.Intact(), "%v: ranks %v at the %v end, want %v", scores, block, end, want)
	}
	for _, end := range guard.Ends {
		block := c.region.Copy(end, ranks)
		k.Scores(c.decoding, block)
		must.Hold(t, bytes.Equal(block, src) && c.region.Intact(), "scores %v, want %v", block, src)
	}
	for i, want := range scores {
		if from := LaneOf(i, len(scores)); i%7 == len(scores)%7 || i-from < 2*far {
			must.Equal(t, c.decoding.Last(ranks[from:i+1]), want, "score %d of %v", i, scores)
		}
	}
}

// TestFrequentFirst: what is always so has rank 0.
func TestFrequentFirst(t *testing.T) {
	scores := slices.Repeat([]int8{3, -1, 0, 2, -2}, 400)
	m := modelOf(t, scores, -3, 3)
	ranks := make([]byte, len(scores))
	For(cpu.Best()).Ranks(NewEncoding(m), ranks, asBytes(scores))
	n := bytes.Count(ranks, []byte{0})
	should.Not(t, n < len(scores)-Lanes*far, "%d of %d ranks are 0", n, len(scores))
}

// FuzzScores decodes ranks that no score has: anything may come out, but the same from all families.
func FuzzScores(f *testing.F) {
	f.Add([]byte{1, 2, 3, 127, 0, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127}, int8(-2), uint8(6))
	f.Add(bytes.Repeat([]byte{0, 1, 127}, 90), int8(-20), uint8(41))
	f.Fuzz(func(t *testing.T, ranks []byte, low int8, symbols uint8) {
		n, err := NewCounts(low, low+int8(symbols%50)-1)
		if err != nil {
			return
		}
		d := NewDecoding(n.Model())
		want := bytes.Clone(ranks)
		For(cpu.Generic).Scores(d, want)
		for i, x := range want {
			must.Equal(t, d.Last(ranks[LaneOf(i, len(ranks)):i+1]), int8(x), "score %d of %v", i, ranks)
		}
		region := guard.New[uint8](t, len(ranks))
		for _, f := range cpu.Available() {
			got := region.Copy(guard.High, ranks)
			For(f).Scores(d, got)
			must.Hold(t, bytes.Equal(got, want), "%v: %v, want %v", f, got, want)
		}
	})
}

func TestCheckModel(t *testing.T) {
	good := Model("\xff\x02" + "\x01\x00" + "\x00" + "\x01\x01" + "\x02\x00\x01" + "\x00")
	must.OK(t, good.Check())
	low, high := good.Range()
	should.Hold(t, low == -1 && high == 0, "range %d to %d", low, high)
	for name, m := range map[string]Model{
		"empty":       "",
		"short":       good[:len(good)-1],
		"long":        good + "\x00",
		"no symbol":   "\x00\x00",
		"many":        Model("\x00\x81" + strings.Repeat("\x00", 1<<20)),
		"beyond 127":  "\x7f\x02\x00\x01\x00\x00\x00\x00",
		"twice":       "\x00\x02\x00\x00\x00\x00\x00\x00",
		"twice later": "\x00\x02\x00\x01\x02\x00\x00\x00\x00\x00",
		"unknown":     "\x00\x01\x01\x00",
		"long list":   "\x00\x01\x00\x02\x00\x00",
		"no list":     "\x00\x02\x00\x01\x00\x00\x00",
	} {
		should.Be(t, m.Check(), ErrModel, "%s", name)
	}
	for _, r := range [][2]int8{{1, 0}, {-128, 0}, {-128, 127}} {
		should.Be(t, must.Err(NewCounts(r[0], r[1])), ErrModel, "%v", r)
	}
}

func FuzzModel(f *testing.F) {
	f.Add("\xff\x02\x01\x00\x00\x01\x01\x02\x00\x01\x00")
	f.Fuzz(func(t *testing.T, s string) {
		m := Model(s)
		if m.Check() != nil {
			return
		}
		low, high := m.Range()
		scores := walk(rand.New(rand.NewPCG(1, 2)), 100, low, high)
		c := newChecker(t, m, len(scores))
		for _, f := range cpu.Available() {
			c.check(t, For(f), scores)
		}
	})
}

// blockSize is that of a storage block.
const blockSize = 64 << 10

func BenchmarkRanks(b *testing.B) {
	scores := walk(rand.New(rand.NewPCG(1, 2)), blockSize, -20, 20)
	e := NewEncoding(modelOf(b, scores, -20, 20))
	src, dst := asBytes(scores), make([]byte, blockSize)
	twins.Measure(b, blockSize, func(f cpu.Family) func() {
		k := For(f)
		return func() { k.Ranks(e, dst, src) }
	})
}

func BenchmarkScores(b *testing.B) {
	scores := walk(rand.New(rand.NewPCG(1, 2)), blockSize, -20, 20)
	m := modelOf(b, scores, -20, 20)
	ranks, block := make([]byte, blockSize), make([]byte, blockSize)
	For(cpu.Best()).Ranks(NewEncoding(m), ranks, asBytes(scores))
	twins.Measure(b, blockSize, func(f cpu.Family) func() {
		k, d := For(f), NewDecoding(m)
		return func() {
			copy(block, ranks)
			k.Scores(d, block)
		}
	})
}
