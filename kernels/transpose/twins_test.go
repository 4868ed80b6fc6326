package transpose

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"grenier/internal/testkit/guard"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/twins"
	"grenier/kernels/cpu"
	"grenier/kernels/internal/shared"
	"grenier/kernels/window"
)

// fence holds lines and a block between unreadable pages. A block fills a page, if pages have their usual size.
type fence struct {
	lines, block *guard.Region[int8]
}

func newFence(tb testing.TB) fence {
	return fence{guard.New[int8](tb, Side*Side), guard.New[int8](tb, Side*Side)}
}

// check compares a kernel with the definition, at both ends of the memory: what
// it makes of lines, what it says about it, and that nothing else is written.
func (m fence) check(t *testing.T, f cpu.Family, bits int, lines []int8, block *Block, columns, rows uint64) {
	t.Helper()
	want := slices.Clone(lines)
	changed := updateNaive(bits, want, block, columns, rows)
	for _, end := range guard.Ends {
		l, b := m.lines.Copy(end, lines), (*Block)(m.block.Copy(end, block[:]))
		got := Changes{Rows: 0x5555} // from the call before
		For(f, bits)(l, b, columns, rows, &got)
		call := fmt.Sprintf("%v, %d bits, %d bytes of lines, columns %x, rows %x", f, bits, len(lines), columns, rows)
		must.List(t, l, want, "%s", call)
		checkChanges(t, call, &got, &changed)
		must.Hold(t, m.lines.Intact() && m.block.Intact() && *b == *block, "%s: written outside", call)
	}
}

// checkChanges compares what a kernel says about changes, by line, with what has changed.
func checkChanges(t *testing.T, call string, got *Changes, changed *[Side]uint64) {
	t.Helper()
	for r, want := range changed {
		if got.Rows>>r&1 != 0 != (want != 0) || want != 0 && got.Columns[r] != want {
			t.Fatalf("%s: line %d changed in %x (%v), want %x", call, r, got.Columns[r], got.Rows>>r&1 != 0, want)
		}
	}
}

// widths are the bits of scores and of codes.
var widths = []int{8, 6, 4, 3, 2}

// legal turns any bytes into n lines of codes and a block of least codes. Only the given
// columns of a block are codes: others have not been computed. Scores stay.
func legal(bits, n int, lines []int8, block *Block, columns uint64) []int8 {
	codes := codesOf(bits)
	if codes == nil {
		return lines[:n*Side]
	}
	packed := make([]int8, n*codes.Line())
	for i, x := range lines[:n*Side] {
		codes.Put(packed[i/Side*codes.Line():], i%Side, codes.All[int(uint8(x))%len(codes.All)])
	}
	least := append(slices.Clone(codes.All), window.None)
	for i, x := range block {
		if columns>>(i/Side)&1 != 0 {
			block[i] = int8(least[int(uint8(x))%len(least)])
		}
	}
	return packed
}

// masks are columns or rows of all kinds.
func masks(random func() uint64) []uint64 {
	x, y, z := random(), random(), random()
	return []uint64{0, 1, 1 << 63, 1 << (x % 64), 1<<(x%64) | 1<<(x>>8%64), x, x & y & z, ^uint64(0)}
}

func TestLongTwins(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng, m := tries.Rand(t), newFence(t)
		lines, block := make([]int8, Side*Side), &Block{}
		for n := range Side + 1 {
			if !tries.Long() && n%8 != 0 && rng.IntN(3) > 0 {
				continue
			}
			for _, columns := range masks(rng.Uint64) {
				for _, rows := range masks(rng.Uint64) {
					if !tries.Long() && rng.IntN(5) > 0 {
						continue
					}
					twins.Fill(rng, lines)
					twins.Fill(rng, block[:])
					odds := rng.IntN(9) // of eight: how many of the scores are old
					for i, x := range block {
						if rng.IntN(8) < odds {
							lines[i%Side*Side+i/Side] = -x
						}
					}
					bits := widths[rng.IntN(len(widths))]
					m.check(t, f, bits, legal(bits, n, lines, block, columns), block, columns, rows)
				}
			}
		}
	})
}

// TestEveryColumn changes each column alone, with scores of each width: columns of packed codes have places of their own.
func TestEveryColumn(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng, m := tries.Rand(t), newFence(t)
		lines, block := make([]int8, Side*Side), &Block{}
		for i := range Side {
			for _, bits := range widths {
				twins.Fill(rng, lines)
				twins.Fill(rng, block[:])
				m.check(t, f, bits, legal(bits, Side, lines, block, 1<<i), block, 1<<i, rng.Uint64())
			}
		}
	})
}

// TestLongEveryScore changes each score alone.
func TestLongEveryScore(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		m, lines, block := newFence(t), make([]int8, Side*Side), &Block{}
		for i := 0; i < len(block); i += tries.More(7, 1) {
			block[i] = -128 // which is its own negative
			m.check(t, f, 8, lines, block, ^uint64(0), ^uint64(0))
			m.check(t, f, 8, lines, block, 1<<(i/Side), ^uint64(0))
			block[i] = 0
		}
	})
}

// TestNoAllocations: nor are there other widths.
func TestNoAllocations(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		for _, bits := range widths {
			update, lines := For(f, bits), twins.Aligned(Side*Side)
			var block Block
			var changes Changes
			for _, columns := range []uint64{1, ^uint64(0)} {
				n := testing.AllocsPerRun(10, func() { update(lines, &block, columns, ^uint64(0), &changes) })
				should.Hold(t, n == 0, "%d bits: %v allocations", bits, n)
			}
		}
		must.Panic(t, func() { For(f, 5) }, "5 bits")
	})
}

// FuzzTwins holds every family against the definition.
func FuzzTwins(f *testing.F) {
	f.Add(uint8(64), ^uint64(0), ^uint64(0), []byte{1, 2, 3, 0x80})
	f.Add(uint8(5), uint64(1), ^uint64(0), []byte("scores"))
	f.Add(uint8(64), uint64(0x8000000000000001), uint64(6), []byte{})
	f.Fuzz(func(t *testing.T, n uint8, columns, rows uint64, pattern []byte) {
		m := newFence(t)
		lines, block := make([]int8, Side*Side), &Block{}
		pattern = append(pattern, 0)
		for i := range block {
			block[i] = int8(pattern[i%len(pattern)])
		}
		for i := range lines {
			lines[i] = int8(pattern[i*7%len(pattern)])
		}
		for _, family := range cpu.Available() {
			for _, bits := range widths {
				block := *block
				m.check(t, family, bits, legal(bits, int(n)%(Side+1), lines, &block, columns), &block, columns, rows)
			}
		}
	})
}

// TestWhileOthersRead updates lines to one value and back, while readers look at them. Codes of two parts are left out:
// a reader can see the parts at two moments, which package window allows for while scores move away from 0 only. These fall step by step,
// and a reader never sees one below what is being written. The race detector watches the generic kernel only.
func TestWhileOthersRead(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		for _, bits := range []int{2, 4, 8} {
			lines := twins.Aligned(Side * Side * bits / 8)
			ones, zeros, seen := int8(-1), int8(0), []int8{0, 1}
			if codes := codesOf(bits); codes != nil {
				v := codes.Values
				ones, zeros = int8(codes.Code(-1, -v)), int8(codes.Code(0, 0))
				seen = []int8{int8(codes.Code(0, -v)), int8(codes.Code(1, 0))}
				for i := range Side * Side {
					codes.Put(lines[i/Side*codes.Line():], i%Side, codes.Code(0, -v))
				}
			}
			updateWhileOthersRead(t, f, bits, lines, ones, zeros, seen)
		}
		searchWhileOthersRead(t, f, window.Three)
		searchWhileOthersRead(t, f, window.Six)
	})
}

func updateWhileOthersRead(t *testing.T, f cpu.Family, bits int, lines []int8, ones, zeros int8, seen []int8) {
	var blocks [2]Block
	for i := range blocks[0] {
		blocks[0][i], blocks[1][i] = ones, zeros
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		var changes Changes
		for i := range 60 {
			For(f, bits)(lines, &blocks[i%2], uint64(i)*0x9e3779b97f4a7c15, ^uint64(0), &changes)
		}
	})
	bytes := Side * bits / 8
	for range 20 {
		for r := range Side {
			var line shared.Line
			line.LoadPart(lines[r*bytes:], bytes)
			for c := range Side {
				x := line.Scores()[c%bytes]
				if codes := codesOf(bits); codes != nil {
					x = int8(codes.Get(line.Scores()[:bytes], c))
				}
				if !slices.Contains(seen, x) {
					t.Fatalf("%d bits: line %d: read %d", bits, r, x)
				}
			}
		}
	}
}

// searchStep is how far lines are apart that are searched: each waits for the other goroutine.
const searchStep = 13

func searchWhileOthersRead(t *testing.T, f cpu.Family, codes *window.Codes) {
	lines := twins.Aligned(Side * codes.Line())
	for i := range Side * Side {
		codes.Put(lines[i/Side*codes.Line():], i%Side, codes.Code(0, -codes.Values))
	}
	var step atomic.Int32 // 16 for each line that is done, and how far the next one falls
	var read atomic.Int32 // the line that is being read
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { search(f, codes, lines, &step, &read) })
	for r := 0; r < Side; r += searchStep {
		read.Store(int32(r))
		for fallen := false; !fallen; {
			var line shared.Line
			line.Unpack(lines[r*codes.Line():], codes.Bits)
			limit := -min(max(int(step.Load())-r*16, 0), codes.Values)
			fallen = true
			for c, code := range line.Scores() {
				score := int(codes.Score[code])
				if score > 0 || score < limit {
					read.Store(Side)
					t.Fatalf("%d bits: code %d of line %d is %d, of score %d, not from %d to 0", codes.Bits, c, r, code, score, limit)
				}
				fallen = fallen && score == -codes.Values
			}
		}
	}
}

// search lets the scores of one line after the other fall, in one column before the others.
func search(f cpu.Family, codes *window.Codes, lines []int8, step, read *atomic.Int32) {
	var changes Changes
	var block Block
	for r := 0; r < Side; r += searchStep {
		for read.Load() < int32(r) {
			runtime.Gosched()
		}
		for v := 1; v <= codes.Values; v++ {
			for i := range block {
				block[i] = int8(codes.Code(v, 0))
			}
			step.Store(int32(r*16 + v))
			For(f, codes.Bits)(lines, &block, 1<<7, 1<<r, &changes)
			For(f, codes.Bits)(lines, &block, ^uint64(0), 1<<r, &changes)
		}
	}
}

// BenchmarkUpdate reports the time for a score or code of the given rows and columns: blocks in
// which most scores change, a few, and none, and a few columns in which two rows change.
func BenchmarkUpdate(b *testing.B) {
	for _, s := range []struct {
		name          string
		columns, rows uint64
		changes       [4]uint64 // columns changed in each fourth line
	}{
		{"dense/most", ^uint64(0), ^uint64(0), [4]uint64{1: 0x7fffffffff, 2: ^uint64(0), 3: ^uint64(0)}},
		{"dense/few", ^uint64(0), ^uint64(0), [4]uint64{1: 1 << 20}},
		{"dense/none", ^uint64(0), ^uint64(0), [4]uint64{}},
		{"column", 1 << 20, ^uint64(0), [4]uint64{}},
		{"columns", 7 << 20, ^uint64(0), [4]uint64{}},
		{"column/rows", 1 << 20, 0x20100080081, [4]uint64{}},
		{"columns/rows", 7 << 20, 0x20100080081, [4]uint64{}},
	} {
		for _, width := range widths {
			b.Run(fmt.Sprintf("%s/%d", s.name, width), func(b *testing.B) {
				benchmarkUpdate(b, width, s.columns, s.rows, s.changes)
			})
		}
	}
}

func benchmarkUpdate(b *testing.B, width int, columns, rows uint64, changes [4]uint64) {
	high, low, lines := int8(1), int8(0), twins.Aligned(Side*Side*width/8)
	if codes := codesOf(width); codes != nil { // the floor is the least one
		high, low = int8(codes.Code(1, 0)), int8(codes.Code(0, 0))
		for i := range Side * Side {
			codes.Put(lines[i/Side*codes.Line():], i%Side, codes.Code(0, -codes.Values))
		}
	}
	var blocks [2]Block
	for i := range blocks[1] {
		blocks[0][i], blocks[1][i] = low, low
		if changes[i%Side%4]>>(i/Side)&1 != 0 {
			blocks[1][i] = high
		}
	}
	if columns != ^uint64(0) {
		blocks[1][20*Side+7], blocks[1][20*Side+41] = high, high
	}
	twins.Bench(b, func(b *testing.B, f cpu.Family) {
		update, i := For(f, width), 0
		var changes Changes
		for b.Loop() {
			update(lines, &blocks[i&1], columns, rows, &changes)
			i++
		}
		places := float64(bits.OnesCount64(columns) * bits.OnesCount64(rows))
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/places, "ns/place")
	})
}

// TestExample puts two columns of a block into the three lines that there are.
// Score 2 of line 1 stays the same, as it has the value already.
func TestExample(t *testing.T) {
	var block Block
	copy(block[2*Side:], []int8{1, -2, 3, -4, 5}) // column 2
	copy(block[5*Side:], []int8{-10, 20, -30, 40, -50})
	block[6*Side] = 99 // a column not asked for

	twins.Test(t, func(t *testing.T, f cpu.Family) {
		lines := twins.Aligned(3 * Side)
		lines[1*Side+2] = 2
		lines[1*Side+5] = 77
		var changes Changes
		For(f, 8)(lines, &block, 1<<2|1<<5, ^uint64(0), &changes)
		want := twins.Aligned(3 * Side)
		want[0*Side+2], want[0*Side+5] = -1, 10
		want[1*Side+2], want[1*Side+5] = 2, -20
		want[2*Side+2], want[2*Side+5] = -3, 30
		for i := range want {
			should.Equal(t, lines[i], want[i], "score %d of line %d", i%Side, i/Side)
		}
		should.Equal(t, changes.Rows, 0b111, "changed lines")
		for r, want := range []uint64{1<<2 | 1<<5, 1 << 5, 1<<2 | 1<<5} {
			should.Equal(t, changes.Columns[r], want, "line %d: changed columns", r)
		}
	})
}

// codesOf returns the codes of the given bits, nil for scores.
func codesOf(bits int) *window.Codes {
	return map[int]*window.Codes{2: window.Two, 3: window.Three, 4: window.Four, 6: window.Six}[bits]
}

// updateNaive follows the definition, score by score or code by code. changed is by line, for all lines.
func updateNaive(bits int, lines []int8, block *Block, columns, rows uint64) (changed [Side]uint64) {
	codes := codesOf(bits)
	for r := range len(lines) / (Side * bits / 8) {
		line := lines[r*Side*bits/8:][:Side*bits/8]
		for c := range Side {
			if rows>>r&1 == 0 || columns>>c&1 == 0 {
				continue
			}
			x := block[c*Side+r]
			old, next := line[c%len(line)], -x
			if codes == nil {
				line[c] = next
			} else {
				old = int8(codes.Get(line, c))
				next = int8(codes.Next(uint8(old), uint8(x)))
				codes.Put(line, c, uint8(next))
			}
			if next != old {
				changed[r] |= 1 << c
			}
		}
	}
	return changed
}

// thinFence is memory for a thin block in front of an unreadable page.
type thinFence struct{ *guard.Region[int8] }

func newThinFence(tb testing.TB) thinFence { return thinFence{guard.New[int8](tb, window.MostThin)} }

// block makes a block with masks; its codes are those that next draws.
func (m thinFence) block(masks []uint64, next func() uint64) window.Thin {
	b := window.NewThin(m.At(guard.High, window.ThinSize(masks)), masks)
	for line, mask := range masks {
		for i := range bits.OnesCount64(mask) {
			b[b.At(line)+i] = int8(window.Eight.All[next()%uint64(len(window.Eight.All))])
		}
	}
	return b
}

// updateThinNaive does what UpdateFunc says, position by position.
func updateThinNaive(b window.Thin, block *Block, columns, rows uint64) (changed [Side]uint64) {
	for line := range b.Lines() {
		at := b.At(line)
		for mask := b.Mask(line); mask != 0; mask &= mask - 1 {
			if c := bits.TrailingZeros64(mask); columns>>c&1 != 0 && rows>>line&1 != 0 {
				old := uint8(b[at])
				b[at] = int8(window.Eight.Next(old, uint8(block[c*Side+line])))
				if uint8(b[at]) != old {
					changed[line] |= 1 << c
				}
			}
			at++
		}
	}
	return changed
}

// check compares a kernel with the definition.
func (m thinFence) check(t *testing.T, f cpu.Family, masks []uint64, block *Block, columns, rows uint64, next func() uint64) {
	t.Helper()
	b := m.block(masks, next)
	want := slices.Clone(b)
	changed := updateThinNaive(want, block, columns, rows)
	got, before := Changes{Rows: 0x5555}, *block
	ForThin(f)(b, block, columns, rows, &got)
	must.List(t, b, want, "%v, columns %x, rows %x, masks %x", f, columns, rows, masks)
	checkChanges(t, f.String(), &got, &changed)
	must.Hold(t, *block == before, "%v: block written", f)
}

// leastThinCodes fills a block with codes and window.None.
func leastThinCodes(block *Block, next func() uint64) {
	for i := range block {
		block[i] = window.None
		if x := next(); x%8 != 0 {
			block[i] = int8(window.Eight.All[x/8%uint64(len(window.Eight.All))])
		}
	}
}

func TestThinTwins(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng, m := tries.Rand(t), newThinFence(t)
		var block Block
		for range 30 {
			leastThinCodes(&block, rng.Uint64)
			for lines := 1; lines <= Side; lines += 1 + rng.IntN(5) {
				masks := make([]uint64, lines)
				for i := range masks {
					masks[i] = rng.Uint64() & rng.Uint64() >> rng.IntN(64) << rng.IntN(64)
				}
				masks[rng.IntN(lines)] = ^uint64(0)
				columns := []uint64{rng.Uint64(), 1 << rng.IntN(64), ^uint64(0), 0}[rng.IntN(4)]
				m.check(t, f, masks, &block, columns, []uint64{^uint64(0), rng.Uint64(), 0}[rng.IntN(3)], rng.Uint64)
			}
		}
	})
}

// TestThinEveryCode updates each code by each least one.
func TestThinEveryCode(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		m := newThinFence(t)
		for _, least := range append(slices.Clone(window.Eight.All), window.None) {
			var block Block
			for i := range block {
				block[i] = int8(least)
			}
			code := uint64(0)
			next := func() uint64 {
				code++
				return code
			}
			m.check(t, f, slices.Repeat([]uint64{^uint64(0)}, 4), &block, ^uint64(0), ^uint64(0), next)
		}
	})
}

// FuzzThinTwins holds every family against the definition.
func FuzzThinTwins(f *testing.F) {
	f.Add(uint64(1), uint8(64), ^uint64(0), ^uint64(0))
	f.Add(uint64(2), uint8(3), uint64(5), uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64, lines uint8, columns, rows uint64) {
		for _, family := range cpu.Available() {
			rng := rand.New(rand.NewPCG(seed, 0))
			masks := make([]uint64, 1+lines%Side)
			for i := range masks {
				masks[i] = rng.Uint64() & rng.Uint64()
			}
			var block Block
			leastThinCodes(&block, rng.Uint64)
			newThinFence(t).check(t, family, masks, &block, columns, rows, rng.Uint64)
		}
	})
}
