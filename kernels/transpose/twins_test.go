package transpose

import (
	"math/bits"
	"slices"
	"sync"
	"testing"

	"grenier/kernels/cpu"
	"grenier/kernels/internal/guard"
	"grenier/kernels/internal/shared"
	"grenier/kernels/internal/twins"
)

// fence holds lines and a block between unreadable pages. A block fills a page, if
// pages have their usual size.
type fence struct {
	lines, block *guard.Region[int8]
}

func newFence(tb testing.TB) fence {
	return fence{guard.New[int8](tb, Side*Side), guard.New[int8](tb, Side*Side)}
}

// check compares a kernel with the definition, at both ends of the memory: what
// it makes of lines, what it says about it, and that nothing else is written.
func (m fence) check(t *testing.T, f cpu.Family, lines []int8, block *Block, columns, rows uint64) {
	t.Helper()
	want := slices.Clone(lines)
	changed := updateNaive(want, block, columns, rows)
	for _, end := range []bool{false, true} {
		l, b, around := m.lines.Start(len(lines)), (*Block)(m.block.Start(Side*Side)), m.lines.Start(Side * Side)[len(lines):]
		if end {
			l, b, around = m.lines.End(len(lines)), (*Block)(m.block.End(Side*Side)), m.lines.End(Side * Side)[:Side*Side-len(lines)]
		}
		for i := range around {
			around[i] = canary
		}
		copy(l, lines)
		*b = *block
		got := Changes{Rows: 0x5555} // from the call before
		For(f)(l, b, columns, rows, &got)
		if !slices.Equal(l, want) {
			t.Fatalf("%v: %d lines, columns %x, rows %x: got %v, want %v", f, len(lines)/Side, columns, rows, l, want)
		}
		for r := range changed {
			if got.Rows>>r&1 != 0 != (changed[r] != 0) || changed[r] != 0 && got.Columns[r] != changed[r] {
				t.Fatalf("%v: %d lines, columns %x, rows %x: line %d changed in %x (%v), want %x", f, len(lines)/Side,
					columns, rows, r, got.Columns[r], got.Rows>>r&1 != 0, changed[r])
			}
		}
		if slices.ContainsFunc(around, func(x int8) bool { return x != canary }) || *b != *block {
			t.Fatalf("%v: %d lines, columns %x, rows %x: written outside", f, len(lines)/Side, columns, rows)
		}
	}
}

const canary = 0x5a

// masks are columns or rows of all kinds.
func masks(random func() uint64) []uint64 {
	x, y, z := random(), random(), random()
	return []uint64{0, 1, 1 << 63, 1 << (x % 64), 1<<(x%64) | 1<<(x>>8%64), x, x & y & z, ^uint64(0)}
}

func TestTwins(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng, m := twins.Rand(t), newFence(t)
		lines, block := make([]int8, Side*Side), &Block{}
		for n := range Side + 1 {
			for _, columns := range masks(rng.Uint64) {
				for _, rows := range masks(rng.Uint64) {
					twins.Fill(rng, lines)
					twins.Fill(rng, block[:])
					odds := rng.IntN(9) // of eight: how many of the scores are old
					for i, x := range block {
						if rng.IntN(8) < odds {
							lines[i%Side*Side+i/Side] = -x
						}
					}
					m.check(t, f, lines[:n*Side], block, columns, rows)
				}
			}
		}
	})
}

// TestEveryScore changes each score alone.
func TestEveryScore(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		m := newFence(t)
		lines, block := make([]int8, Side*Side), &Block{}
		for i := range block {
			block[i] = -128 // which is its own negative
			m.check(t, f, lines, block, ^uint64(0), ^uint64(0))
			m.check(t, f, lines, block, 1<<(i/Side), ^uint64(0))
			block[i] = 0
		}
	})
}

func TestNoAllocations(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		update, lines := For(f), aligned(Side*Side)
		var block Block
		var changes Changes
		for _, columns := range []uint64{1, ^uint64(0)} {
			if n := testing.AllocsPerRun(10, func() { update(lines, &block, columns, ^uint64(0), &changes) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
		}
	})
}

// FuzzTwins holds every family against the definition.
func FuzzTwins(f *testing.F) {
	f.Add(uint8(64), ^uint64(0), ^uint64(0), []byte{1, 2, 3, 0x80})
	f.Add(uint8(5), uint64(1), ^uint64(0), []byte("scores"))
	f.Add(uint8(64), uint64(0x8000000000000001), uint64(6), []byte{})
	f.Fuzz(func(t *testing.T, n uint8, columns, rows uint64, pattern []byte) {
		m := newFence(t)
		lines, block := make([]int8, int(n)%(Side+1)*Side), &Block{}
		pattern = append(pattern, 0)
		for i := range block {
			block[i] = int8(pattern[i%len(pattern)])
		}
		for i := range lines {
			lines[i] = int8(pattern[i*7%len(pattern)])
		}
		for _, family := range cpu.Available() {
			m.check(t, family, lines, block, columns, rows)
		}
	})
}

// TestWhileOthersRead updates lines to one value and back, while readers
// look at them. The race detector watches the generic kernel only.
func TestWhileOthersRead(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		lines := aligned(Side * Side)
		var ones, zeros Block
		for i := range ones {
			ones[i] = -1
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			var changes Changes
			for i := range 300 {
				For(f)(lines, []*Block{&ones, &zeros}[i%2], uint64(i)*0x9e3779b97f4a7c15, ^uint64(0), &changes)
			}
		})
		for range 100 {
			for r := range Side {
				var line shared.Line
				line.Load(lines[r*Side:])
				for _, x := range line.Scores() {
					if x != 0 && x != 1 {
						t.Fatalf("line %d: read %d", r, x)
					}
				}
			}
		}
		wg.Wait()
	})
}

// BenchmarkUpdate reports the time for a score of the columns asked for. It has
// blocks of which most scores change, a few, and none, and one column of which two
// rows change.
func BenchmarkUpdate(b *testing.B) {
	for _, s := range []struct {
		name    string
		columns uint64
		changes [4]uint64 // columns changed in each fourth line
	}{
		{"dense/most", ^uint64(0), [4]uint64{1: 0x7fffffffff, 2: ^uint64(0), 3: ^uint64(0)}},
		{"dense/few", ^uint64(0), [4]uint64{1: 1 << 20}},
		{"dense/none", ^uint64(0), [4]uint64{}},
		{"column", 1 << 20, [4]uint64{}},
	} {
		b.Run(s.name, func(b *testing.B) {
			var blocks [2]Block
			for i := range blocks[1] {
				blocks[1][i] = int8(s.changes[i%Side%4] >> (i / Side) & 1)
			}
			if bits.OnesCount64(s.columns) == 1 {
				blocks[1][20*Side+7], blocks[1][20*Side+41] = 1, 2
			}
			twins.Bench(b, func(b *testing.B, f cpu.Family) {
				update, lines, i := For(f), aligned(Side*Side), 0
				var changes Changes
				for b.Loop() {
					update(lines, &blocks[i&1], s.columns, ^uint64(0), &changes)
					i++
				}
				scores := float64(bits.OnesCount64(s.columns) * Side)
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/scores, "ns/score")
			})
		})
	}
}
