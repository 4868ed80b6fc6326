package compress

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"grenier/internal/testkit/guard"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/twins"
	"grenier/kernels/cpu"
	"grenier/kernels/internal/shared"
	"grenier/kernels/transpose"
	"grenier/kernels/window"
)

// widths are all of them.
var widths = []int{2, 3, 4, 6, 8}

// eachFamily runs a subtest for every family that can run here, under the name of the width.
func eachFamily(t *testing.T, width int, run func(t *testing.T, f cpu.Family)) {
	t.Run(fmt.Sprintf("%d bits", width), func(t *testing.T) { twins.Test(t, run) })
}

// eachTwin runs a subtest for every width and family that can run here.
func eachTwin(t *testing.T, run func(t *testing.T, f cpu.Family, width int)) {
	for _, width := range widths {
		eachFamily(t, width, func(t *testing.T, f cpu.Family) { run(t, f, width) })
	}
}

// TestExample computes two columns by hand. Both play the same move. It leads from row 1 to score 0, from row 3 to
// score 1 and from row 4 to score 5 of panel 0, and from row 6 to score 2 of panel 1; it does not help the other rows.
// Column 0 reaches row 2 of the matrix that holds the children, column 9 row 1.
func TestExample(t *testing.T) {
	const rows = 3 // in a panel of the children
	scores := twins.Aligned(2 * rows * Side)
	line := func(panel, row int) []int8 { return scores[(panel*rows+row)*Side:] }
	copy(line(0, 2), []int8{10, 20, 30, 40, 50, 60})
	copy(line(1, 2), []int8{-1, -2, -3, -4})
	copy(line(0, 1), []int8{7, 7, 9, 9, 9, 1})
	copy(line(1, 1), []int8{4, 4, 4, 4})

	route := Route{
		Scores: scores,
		Stride: rows * Side,
		Words:  []Word{{Panel: 0, Pick: 0b100011, Place: 0b0011010}, {Panel: 1, Pick: 0b000100, Place: 0b1000000}},
		First:  []uint32{0, 2}, // one chunk, with both words
	}
	program := Program{
		Groups: []Group{{Columns: 1<<0 | 1<<9, Route: 0, First: 0}},
		Rows:   []uint32{2, 1}, // of columns 0 and 9
	}

	var offers Block
	copy(offers[0*Side:], []int8{100, 100, 100, 5, 100, 100, 100, 100})
	copy(offers[9*Side:], []int8{-5, 6, 8, 8, 8, 8, 8, 8})
	var want Block
	copy(want[0*Side:], []int8{100, 10, 100, 5, 60, 100, -3, 100})
	copy(want[9*Side:], []int8{-5, 6, 8, 7, 1, 8, 4, 8})

	twins.Test(t, func(t *testing.T, f cpu.Family) {
		var got Block
		For(f, 8)(new(Scratch), &got, &offers, 1<<0|1<<9, &program, []Route{route}, 0, nil)
		for c := range Side {
			g, w := got[c*Side:][:Side], want[c*Side:][:Side]
			for r := range w {
				if g[r] != w[r] {
					t.Errorf("row %d of column %d: got %d, want %d", r, c, g[r], w[r])
				}
			}
		}
	})
}

// call is what a kernel is called with, but for the memory of blocks.
type call struct {
	dst, offers Block // dst as it is before
	columns     uint64
	program     Program
	routes      []Route
	chunk       int
	width       int
}

// blocks returns the offers as a kernel gets them: codes have none.
func (c *call) blocks(offers *Block) *Block {
	if c.width == 8 {
		return offers
	}
	return nil
}

// dealer makes calls out of random numbers.
type dealer struct{ next func() uint64 }

func (d dealer) below(n int) int { return int(d.next() % uint64(n)) }

func (d dealer) scores(s []int8) {
	for i := range s {
		if i%8 == 0 {
			x := d.next()
			for k := range s[i:min(i+8, len(s))] {
				s[i+k] = int8(x >> (8 * k))
			}
		}
	}
}

// mask returns anything from no bits to all of them: single ones, runs, and noise.
func (d dealer) mask() uint64 {
	switch x := d.next(); d.below(8) {
	case 0:
		return 0
	case 1:
		return ^uint64(0)
	case 2:
		return 1 << (x % 64)
	case 3:
		return x & (x>>32 | x<<32)
	case 4:
		return x
	case 5:
		return x | d.next()
	default:
		return ^uint64(0) >> (x % 64) << (x >> 8 % 64)
	}
}

// word returns a word of as many picks as places.
func (d dealer) word(panels, chunk int) Word {
	w := Word{Pick: d.mask(), Place: d.mask(), Panel: uint32(d.below(panels)), Chunk: uint32(chunk)}
	if d.below(4) == 0 { // a shift, as moves that sow the same everywhere
		w.Place = w.Pick << d.below(9)
	}
	w.Pick, w.Place = trim(w.Pick, bits.OnesCount64(w.Place)), trim(w.Place, bits.OnesCount64(w.Pick))
	return w
}

// trim clears the lowest bits of x until not more than n are left.
func trim(x uint64, n int) uint64 {
	for bits.OnesCount64(x) > n {
		x &= x - 1
	}
	return x
}

// call deals a program of up to six groups and as many routes to one or two matrices, whose scores memory returns.
func (d dealer) call(width int, memory func(matrix, n int) []int8) *call {
	line := lineBytes(width)
	type matrix struct {
		scores               []int8
		panels, rows, stride int
	}
	var matrices []matrix
	for i := range 1 + d.below(2) {
		m := matrix{panels: 1 + d.below(4), rows: 1 + d.below(5)}
		m.stride = (m.rows + d.below(3)) * line
		m.scores = memory(i, (m.panels-1)*m.stride+m.rows*line)
		d.scores(m.scores)
		matrices = append(matrices, m)
	}
	c := &call{columns: d.mask(), width: width}
	d.scores(c.dst[:])
	d.scores(c.offers[:])
	chunks := 1 + d.below(3)
	c.chunk = d.below(chunks)
	var to []matrix // by route
	for range 1 + d.below(4) {
		m := matrices[d.below(len(matrices))]
		r := Route{Scores: m.scores, Stride: m.stride, First: []uint32{0}}
		for chunk := range chunks {
			for range d.below(8) {
				r.Words = append(r.Words, d.word(m.panels, chunk))
			}
			r.First = append(r.First, uint32(len(r.Words)))
		}
		c.routes, to = append(c.routes, r), append(to, m)
	}
	for range d.below(7) {
		g := Group{Columns: d.mask(), Route: uint32(d.below(len(c.routes))), First: uint32(len(c.program.Rows))}
		c.program.Groups = append(c.program.Groups, g)
		for range bits.OnesCount64(g.Columns) {
			c.program.Rows = append(c.program.Rows, uint32(d.below(to[g.Route].rows)))
		}
	}
	return c
}

// leastNaive follows the definition: it walks over the bits of each word of each
// column, with a finger on the scores that it picks and one on the places.
func leastNaive(dst, offers *Block, columns uint64, p *Program, routes []Route, chunk, width int) {
	for c := range Side {
		if columns>>c&1 == 0 {
			continue
		}
		for r := range Side {
			dst[c*Side+r] = window.None
			if width == 8 {
				dst[c*Side+r] = offers[c*Side+r]
			}
		}
		for _, g := range p.Groups {
			if g.Columns>>c&1 == 0 {
				continue
			}
			index := 0 // of c among the columns of g
			for before := range c {
				index += int(g.Columns >> before & 1)
			}
			row := int(p.Rows[int(g.First)+index])
			route := routes[g.Route]
			for w := route.First[chunk]; w < route.First[chunk+1]; w++ {
				placeNaive(dst, c, route.Words[w], route, row, width)
			}
		}
	}
}

func placeNaive(dst *Block, c int, w Word, route Route, row, width int) {
	from := 0
	for to := range Side {
		if w.Place>>to&1 == 0 {
			continue
		}
		for w.Pick>>from&1 == 0 {
			from++
		}
		place := &dst[c*Side+to]
		*place = min(*place, scoreNaive(route.Scores[int(w.Panel)*route.Stride:], row, from, width))
		from++
	}
}

// codes are those of each width but for bytes.
var codes = map[int]*window.Codes{2: window.Two, 3: window.Three, 4: window.Four, 6: window.Six}

// scoreNaive returns a score of a row of a panel.
func scoreNaive(panel []int8, row, i, width int) int8 {
	if width == 8 {
		return panel[row*Side+i]
	}
	return int8(codes[width].Get(panel[row*lineBytes(width):], i))
}

func TestOtherWidthsPanic(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		for _, width := range []int{-2, 0, 1, 5, 7, 9, 16} {
			must.Panic(t, func() { For(f, width) })
			must.Panic(t, func() { FetchFor(f, width) })
		}
	})
}

// fence holds the memory of blocks and matrices, between unreadable pages, and what kernels keep from call to call.
type fence struct {
	scratch     Scratch
	dst, offers *guard.Region[int8]
	matrices    [2]*guard.Region[int8]
}

func newFence(tb testing.TB) *fence {
	const scores = 32 * Side // of a matrix, at most
	return &fence{
		Scratch{}, guard.New[int8](tb, Side*Side), guard.New[int8](tb, Side*Side),
		[2]*guard.Region[int8]{guard.New[int8](tb, scores), guard.New[int8](tb, scores)},
	}
}

// memory returns the scores of a matrix at an end of its memory.
func (m *fence) memory(end guard.End) func(matrix, n int) []int8 {
	return func(matrix, n int) []int8 { return m.matrices[matrix].At(end, n) }
}

// scoresOf returns copies of the scores that routes lead to.
func scoresOf(routes []Route) (all [][]int8) {
	for _, r := range routes {
		all = append(all, slices.Clone(r.Scores))
	}
	return all
}

func sameScores(r Route, scores []int8) bool { return slices.Equal(r.Scores, scores) }

// check compares a kernel with the definition: the whole dst, and that nothing else is written. Blocks fill a page, if
// pages have their usual size: unreadable ones are on both sides then.
func (m *fence) check(t *testing.T, f cpu.Family, c *call, end guard.End) {
	t.Helper()
	dst, offers := (*Block)(m.dst.Copy(end, c.dst[:])), (*Block)(m.offers.Copy(end, c.offers[:]))
	want := c.dst
	leastNaive(&want, &c.offers, c.columns, &c.program, c.routes, c.chunk, c.width)
	before := scoresOf(c.routes)
	for range 2 { // the second one knows the words
		For(f, c.width)(&m.scratch, dst, c.blocks(offers), c.columns, &c.program, c.routes, c.chunk, c.routes[0].Scores)
	}
	for i, got := range dst {
		if got != want[i] {
			t.Fatalf("%v, %d bits: row %d of column %d: got %d, want %d; columns %x of %+v, chunk %d",
				f, c.width, i%Side, i/Side, got, want[i], c.columns, c.program.Groups, c.chunk)
		}
	}
	must.Not(t, *offers != c.offers || !m.dst.Intact() || !m.offers.Intact(), "%v: offers are written, or what is around them", f)
	must.Hold(t, slices.EqualFunc(c.routes, before, sameScores), "%v: scores written", f)
}

func TestLongTwins(t *testing.T) {
	eachTwin(t, func(t *testing.T, f cpu.Family, width int) {
		d, m := dealer{tries.Rand(t).Uint64}, newFence(t)
		for range tries.Pick(40, 313, 2500) {
			for _, end := range guard.Ends {
				m.check(t, f, d.call(width, m.memory(end)), end)
			}
		}
	})
}

// TestLongEveryScore moves each score of a line to each row, alone; short runs move each fifth one, or so.
func TestLongEveryScore(t *testing.T) {
	eachTwin(t, func(t *testing.T, f cpu.Family, width int) {
		d, m := dealer{tries.Rand(t).Uint64}, newFence(t)
		scores := m.memory(guard.High)(0, lineBytes(width))
		c := &call{columns: 1 << 5, routes: []Route{{Scores: scores, First: []uint32{0, 1}}}, width: width}
		c.program = Program{Groups: []Group{{Columns: 1 << 5}}, Rows: []uint32{0}}
		d.scores(c.routes[0].Scores)
		for i := range c.offers {
			c.offers[i] = 127
		}
		for from := range Side {
			for to := d.below(tries.More(5, 1)); to < Side; to += tries.More(5, 1) {
				c.routes[0].Words = []Word{{Pick: 1 << from, Place: 1 << to}}
				m.check(t, f, c, guard.High)
			}
		}
	})
}

func TestNoAllocations(t *testing.T) {
	eachTwin(t, func(t *testing.T, f cpu.Family, width int) {
		least, fetch, c := For(f, width), FetchFor(f, width), newBench(3, width)
		lines := twins.Aligned(Side * lineBytes(width))
		var scratch Scratch
		var dst, offers Block
		n := testing.AllocsPerRun(10, func() {
			least(&scratch, &dst, c.blocks(&offers), ^uint64(0), &c.program, c.routes, 0, nil)
			fetch(c.blocks(&offers), ^uint64(0), &c.program, c.routes, 0, lines, ^uint64(0))
		})
		must.Equal(t, n, 0, "allocations")
	})
}

// TestCodesFollowScores gathers scores as bytes, and as codes of what a window shows of
// them: the least code shows the least score.
func TestCodesFollowScores(t *testing.T) {
	for width, cs := range codes {
		eachFamily(t, width, func(t *testing.T, f cpu.Family) {
			rng := tries.Rand(t)
			for range 40 {
				c, base := dealer{rng.Uint64}.call(8, func(_, n int) []int8 { return twins.Aligned(n) }), rng.IntN(48)
				for i := range c.offers {
					c.offers[i] = window.None
				}
				var packed []Route
				for _, r := range c.routes {
					for i := range r.Scores {
						r.Scores[i] %= 49
					}
					r.Scores, r.Stride = pack(rng, width, base, r.Scores), r.Stride*width/8
					packed = append(packed, r)
				}
				least, got := c.dst, c.dst
				leastGeneric(8)(nil, &least, &c.offers, c.columns, &c.program, c.routes, c.chunk, nil)
				For(f, width)(new(Scratch), &got, nil, c.columns, &c.program, packed, c.chunk, nil)
				for i, score := range least {
					shown, want := int(got[i]), int(score) // what is not asked for, or has no score
					if c.columns>>(i/Side)&1 != 0 && score != window.None {
						shown, want = int(cs.Score[got[i]]), clip(score, base, cs.Values)
					}
					if shown != want {
						t.Fatalf("position %d: got code %d of score %d, want score %d", i, got[i], shown, want)
					}
				}
			}
		})
	}
}

// clip returns what a window shows of a score.
func clip(score int8, base, values int) int {
	s := int(score)
	return min(max(s-base, 0), values) + max(min(s+base, 0), -values)
}

// pack returns codes of what a window shows of scores, with random floors. Both start at a multiple of 64 bytes.
func pack(rng *rand.Rand, width, base int, scores []int8) []int8 {
	cs, packed := codes[width], twins.Aligned(len(scores)*width/8)
	for i, score := range scores {
		shown, floor := clip(score, base, cs.Values), 0
		if shown <= 0 {
			floor = rng.IntN(shown+cs.Values+1) - cs.Values
		}
		cs.Put(packed[i/Side*cs.Line():], i%Side, cs.Code(shown, floor))
	}
	return packed
}

// dealt returns a dealer whose first random numbers are bytes, eight each.
func dealt(bytes []byte) dealer {
	rest := rand.NewPCG(1, uint64(len(bytes)))
	return dealer{func() uint64 {
		if len(bytes) < 8 {
			return rest.Uint64()
		}
		x := uint64(0)
		for _, b := range bytes[:8] {
			x = x<<8 | uint64(b)
		}
		bytes = bytes[8:]
		return x
	}}
}

// FuzzTwins holds every family against the definition. The bytes are the random
// numbers of the dealer, eight each, and random ones after that.
func FuzzTwins(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("any bytes make a program: that is what the remainders are for"))
	f.Add(slices.Repeat([]byte{255, 0, 255, 255, 1, 2, 3, 4}, 70))
	f.Fuzz(func(t *testing.T, bytes []byte) {
		m, d := newFence(t), dealt(bytes)
		for _, end := range guard.Ends {
			c := d.call(widths[d.below(len(widths))], m.memory(end))
			for _, family := range cpu.Available() {
				m.check(t, family, c, end)
			}
		}
	})
}

// TestWhileOthersWrite reads lines that another goroutine changes, up and down by ten: each result must be one of those
// or between them. The race detector watches the generic kernels only.
func TestWhileOthersWrite(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		c := newBench(Side, 8)
		scores := c.routes[0].Scores
		var low, high Block // a block of children, column by column, negated
		for i := range low {
			r, s := i%Side, i/Side
			scores[r*Side+s] = scores[r*Side+s] / 2
			low[i] = -scores[r*Side+s]
			high[i] = low[i] - 10
		}
		for i := range c.offers {
			c.offers[i] = 127
		}
		var least, most Block
		leastNaive(&least, &c.offers, ^uint64(0), &c.program, c.routes, 0, 8)
		var changes transpose.Changes
		update := transpose.For(f, 8)
		update(scores[:Side*Side], &high, ^uint64(0), ^uint64(0), &changes)
		leastNaive(&most, &c.offers, ^uint64(0), &c.program, c.routes, 0, 8)

		c.staysBetween(t, f, &least, &most, func() {
			for i := range 300 {
				update(scores[:Side*Side], []*Block{&low, &high}[i%2], uint64(i)*0x9e3779b97f4a7c15, ^uint64(0), &changes)
			}
		})
	})
}

// staysBetween calls a kernel while another goroutine writes.
func (c *call) staysBetween(t *testing.T, f cpu.Family, least, most *Block, write func()) {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(write)
	for range 100 {
		var got Block
		For(f, c.width)(new(Scratch), &got, c.blocks(&c.offers), ^uint64(0), &c.program, c.routes, 0, nil)
		for i := range got {
			if got[i] < least[i] || got[i] > most[i] {
				t.Fatalf("row %d of column %d: got %d, want %d to %d", i%Side, i/Side, got[i], least[i], most[i])
			}
		}
	}
}

// TestWhileOthersWriteCodes reads lines while another goroutine sets and clears the lowest bit of each code.
func TestWhileOthersWriteCodes(t *testing.T) {
	for width, lowest := range map[int]int8{2: 0x55, 3: 0x55, 4: 0x11, 6: 0x11} {
		low := lineBytes(width &^ 1) // bytes of a line with lowest bits
		if width == 6 {
			low = lineBytes(4)
		}
		eachFamily(t, width, func(t *testing.T, f cpu.Family) {
			c := newBench(Side, width)
			scores := c.routes[0].Scores // of all routes
			write := func(clear, set int8) {
				var line shared.Line
				for at := 0; at < len(scores); at += lineBytes(width) {
					line.LoadPart(scores[at:], low)
					for i := range line.Scores() {
						line.Scores()[i] = line.Scores()[i]&^clear | set
					}
					line.StorePart(scores[at:], low)
				}
			}
			var least, most Block
			write(0, lowest)
			leastNaive(&most, nil, ^uint64(0), &c.program, c.routes, 0, width)
			write(lowest, 0)
			leastNaive(&least, nil, ^uint64(0), &c.program, c.routes, 0, width)

			c.staysBetween(t, f, &least, &most, func() {
				for range 100 {
					write(0, lowest)
					write(lowest, 0)
				}
			})
		})
	}
}

// TestLongSecondPartFirst reads codes of two parts while another goroutine raises both, the first one
// first: the second must never be newer. The two are in different lines of the cache.
func TestLongSecondPartFirst(t *testing.T) {
	for width, p := range map[int]struct {
		first, second []int8                               // bytes of each part, by step
		steps         func(code int8) (first, second int8) // that are seen of each
	}{
		3: {[]int8{0, 0x55}, []int8{0, -1}, func(code int8) (int8, int8) { return code & 1, (code>>1 ^ code>>2) & 1 }},
		6: {[]int8{0, 0x11, 0x22, 0x33}, []int8{0, 0x55, -0x56, -1}, func(code int8) (int8, int8) { return code & 15, code >> 4 }},
	} {
		const row = 2
		size, low := lineBytes(width), lineBytes(map[int]int{3: 2, 6: 4}[width])
		eachFamily(t, width, func(t *testing.T, f cpu.Family) {
			scores := twins.Aligned((row + 1) * size)
			line := scores[row*size:]
			write := func(step int) {
				fill(line[:low], p.first[step])
				fill(line[low:size], p.second[step])
			}
			c := &call{
				program: Program{Groups: []Group{{Columns: ^uint64(0)}}, Rows: slices.Repeat([]uint32{row}, Side)},
				routes:  []Route{{Scores: scores, Words: []Word{{Pick: ^uint64(0), Place: ^uint64(0)}}, First: []uint32{0, 1}}},
			}
			for range tries.Pick(25, 250, 2000) {
				write(0)
				var written atomic.Bool
				var wg sync.WaitGroup
				wg.Go(func() {
					for step := range p.first {
						for range 5 {
							write(step)
						}
					}
					written.Store(true)
				})
				for !written.Load() {
					var got Block
					For(f, width)(new(Scratch), &got, nil, ^uint64(0), &c.program, c.routes, 0, nil)
					for i, code := range got {
						if first, second := p.steps(code); second > first {
							t.Fatalf("code %d: got %d of the second part, newer than the first one: %d", i, second, first)
						}
					}
				}
				wg.Wait()
			}
		})
	}
}

// fill sets all codes of a part of a line, whose bytes are then the same.
func fill(part []int8, bytes int8) {
	var line shared.Line
	for i := range line.Scores() {
		line.Scores()[i] = bytes
	}
	line.StorePart(part, len(part))
}

// newBench makes a call of what is common: four groups of 13 columns and three
// words each, which read panels of the given number of lines.
func newBench(lines, width int) *call {
	rng := rand.New(rand.NewPCG(1, 2))
	c := &call{width: width}
	stride := lines * lineBytes(width)
	scores := twins.Aligned(3 * stride)
	twins.Fill(rng, scores)
	for g := range 4 {
		c.program.Groups = append(c.program.Groups, Group{
			Columns: (1<<13 - 1) << (13 * g), Route: uint32(g), First: uint32(13 * g),
		})
		for range 13 {
			c.program.Rows = append(c.program.Rows, uint32(rng.IntN(lines)))
		}
		r := Route{Scores: scores, Stride: stride, First: []uint32{0, 3}}
		for w := range 3 {
			pick := rng.Uint64() | rng.Uint64()
			place := uint64(1<<21-1) << (21 * w)
			r.Words = append(r.Words, Word{Pick: trim(pick, 21), Place: place, Panel: uint32(w)})
			r.Words[w].Place = trim(place, bits.OnesCount64(r.Words[w].Pick))
		}
		c.routes = append(c.routes, r)
	}
	return c
}

// BenchmarkLeast reports the time for a word of a column and for a score that is computed, for as many lines as fill
// the caches of the first and second level with bytes, all columns and a single one.
func BenchmarkLeast(b *testing.B) {
	for _, at := range []struct {
		name  string
		lines int
	}{{"L1", 20}, {"L2", 1200}} {
		for _, ask := range []struct {
			name    string
			columns uint64
		}{{"dense", 1<<52 - 1}, {"sparse", 1 << 20}} {
			b.Run(at.name+"/"+ask.name, func(b *testing.B) {
				words := 3 * bits.OnesCount64(ask.columns)
				for _, width := range widths {
					b.Run(fmt.Sprintf("%d bits", width), func(b *testing.B) {
						twins.Bench(b, func(b *testing.B, f cpu.Family) {
							least, c, scratch := For(f, width), newBench(at.lines, width), Scratch{}
							for b.Loop() {
								least(&scratch, &c.dst, c.blocks(&c.offers), ask.columns, &c.program, c.routes, 0, nil)
							}
							ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
							b.ReportMetric(ns/float64(words), "ns/word")
							b.ReportMetric(ns/float64(bits.OnesCount64(ask.columns)*Side), "ns/score")
						})
					})
				}
			})
		}
	}
}
