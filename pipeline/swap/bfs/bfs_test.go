package bfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/swaptest"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/io/workfile"
	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/pipeline/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func searched(t testing.TB, rows, cols, workers int) *Result {
	t.Helper()
	return must.Get(Search(t.Context(), swaptest.Grid(t, rows, cols), Options{Job: job.Job{Workers: workers}}))(t)
}

// reference returns the depths of testdata/depths.csv by "rows x cols". They were computed by a program independent of this one.
func reference(t *testing.T) map[string][]uint64 {
	depths := map[string][]uint64{}
	for _, r := range must.Rows(t, "testdata/depths.csv") {
		size := r[0] + " x " + r[1]
		must.Equal(t, r[2], strconv.Itoa(len(depths[size])), "%s: depth", size)
		depths[size] = append(depths[size], must.Get(strconv.ParseUint(r[3], 10, 64))(t))
	}
	must.Equal(t, len(depths), 14, "grids")
	return depths
}

// TestReference compares all grids of the reference values, with one worker and with several.
func TestReference(t *testing.T) {
	for size, want := range reference(t) {
		var rows, cols int
		must.OK(t, must.Err(fmt.Sscanf(size, "%d x %d", &rows, &cols)))
		for workers := 1; workers <= 3; workers++ {
			should.List(t, searched(t, rows, cols, workers).Depths, want, "%s, %d workers", size, workers)
		}
	}
}

// TestSummary checks the known figures of 3 x 3, and that progress grows up to all states.
func TestSummary(t *testing.T) {
	var last job.Step
	r := must.Get(Search(t.Context(), swaptest.Grid(t, 3, 3), Options{Job: job.Job{Workers: 2, Progress: func(s job.Step) {
		should.Not(t, s.Done < last.Done || s.Done > s.Total || s.Total != 362880, "%+v after %+v", s, last)
		last = s
	}}}))(t)
	should.Hold(t, last.Done == last.Total, "ends with %+v", last)
	should.Hold(t, r.Rows == 3 && r.Cols == 3 && r.States() == 362880 && r.Diameter() == 16 && r.Antipodes() == 1,
		"%+v: %d states, diameter %d, antipodes %d", r, r.States(), r.Diameter(), r.Antipodes())
	should.Equal(t, math.Round(r.Mean()*1e6)/1e6, 9.030252, "mean")
}

// mahonian returns the numbers of permutations of n items by inversions, from the generating function 1 (1+x) (1+x+x^2) ...
func mahonian(n int) []uint64 {
	row := []uint64{1}
	for k := 2; k <= n; k++ {
		next := make([]uint64, len(row)+k-1)
		for i, count := range row {
			for j := range k {
				next[i+j] += count
			}
		}
		row = next
	}
	return row
}

// TestLongLines compares lines, lying and standing, with the Mahonian numbers.
func TestLongLines(t *testing.T) {
	for n := 1; n <= tries.Pick(8, 10, 12); n++ {
		want := mahonian(n)
		should.List(t, searched(t, 1, n, 2).Depths, want, "1 x %d", n)
		should.List(t, searched(t, n, 1, 2).Depths, want, "%d x 1", n)
	}
}

// TestLongTwelve checks the grids of 12 cells, also turned: the first depths, the number of states of each parity, and the diameters.
func TestLongTwelve(t *testing.T) {
	tries.NeedsFull(t, "slow")
	for _, c := range []struct{ rows, cols, diameter int }{{3, 4, 24}, {6, 2, 30}, {4, 3, 24}, {2, 6, 30}} {
		r := searched(t, c.rows, c.cols, 2)
		parity, half := [2]uint64{}, perm.Factorial(12)/2
		for d, n := range r.Depths {
			parity[d%2] += n
		}
		should.Hold(t, parity == [2]uint64{half, half} && r.Diameter() == c.diameter,
			"%d x %d: %d even and %d odd states, diameter %d: %v", c.rows, c.cols, parity[0], parity[1], r.Diameter(), r.Depths)
		should.List(t, r.Depths[:9], byClass(swaptest.Grid(t, c.rows, c.cols), 8), "%d x %d", c.rows, c.cols)
	}
}

// TestLongMemory checks that the memory said to be needed is enough, and a byte less is not.
func TestLongMemory(t *testing.T) {
	g := swaptest.Grid(t, 2, 4)
	need := memoryNeeded(t, g, 2, "")
	should.OK(t, must.Err(Search(t.Context(), g, Options{Job: job.Job{Memory: need, Workers: 2}})))
	refused := must.As[*memory.Error](t, must.Err(Search(t.Context(), g, Options{Job: job.Job{Memory: need - 1, Workers: 2}})))
	should.Hold(t, refused.Need == need && refused.Allowed == need-1, "a byte less: %v", refused)
	// The largest grids are refused, not tried.
	for _, size := range [][2]int{{3, 5}, {4, 4}, {1, 16}}[:tries.More(1, 3)] {
		err := must.Err(Search(t.Context(), swaptest.Grid(t, size[0], size[1]), Options{Job: job.Job{Memory: 1 << 34, Workers: 1}}))
		must.As[*memory.Error](t, err, "%v", size)
	}
	// 12 cells: at most 0.3 bytes a state.
	need = memoryNeeded(t, swaptest.Grid(t, 3, 4), 2, "")
	should.Not(t, float64(need) > 0.3*float64(perm.Factorial(12)), "3 x 4 needs %d bytes", need)
}

// memoryNeeded returns the memory that a search is said to need when it is refused: in memory, or on disk if dir is not empty.
func memoryNeeded(t *testing.T, g *swap.Grid, workers int, dir string) uint64 {
	t.Helper()
	return must.As[*memory.Error](t, must.Err(Search(t.Context(), g, Options{Job: job.Job{Memory: 1, Workers: workers}, Dir: dir}))).Need
}

// TestLongClasses compares with a search of classes, which shares no code with the search of all states.
func TestLongClasses(t *testing.T) {
	searches := tries.Pick(nil, [][2]int{{2, 5}}, [][2]int{{2, 5}, {1, 10}, {1, 11}, {3, 4}})
	for rows := 1; rows <= 3; rows++ {
		for cols := rows; rows*cols <= tries.More(8, 9); cols++ {
			searches = append(searches, [2]int{rows, cols})
		}
	}
	for size, g := range swaptest.Grids(t, searches...) {
		should.List(t, searched(t, size[0], size[1], 2).Depths, byClass(g, math.MaxInt), "%v, by classes", size)
	}
}

// byClass counts the states at each distance from the goal, up to deepest, but visits one of each class only: a class is a state, its images
// under the symmetries of the grid, and the inverses of these, which are all equally far from the goal. Its smallest state stands for it.
//
// Symmetries take swaps to swaps, but the inverse takes a swap of cells to one of tiles. So the neighbours of a class are the neighbours of the
// state that stands for it and of its inverse.
func byClass(g *swap.Grid, deepest int) (depths []uint64) {
	n := g.Cells()
	seen := make([]uint64, perm.Factorial(n)/64+1) // by rank
	seen[0] = 1                                    // the goal
	newest, next := []swap.State{g.Goal()}, []swap.State{}
	c := newClass(g)
	for ; len(newest) > 0 && len(depths) <= deepest; newest, next = next, newest[:0] {
		states := uint64(0)
		for _, s := range newest {
			c.set(s)
			states += c.size()
			for _, m := range g.Swaps() {
				cells, tiles := c.least(m.A, m.B, c.tileIn[m.A], c.tileIn[m.B]), c.least(c.cellOf[m.A], c.cellOf[m.B], m.A, m.B)
				for _, to := range [2]swap.State{cells, tiles} {
					if rank := to.Rank(n); len(depths) < deepest && seen[rank/64]>>(rank%64)&1 == 0 {
						seen[rank/64] |= 1 << (rank % 64)
						next = append(next, to)
					}
				}
			}
		}
		depths = append(depths, states)
	}
	return depths
}

// class is the class of a state: its images and their inverses, one of each for a symmetry.
type class struct {
	cells            int
	symmetries       [][]int // the cell that each cell goes to
	states, inverses []swap.State
	cellOf, tileIn   []int // of the state
}

func newClass(g *swap.Grid) *class {
	c := &class{cells: g.Cells()}
	for _, h := range swaptest.Symmetries(g) {
		to := make([]int, g.Cells())
		for cell := range to {
			to[cell] = h.At(cell)
		}
		c.symmetries = append(c.symmetries, to)
	}
	c.states, c.inverses = make([]swap.State, len(c.symmetries)), make([]swap.State, len(c.symmetries))
	c.cellOf, c.tileIn = make([]int, g.Cells()), make([]int, g.Cells())
	return c
}

func (c *class) set(s swap.State) {
	clear(c.states)
	clear(c.inverses)
	for cell := range c.cells {
		tile := s.At(cell)
		c.tileIn[cell], c.cellOf[tile] = tile, cell
		for i, to := range c.symmetries {
			c.states[i] |= swap.State(to[tile]) << (4 * to[cell])
			c.inverses[i] |= swap.State(to[cell]) << (4 * to[tile])
		}
	}
}

// size returns the number of states in the class: all images, divided by how often each occurs.
func (c *class) size() uint64 {
	same := 0
	for i := range c.states {
		for _, s := range [2]swap.State{c.states[i], c.inverses[i]} {
			if s == c.states[0] {
				same++
			}
		}
	}
	return uint64(2 * len(c.states) / same)
}

// least returns the smallest state of the class after cells a and b, with tiles x and y, are swapped.
func (c *class) least(a, b, x, y int) swap.State {
	least := ^swap.State(0)
	for i, to := range c.symmetries {
		least = min(least, c.states[i].Swap(to[a], to[b]), c.inverses[i].Swap(to[x], to[y]))
	}
	return least
}

func onDisk(dir string) Options { return Options{Job: job.Job{Workers: 2}, Dir: dir} }

// memories returns what a search of a grid on disk may be given: the least, so much that some blocks are held, and enough for all.
func memories(t *testing.T, g *swap.Grid, workers int) []uint64 {
	t.Helper()
	least := memoryNeeded(t, g, workers, t.TempDir())
	states := perm.Factorial(g.Cells()) / 60 * 9
	return []uint64{least, least + states/10, least + states/2, math.MaxUint64}
}

// TestLongDisk compares searches on disk with searches in memory: of grids with one tile, with as many as cells, with cells that no edge
// joins, and in long tests with upper cells that have edges of all kinds.
func TestLongDisk(t *testing.T) {
	for size, g := range swaptest.Grids(t, [][2]int{{1, 1}, {1, 3}, {2, 4}, {3, 3}, {5, 2}, {3, 4}}[:tries.More(5, 6)]...) {
		want, amounts := searched(t, size[0], size[1], 2).Depths, memories(t, g, 2)
		if g.Cells() >= 9 && !tries.Long() || g.Cells() == 12 && !tries.Full() {
			amounts = amounts[1:2]
		}
		for _, memory := range amounts {
			o := onDisk(t.TempDir())
			o.Memory = memory
			for range 2 { // the second time all is there already
				should.List(t, must.Get(Search(t.Context(), g, o))(t).Depths, want, "%v, %d bytes", size, memory)
			}
		}
	}
}

// TestResume interrupts a search in every depth and resumes it, each time with another number of blocks in memory.
func TestResume(t *testing.T) {
	g := swaptest.Grid(t, 3, 3)
	want, memories := searched(t, 3, 3, 2).Depths, memories(t, g, 1)
	dir := t.TempDir()
	for depth := 1; depth <= len(want); depth++ {
		ctx, cancel := context.WithCancel(t.Context())
		o, first := onDisk(dir), 0
		o.Progress = func(s job.Step) {
			if s.Doing == fmt.Sprintf("depth %d", depth) {
				cancel()
			}
			if first == 0 {
				first, _ = strconv.Atoi(strings.TrimPrefix(s.Doing, "depth "))
			}
		}
		o.Workers, o.Memory = 1, memories[depth%len(memories)]
		err := must.Err(Search(ctx, g, o))
		cancel()
		// The last report of a depth comes when nothing is left to be stopped.
		must.Not(t, err != nil && !errors.Is(err, context.Canceled), "%v", err)
		should.Not(t, first > depth || depth > 2 && first < depth-1, "interrupted in depth %d, which begins with %d", depth, first)
	}
	should.List(t, must.Get(Search(t.Context(), g, onDisk(dir)))(t).Depths, want, "depths")
}

func interrupted(t *testing.T) string {
	t.Helper()
	o := onDisk(t.TempDir())
	runstest.Interrupt(t, &o.Job, func(s job.Step) bool { return s.Doing == "depth 9" }, func(ctx context.Context) error {
		return must.Err(Search(ctx, swaptest.Grid(t, 2, 4), o))
	})
	return o.Dir
}

// TestDamage damages the files of an interrupted search.
func TestDamage(t *testing.T) {
	runstest.Damages(t, interrupted(t), func(dir string) (*Result, error) {
		return Search(t.Context(), swaptest.Grid(t, 2, 4), onDisk(dir))
	}, searched(t, 2, 4, 1))
}

// TestForged has checkpoints under right checksums whose counts may be of a search, but not of the states in the blocks.
func TestForged(t *testing.T) {
	for name, forge := range map[string]func(b []byte){
		"a newest state more":   func(b []byte) { b[3+8*(int(b[2])-1)]++ },
		"an earlier one less":   func(b []byte) { b[3+8*4]-- },
		"no depth but the goal": func(b []byte) { b[3] = 2 },
	} {
		dir := interrupted(t)
		payload := runstest.Checkpoint(t, dir, "swap-bfs", 2)
		forge(payload)
		runstest.SetCheckpoint(t, dir, "swap-bfs", 2, payload)
		should.Be(t, must.Err(Search(t.Context(), swaptest.Grid(t, 2, 4), onDisk(dir))), corrupt.ErrCorrupt, "%s", name)
	}
}

func roomNeeded(t *testing.T, g *swap.Grid) uint64 {
	t.Helper()
	o := onDisk(t.TempDir())
	o.Free = func(string) (uint64, error) { return 0, nil }
	return must.As[*rundir.RoomError](t, must.Err(Search(t.Context(), g, o))).Need
}

// TestMost: a search never has more on disk than what it asked for.
func TestMost(t *testing.T) {
	for size, g := range swaptest.Grids(t, [][2]int{{1, 1}, {3, 3}, {2, 5}}...) {
		o, most := onDisk(t.TempDir()), int64(0)
		o.Workers = 1
		o.Progress = func(job.Step) { most = max(most, bytesIn(t, o.Dir)) }
		must.OK(t, must.Err(Search(t.Context(), g, o)))
		most = max(most, bytesIn(t, o.Dir))
		should.Not(t, uint64(most) > roomNeeded(t, g), "%v: %d bytes on disk, at most %d were asked for", size, most, roomNeeded(t, g))
	}
	// The largest files of searches that take longer, in bytes, as they were counted.
	for size, counted := range map[[2]int]uint64{{3, 4}: 93.3e6, {2, 6}: 78.2e6, {1, 11}: 5.8e6, {1, 12}: 63.3e6} {
		asked := roomNeeded(t, swaptest.Grid(t, size[0], size[1]))
		should.Not(t, asked < counted, "%v: %d bytes on disk, %d were asked for", size, counted, asked)
	}
}

func bytesIn(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	entries := must.Get(os.ReadDir(filepath.Join(dir, "work")))(t)
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // else it was renamed meanwhile
			bytes += info.Size()
		}
	}
	return bytes
}

// TestRoom: a search for which there is too little room is refused and leaves
// nothing behind; what an interrupted one has left counts as room.
func TestRoom(t *testing.T) {
	g := swaptest.Grid(t, 2, 4)
	need, room := roomNeeded(t, g), error(nil)
	run := func(dir string, free uint64) error {
		o := onDisk(dir)
		o.Free = func(string) (uint64, error) { return free, room }
		return must.Err(Search(t.Context(), g, o))
	}
	dir := filepath.Join(t.TempDir(), "run")
	refused := must.As[*rundir.RoomError](t, run(dir, need-1))
	should.Hold(t, refused.Need == need && refused.Free == need-1 && refused.Path == dir, "a byte less: %v", refused)
	should.Be(t, must.Err(os.Stat(dir)), os.ErrNotExist, "left behind")
	should.Be(t, run(dir, need), nil, "as much as needed")
	begun := interrupted(t)
	should.Be(t, run(begun, need-uint64(bytesIn(t, begun))), nil, "with what is there already")
	begun = interrupted(t)
	should.Not(t, run(begun, 0) == nil, "searches without room")
	room = errors.ErrUnsupported
	should.Be(t, run(begun, 0), nil, "where free space is not known")
}

// TestLongLayouts checks that every grid, of up to 16 cells in long tests, can be divided, and that each edge is in one list with places in range.
func TestLongLayouts(t *testing.T) {
	most := tries.More(12, swap.MaxCells)
	for rows := 1; rows <= most; rows++ {
		for cols := 1; rows*cols <= most; cols++ {
			g := must.Get(swap.NewGrid(rows, cols))(t)
			l := must.Get(newLayout(g))(t)
			should.Hold(t, l.upper+l.lower+tail == l.cells && l.cells >= g.Cells() && l.lower <= middle, "%d x %d: %+v", rows, cols, l)
			edges := 0
			for _, list := range []struct {
				edges    []edge
				from, to int
			}{{l.uu, l.upper, l.upper}, {l.ul, l.upper, l.lower}, {l.ll, l.lower, l.lower}, {l.ls, l.lower, tail}, {l.ss, tail, tail}} {
				edges += len(list.edges)
				for _, e := range list.edges {
					should.Not(t, e.from < 0 || e.from >= list.from || e.to < 0 || e.to >= list.to, "%d x %d: edge %v is outside", rows, cols, e)
				}
			}
			should.Equal(t, edges, len(g.Swaps()), "%d x %d: edges", rows, cols)
		}
	}
}

// smallDisk is a store of one block of six words, without files, and the flags of that block.
func smallDisk(t testing.TB) (*store, *[2]flags) {
	g := must.Get(swap.NewGrid(2, 3))(t)
	d := &store{words: 6, size: 1, grid: g}
	var sides [2]flags
	for p := range sides {
		d.extents[p] = make([]workfile.Extent, 1)
		sides[p] = flags{busy: make([]uint8, 1), full: make([]uint8, 1)}
	}
	return d, &sides
}

// FuzzCheckpoint feeds any contents of a checkpoint: what is accepted is written again unchanged, all else is corrupt.
func FuzzCheckpoint(f *testing.F) {
	d, sides := smallDisk(f)
	f.Add(d.encode([]uint64{1, 7}, sides))
	sides[0].busy[0] = 1
	d.extents[0][0] = workfile.Extent{Offset: 12, Length: 51, Sum: 99}
	d.extents[1][0] = workfile.Extent{Length: 3}
	f.Add(d.encode([]uint64{1, 7, 31}, sides))
	sides[1].full[0] = 1
	f.Add(d.encode(nil, sides))
	f.Fuzz(func(t *testing.T, contents []byte) {
		d, sides := smallDisk(t)
		depths, err := d.decode("checkpoint", contents, sides)
		if err != nil {
			must.Be(t, err, corrupt.ErrCorrupt)
			return
		}
		again := d.encode(depths, sides)
		must.Hold(t, bytes.Equal(again, contents), "%x becomes %x", contents, again)
	})
}

// TestCheckpoint checks which flags and pieces go together.
func TestCheckpoint(t *testing.T) {
	for _, c := range []struct {
		busy, full uint8
		length     uint32
		ok         bool
	}{
		{0, 0, 0, true}, {0, 1, 0, true}, {0, 0, 3, true}, {0, 0, 9, true}, {1, 0, 57, true}, {1, 1, 51, true},
		{1, 0, 0, false}, {0, 1, 9, false}, {0, 0, 2, false}, {1, 0, 58, false}, {2, 0, 51, false}, {0, 2, 0, false},
	} {
		d, sides := smallDisk(t)
		sides[1].busy[0], sides[1].full[0] = c.busy, c.full
		d.extents[1][0].Length = c.length
		_, err := d.decode("checkpoint", d.encode([]uint64{1}, sides), sides)
		should.Hold(t, (err == nil) == c.ok, "%+v: %v", c, err)
	}
}

func unpacked(t *testing.T, b []byte, words int) states {
	t.Helper()
	p := must.Get(divide(b, words))(t)
	s := newStates(words)
	for w := range words { // what was there before does not matter
		s.newest[w], s.seen[w] = ^uint64(0), 99
	}
	p.unpackNewest(s.newest)
	p.unpackSeen(s.seen)
	return s
}

func (s states) equal(t states) bool {
	return slices.Equal(s.newest, t.newest) && slices.Equal(s.seen, t.seen)
}

// TestPack packs states of few and of many words, and unpacks them.
func TestPack(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, words := range []int{1, 6, 8, 42, 336, 3024} {
		for _, busy := range []float64{0, 0.1, 0.9, 1} {
			for _, open := range []float64{0, 0.5, 1} {
				s := newStates(words)
				for w := range words {
					s.seen[w] = uint8(rng.IntN(2)) * tailBits
					if rng.Float64() < open {
						s.seen[w] = 1 + uint8(rng.IntN(tailBits-1))
					}
					if rng.Float64() < busy {
						s.newest[w] = 1 + rng.Uint64N(1<<tailBits-1)
					}
				}
				b := pack([]byte("before"), s)
				should.Hold(t, string(b[:6]) == "before", "%d words: what was there before is %q", words, b[:6])
				b = b[6:]
				should.Not(t, len(b) < leastPiece(words) || len(b) > mostPiece(words), "%d words: a piece of %d bytes", words, len(b))
				should.Hold(t, unpacked(t, b, words).equal(s), "seed %d, %d words, %g with newest ones, %g open: others", seed, words, busy, open)
				should.Be(t, must.Err(divide(b[:len(b)-1], words)), errPiece, "%d words, a byte less", words)
			}
		}
	}
}

// FuzzPiece feeds any bytes: what is accepted becomes a piece of the same states.
func FuzzPiece(f *testing.F) {
	const words = 42
	s := newStates(words)
	f.Add(pack(nil, s))
	s.newest[0], s.seen[0], s.seen[41] = 1, 1, tailBits
	f.Add(pack(nil, s))
	f.Add([]byte{1, 2, 3})
	f.Add([]byte(" \x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00A00000000")) // a count of 65
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := divide(b, words); err != nil {
			must.Be(t, err, errPiece)
			return
		}
		s := unpacked(t, b, words)
		again := pack(nil, s)
		must.Hold(t, unpacked(t, again, words).equal(s), "%x becomes %x", b, again)
	})
}
