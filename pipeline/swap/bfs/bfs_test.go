package bfs_test

import (
	"context"
	"errors"
	"fmt"
	"math"
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
	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/pipeline/job"
	"grenier/pipeline/swap/bfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var mustGrid = swaptest.Grid

func search(t testing.TB, rows, cols, workers int) *bfs.Result {
	t.Helper()
	return must.Get(bfs.Search(t.Context(), mustGrid(t, rows, cols), bfs.Options{Job: job.Job{Workers: workers}}))(t)
}

// reference returns the depths of testdata/depths.csv by "rows x cols". They were computed by a program independent of this one.
func reference(t *testing.T) map[string][]uint64 {
	records := must.Rows(t, "testdata/depths.csv")
	depths := map[string][]uint64{}
	for _, r := range records {
		size := r[0] + " x " + r[1]
		must.Hold(t, r[2] == strconv.Itoa(len(depths[size])), "%s: depth %s comes after %d others", size, r[2], len(depths[size]))
		depths[size] = append(depths[size], must.Get(strconv.ParseUint(r[3], 10, 64))(t))
	}
	return depths
}

// TestReference compares all grids of the reference values, with one worker and with several.
func TestReference(t *testing.T) {
	all := reference(t)
	should.Hold(t, len(all) == 14, "%d grids, want 14", len(all))
	for size, want := range all {
		var rows, cols int
		must.OK(t, must.Err(fmt.Sscanf(size, "%d x %d", &rows, &cols)))
		for workers := 1; workers <= 3; workers++ {
			should.List(t, search(t, rows, cols, workers).Depths, want, "%s, %d workers", size, workers)
		}
	}
}

// TestSummary checks the known figures of 3 x 3.
func TestSummary(t *testing.T) {
	r := search(t, 3, 3, 2)
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
	for n := 1; n <= 12; n++ {
		if n > tries.Pick(10, 10, 12) {
			t.Log("longer lines are slow: GRENIER_LONG=1 and full have them")
			break
		}
		want := mahonian(n)
		should.List(t, search(t, 1, n, 2).Depths, want, "1 x %d", n)
		should.List(t, search(t, n, 1, 2).Depths, want, "%d x 1", n)
	}
}

// TestLongTwelve checks the grids of 12 cells, also turned: the first depths, the number of states of each parity, and the diameters.
func TestLongTwelve(t *testing.T) {
	tries.NeedsFull(t, "slow")
	for _, c := range []struct{ rows, cols, diameter int }{{3, 4, 24}, {6, 2, 30}, {4, 3, 24}, {2, 6, 30}} {
		r := search(t, c.rows, c.cols, 2)
		var parity [2]uint64
		for d, n := range r.Depths {
			parity[d%2] += n
		}
		half := perm.Factorial(12) / 2
		should.Hold(t, parity == [2]uint64{half, half} && r.Diameter() == c.diameter,
			"%d x %d: %d even and %d odd states, diameter %d: %v", c.rows, c.cols, parity[0], parity[1], r.Diameter(), r.Depths)
		want := byClass(mustGrid(t, c.rows, c.cols), 8)
		should.Hold(t, slices.Equal(r.Depths[:9], want), "%d x %d: %v, want %v first", c.rows, c.cols, r.Depths, want)
	}
}

// TestMemory checks that the memory said to be needed is enough, and a byte less is not.
func TestMemory(t *testing.T) {
	g := mustGrid(t, 2, 4)
	need := memoryNeeded(t, g, 2, "")
	should.OK(t, must.Err(bfs.Search(t.Context(), g, bfs.Options{Job: job.Job{Memory: need, Workers: 2}})))
	refused := must.As[*memory.Error](t, must.Err(bfs.Search(t.Context(), g, bfs.Options{Job: job.Job{Memory: need - 1, Workers: 2}})))
	should.Hold(t, refused.Need == need && refused.Allowed == need-1, "a byte less: %v", refused)
	// The largest grids are refused, not tried.
	for _, size := range [][2]int{{4, 4}, {1, 16}, {3, 5}} {
		err := must.Err(bfs.Search(t.Context(), mustGrid(t, size[0], size[1]), bfs.Options{Job: job.Job{Memory: 1 << 34, Workers: 1}}))
		must.As[*memory.Error](t, err, "%v", size)
	}
	// 12 cells: at most 0.3 bytes a state.
	need = memoryNeeded(t, mustGrid(t, 3, 4), 2, "")
	should.Not(t, float64(need) > 0.3*float64(perm.Factorial(12)), "3 x 4 needs %d bytes", need)
}

// memoryNeeded returns the memory that a search is said to need when it is refused: in memory, or on disk if dir is not empty.
func memoryNeeded(t *testing.T, g *swap.Grid, workers int, dir string) uint64 {
	t.Helper()
	return must.As[*memory.Error](t, must.Err(bfs.Search(t.Context(), g, bfs.Options{Job: job.Job{Memory: 1, Workers: workers}, Dir: dir}))).Need
}

// TestProgress checks that progress grows up to all states.
func TestProgress(t *testing.T) {
	var last job.Step
	o := bfs.Options{Job: job.Job{Progress: func(s job.Step) {
		should.Not(t, s.Done < last.Done || s.Done > s.Total || s.Total != 362880, "%+v after %+v", s, last)
		last = s
	}}}
	must.OK(t, must.Err(bfs.Search(t.Context(), mustGrid(t, 3, 3), o)))
	should.Hold(t, last.Done == last.Total, "ends with %+v", last)
}

// TestLongClasses compares with a search of classes, which shares no code with the search of all states.
func TestLongClasses(t *testing.T) {
	var searches [][2]int
	for rows := 1; rows <= 3; rows++ {
		for cols := rows; rows*cols <= 9; cols++ {
			searches = append(searches, [2]int{rows, cols})
		}
	}
	searches = append(searches, tries.Pick(nil, [][2]int{{2, 5}}, [][2]int{{2, 5}, {1, 10}, {1, 11}, {3, 4}})...)
	for _, s := range searches {
		got, want := search(t, s[0], s[1], 2).Depths, byClass(mustGrid(t, s[0], s[1]), math.MaxInt)
		should.Hold(t, slices.Equal(got, want), "%d x %d: %v, by classes %v", s[0], s[1], got, want)
	}
}

// byClass counts the states at each distance from the goal, up to deepest, but visits one of each
// class only: a class is a state, its images under the symmetries of the grid, and the inverses of
// these, which are all equally far from the goal. Its smallest state stands for it.
//
// Symmetries take swaps to swaps, but the inverse takes a swap of cells to one of tiles. So the
// neighbours of a class are the neighbours of the state that stands for it and of its inverse.
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
				for _, to := range [2]swap.State{c.swapCells(m), c.swapTiles(m)} {
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

// swapCells returns the smallest state of the class after a swap of two cells, and swapTiles after
// a swap of the tiles with these numbers, which swaps two cells of the inverse.
func (c *class) swapCells(m swap.Swap) swap.State {
	return c.least(m.A, m.B, c.tileIn[m.A], c.tileIn[m.B])
}

func (c *class) swapTiles(m swap.Swap) swap.State {
	return c.least(c.cellOf[m.A], c.cellOf[m.B], m.A, m.B)
}

// least returns the smallest state of the class after cells a and b, with tiles x and y, are swapped.
func (c *class) least(a, b, x, y int) swap.State {
	least := ^swap.State(0)
	for i, to := range c.symmetries {
		least = min(least, c.states[i].Swap(to[a], to[b]), c.inverses[i].Swap(to[x], to[y]))
	}
	return least
}

func onDisk(dir string) bfs.Options { return bfs.Options{Job: job.Job{Workers: 2}, Dir: dir} }

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
	for _, size := range tries.More([][2]int{{1, 1}, {1, 3}, {2, 4}, {3, 3}, {5, 2}}, [][2]int{{1, 1}, {1, 3}, {2, 4}, {3, 3}, {5, 2}, {3, 4}}) {
		want, g := search(t, size[0], size[1], 2).Depths, mustGrid(t, size[0], size[1])
		amounts := memories(t, g, 2)
		switch {
		case g.Cells() == 10 && !tries.Long():
			amounts = amounts[:2]
		case g.Cells() == 12 && !tries.Full():
			amounts = amounts[1:2]
		}
		for _, memory := range amounts {
			o := onDisk(t.TempDir())
			for range 2 { // the second time all is there already
				o.Memory = memory
				got, err := bfs.Search(t.Context(), g, o)
				should.Hold(t, err == nil && slices.Equal(got.Depths, want), "%v, %d bytes: %v, %v, want %v", size, memory, got, err, want)
			}
		}
	}
}

// TestResume interrupts a search in every depth and resumes it, each time with another number of blocks in memory.
func TestResume(t *testing.T) {
	g := mustGrid(t, 2, 5)
	whole := search(t, 2, 5, 2)
	want, memories := whole.Depths, memories(t, g, 1)
	must.Equal(t, whole.States(), perm.Factorial(10), "states")
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
		_, err := bfs.Search(ctx, g, o)
		cancel()
		// The last report of a depth comes when nothing is left to be stopped.
		must.Not(t, err != nil && !errors.Is(err, context.Canceled), "%v", err)
		should.Not(t, first > depth || depth > 2 && first < depth-1, "interrupted in depth %d, which begins with %d", depth, first)
	}
	got, err := bfs.Search(t.Context(), g, onDisk(dir))
	should.Hold(t, err == nil && slices.Equal(got.Depths, want), "%v, %v, want %v", got, err, want)
}

func interrupt(t *testing.T, g *swap.Grid, o bfs.Options, depth int) {
	t.Helper()
	runstest.Interrupt(t, &o.Job, func(s job.Step) bool { return s.Doing == fmt.Sprint("depth ", depth) }, func(ctx context.Context) error {
		_, err := bfs.Search(ctx, g, o)
		return err
	})
}

func interrupted(t *testing.T) string {
	t.Helper()
	o := onDisk(t.TempDir())
	interrupt(t, mustGrid(t, 2, 4), o, 9)
	return o.Dir
}

// TestDamage damages the files of an interrupted search.
func TestDamage(t *testing.T) {
	runstest.Damages(t, interrupted(t), func(dir string) ([]uint64, error) {
		r, err := bfs.Search(t.Context(), mustGrid(t, 2, 4), onDisk(dir))
		if err != nil {
			return nil, err
		}
		return r.Depths, nil
	}, search(t, 2, 4, 1).Depths)
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
		r, err := bfs.Search(t.Context(), mustGrid(t, 2, 4), onDisk(dir))
		should.Hold(t, errors.Is(err, corrupt.ErrCorrupt), "%s: %v, error %v", name, r, err)
	}
}

func free(bytes uint64) func(path string) (uint64, error) {
	return func(string) (uint64, error) { return bytes, nil }
}

func roomNeeded(t *testing.T, g *swap.Grid) uint64 {
	t.Helper()
	o := onDisk(t.TempDir())
	o.Free = free(0)
	return must.As[*rundir.RoomError](t, must.Err(bfs.Search(t.Context(), g, o))).Need
}

// TestMost: a search never has more on disk than what it asked for.
func TestMost(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 3}, {2, 5}} {
		g := mustGrid(t, size[0], size[1])
		o, most := onDisk(t.TempDir()), int64(0)
		o.Workers = 1
		o.Progress = func(job.Step) { most = max(most, bytesIn(t, o.Dir)) }
		must.OK(t, must.Err(bfs.Search(t.Context(), g, o)))
		most = max(most, bytesIn(t, o.Dir))
		should.Not(t, uint64(most) > roomNeeded(t, g), "%v: %d bytes on disk, at most %d were asked for", size, most, roomNeeded(t, g))
	}
	// The largest files of searches that take longer, in bytes, as they were counted.
	for size, counted := range map[[2]int]uint64{{3, 4}: 93.3e6, {2, 6}: 78.2e6, {1, 11}: 5.8e6, {1, 12}: 63.3e6} {
		asked := roomNeeded(t, mustGrid(t, size[0], size[1]))
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
	g := mustGrid(t, 2, 4)
	need := roomNeeded(t, g)
	o := onDisk(filepath.Join(t.TempDir(), "run"))
	o.Free = free(need - 1)
	refused := must.As[*rundir.RoomError](t, must.Err(bfs.Search(t.Context(), g, o)))
	should.Hold(t, refused.Need == need && refused.Free == need-1 && refused.Path == o.Dir, "a byte less: %v", refused)
	should.Be(t, must.Err(os.Stat(o.Dir)), os.ErrNotExist, "left behind")
	o.Free = free(need)
	should.Be(t, must.Err(bfs.Search(t.Context(), g, o)), nil, "as much as needed")
	o.Dir = interrupted(t)
	o.Free = free(need - uint64(bytesIn(t, o.Dir)))
	should.Be(t, must.Err(bfs.Search(t.Context(), g, o)), nil, "with what is there already")
	o.Dir, o.Free = interrupted(t), free(0)
	should.Not(t, must.Err(bfs.Search(t.Context(), g, o)) == nil, "searches without room")
	o.Free = func(string) (uint64, error) { return 0, errors.ErrUnsupported }
	should.Be(t, must.Err(bfs.Search(t.Context(), g, o)), nil, "where free space is not known")
}
