package compress

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"grenier/internal/testkit/guard"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/twins"
	"grenier/kernels/cpu"
	"grenier/kernels/window"
)

// apart is the distance of rows of bytes when they are rows of thin blocks: two or three of them are in a block.
const apart = 31

// thinCall is a call of leastThin, with one of the kernel for bytes that means the same.
type thinCall struct {
	*call
	routes  []Route // to thin blocks
	program Program
}

// thin makes a call for bytes one for thin blocks, in memory, which is aligned: of the scores, it
// searches those that mask returns, and sets all others to Zero.
func (d dealer) thin(c *call, mask func() uint64, memory func(matrix, n int) []int8) *thinCall {
	x := &thinCall{call: c, program: Program{Groups: c.program.Groups}}
	for _, row := range c.program.Rows {
		x.program.Rows = append(x.program.Rows, row*apart)
	}
	for i := range c.offers {
		c.offers[i] = window.None
	}
	thin := map[*int8]Route{}
	for _, r := range c.routes {
		first := unsafe.SliceData(r.Scores)
		made, ok := thin[first]
		if !ok {
			made = d.thinMatrix(r, mask, func(n int) []int8 { return memory(len(thin), n) })
			thin[first] = made
		}
		made.Words, made.First = r.Words, r.First
		x.routes = append(x.routes, made)
	}
	return x
}

// thinMatrix makes thin blocks of the lines of bytes that a route leads to.
func (d dealer) thinMatrix(r Route, mask func() uint64, memory func(n int) []int8) (made Route) {
	rows := max(1, r.Stride/Side)
	panels := (len(r.Scores) + rows*Side - 1) / (rows * Side)
	var all []int8
	made.Stride = ((rows-1)*apart + Side) / Side
	for panel := range panels {
		for first := 0; first < (rows-1)*apart+1; first += Side {
			masks := make([]uint64, min(Side, (rows-1)*apart+1-first))
			for i := range masks {
				masks[i] = mask()
			}
			b := window.NewThin(make([]int8, window.MostThin), masks)
			for codes, i := b.Codes(), 0; i < len(codes); i++ {
				codes[i] = int8(window.Eight.All[d.below(len(window.Eight.All))])
			}
			for i := range masks {
				at := (panel*rows + (first+i)/apart) * Side
				if (first+i)%apart == 0 && at < len(r.Scores) {
					expand(r.Scores[at:][:Side], b, i)
				}
			}
			made.Blocks = append(made.Blocks, uint64(len(all)))
			all = append(all, b...)
		}
	}
	made.Scores = memory(len(all) + window.SlackThin)
	copy(made.Scores, all)
	return made
}

// expand sets scores to those of a line of a thin block.
func expand(scores []int8, b window.Thin, line int) {
	codes := b[b.At(line):]
	for c := range scores {
		scores[c] = int8(window.Eight.Zero)
		if b.Mask(line)>>c&1 != 0 {
			scores[c], codes = codes[0], codes[1:]
		}
	}
}

// check compares kernels for thin blocks with the definition of those for bytes.
func (x *thinCall) check(t *testing.T, f cpu.Family) {
	t.Helper()
	want, got := x.dst, x.dst
	leastGeneric(8)(nil, &want, &x.offers, x.columns, &x.call.program, x.call.routes, x.chunk, nil)
	before := scoresOf(x.routes)
	ForThin(f)(new(Scratch), &got, nil, x.columns, &x.program, x.routes, x.chunk, nil)
	must.Equal(t, got, want, "%v: columns %x", f, x.columns)
	must.Hold(t, slices.EqualFunc(x.routes, before, sameScores), "%v: scores written", f)
}

// thinMemory returns memory for two matrices, at the end of what is readable.
func thinMemory(t *testing.T) func(matrix, n int) []int8 {
	const most = 4*3*window.MostThin + window.SlackThin
	regions := []*guard.Region[int8]{guard.New[int8](t, most), guard.New[int8](t, most)}
	return func(matrix, n int) []int8 { return regions[matrix].At(guard.High, n) }
}

func (d dealer) thinCall(memory func(matrix, n int) []int8) *thinCall {
	c := d.call(8, func(_, n int) []int8 { return twins.Aligned(n) })
	return d.thin(c, d.mask, memory)
}

func TestThinTwins(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		d, memory := dealer{tries.Rand(t).Uint64}, thinMemory(t)
		for range 100 {
			d.thinCall(memory).check(t, f)
		}
		least, x := ForThin(f), d.thinCall(memory)
		n := testing.AllocsPerRun(10, func() { least(nil, &x.dst, nil, x.columns, &x.program, x.routes, x.chunk, nil) })
		must.Equal(t, n, 0, "allocations")
	})
}

// FuzzThinTwins is FuzzTwins for thin blocks.
func FuzzThinTwins(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("any bytes make masks, too"))
	f.Fuzz(func(t *testing.T, bytes []byte) {
		memory := thinMemory(t)
		for _, family := range cpu.Available() {
			dealt(bytes).thinCall(memory).check(t, family)
		}
	})
}

// TestThinWhileOthersWrite reads codes while another goroutine changes them: each is an old one or a new one.
func TestThinWhileOthersWrite(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng := tries.Rand(t)
		mask, low, high := rng.Uint64()|1, int8(window.Eight.All[0]), int8(window.Eight.All[250])
		b := window.NewThin(twins.Aligned(window.MostThin), slices.Repeat([]uint64{mask}, Side))
		x := &thinCall{
			program: Program{Groups: []Group{{Columns: ^uint64(0)}}},
			routes: []Route{{
				Scores: b[:cap(b)], Stride: 1, Blocks: []uint64{0},
				Words: []Word{{Pick: ^uint64(0), Place: ^uint64(0)}}, First: []uint32{0, 1},
			}},
		}
		for row := range uint32(Side) {
			x.program.Rows = append(x.program.Rows, row)
		}
		write := func(code int8) {
			var near window.ThinCodes
			for line := range Side {
				for i := range near.Load(b, line) {
					near.Load(b, line)[i] = code
					near.Store(b, line)
				}
			}
		}
		write(low)
		var wg sync.WaitGroup
		wg.Go(func() {
			for range 3 {
				write(high)
				write(low)
			}
		})
		for range 30 {
			var got Block
			ForThin(f)(new(Scratch), &got, nil, ^uint64(0), &x.program, x.routes, 0, nil)
			for i, code := range got {
				if mask>>(i%Side)&1 == 0 && code != int8(window.Eight.Zero) || mask>>(i%Side)&1 != 0 && code != low && code != high {
					t.Fatalf("code %d: got %d, mask %x", i, code, mask)
				}
			}
		}
		wg.Wait()
	})
}

// BenchmarkThin reports the time for a word of a column of thin blocks in the cache, of which one position of ten, or of
// forty, is searched.
func BenchmarkThin(b *testing.B) {
	for _, of := range []int{10, 40} {
		for _, f := range cpu.Available() {
			b.Run(fmt.Sprintf("searched=1/%d/%v", of, f), func(b *testing.B) {
				d, columns := dealer{rand.New(rand.NewPCG(1, 2)).Uint64}, uint64(1<<52-1)
				mask := func() (m uint64) {
					for i := range Side {
						if d.below(of) == 0 {
							m |= 1 << i
						}
					}
					return m
				}
				x := d.thin(newBench(4, 8), mask, func(_, n int) []int8 { return twins.Aligned(n) })
				for b.Loop() {
					ForThin(f)(new(Scratch), &x.dst, nil, columns, &x.program, x.routes, 0, nil)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(3*bits.OnesCount64(columns)), "ns/word")
			})
		}
	}
}

// fenced returns a copy of items that ends at an unreadable page. Items hold no pointers.
func fenced[T Word | Group | uint32](tb testing.TB, items []T) []T {
	if len(items) == 0 {
		return nil
	}
	var item T
	bytes := guard.New[uint8](tb, len(items)*int(unsafe.Sizeof(item))).At(guard.High, len(items)*int(unsafe.Sizeof(item)))
	copied := unsafe.Slice((*T)(unsafe.Pointer(&bytes[0])), len(items))
	copy(copied, items)
	return copied
}

// fence puts what a kernel reads to find scores at the end of memory.
func (c *call) fence(tb testing.TB) {
	c.program.Groups = fenced(tb, c.program.Groups)
	c.program.Rows = fenced(tb, c.program.Rows)
	for i := range c.routes {
		c.routes[i].Words = fenced(tb, c.routes[i].Words)
		c.routes[i].First = fenced(tb, c.routes[i].First)
	}
}

// print returns all that a kernel could change besides offers, as text.
func (c *call) print(lines []int8) string {
	return fmt.Sprint(c.columns, c.program, c.routes, c.chunk, lines)
}

// TestLongFetchChangesNothing fetches random blocks, with all that is read at the edges of memory.
func TestLongFetchChangesNothing(t *testing.T) {
	eachTwin(t, func(t *testing.T, f cpu.Family, width int) {
		d, m := dealer{tries.Rand(t).Uint64}, newFence(t)
		for i := range tries.Runs(500) {
			end := guard.Ends[i%2]
			c := d.call(width, m.memory(end))
			c.fence(t)
			lines, offers := m.dst.At(end, d.below(Side+1)*lineBytes(width)), (*Block)(m.offers.Copy(end, c.offers[:]))
			d.scores(lines)
			before := c.print(lines)
			FetchFor(f, width)(c.blocks(offers), c.columns, &c.program, c.routes, c.chunk, lines, d.mask())
			must.Hold(t, c.print(lines) == before && *offers == c.offers,
				"something is written; columns %x of %+v, chunk %d", c.columns, c.program.Groups, c.chunk)
		}
	})
}

// TestLongFetchAsksForTheLast has one column, of the last group, with the last row, word
// and line there are; in short runs it is the first column, the 22nd and so on.
func TestLongFetchAsksForTheLast(t *testing.T) {
	eachTwin(t, func(t *testing.T, f cpu.Family, width int) {
		m, line := newFence(t), lineBytes(width)
		scores := m.memory(guard.High)(0, 5*line)
		for column := range Side {
			if !tries.Long() && column%21 > 0 {
				continue
			}
			c := &call{
				columns: 1 << column,
				program: Program{
					Groups: []Group{{Columns: ^uint64(1 << column), First: 0}, {Columns: 1 << column, First: Side - 1}},
					Rows:   append(make([]uint32, Side-1), 4),
				},
				routes: []Route{{Scores: scores, Stride: 5 * line, Words: []Word{{Pick: 1, Place: 1}}, First: []uint32{0, 0, 1}}},
				chunk:  1,
				width:  width,
			}
			c.fence(t)
			offers, lines := (*Block)(m.offers.At(guard.High, Side*Side)), m.dst.At(guard.High, Side*line)
			before := c.print(lines)
			FetchFor(f, width)(c.blocks(offers), c.columns, &c.program, c.routes, c.chunk, lines, 1<<(Side-1))
			must.Equal(t, c.print(lines), before, "column %d", column)
		}
	})
}
