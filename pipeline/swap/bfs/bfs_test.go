package bfs_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/swaptest"
	"grenier/internal/testkit/tries"
	"grenier/io/memory"
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

// reference returns the depths of testdata/depths.csv by "rows x cols". They were
// computed by a program independent of this one.
func reference(t *testing.T) map[string][]uint64 {
	records := must.Rows(t, "testdata/depths.csv")
	depths := map[string][]uint64{}
	for _, r := range records {
		size := r[0] + " x " + r[1]
		must.Hold(t, r[2] == strconv.Itoa(len(depths[size])), "%s: depth %s comes after %d others", size, r[2], len(depths[size]))
		n := must.Get(strconv.ParseUint(r[3], 10, 64))(t)
		depths[size] = append(depths[size], n)
	}
	return depths
}

// TestReference compares all grids of the reference values, with one worker and
// with several.
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

// mahonian returns the numbers of permutations of n items by inversions, from
// the generating function 1 (1+x) (1+x+x^2) ...
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
		if n > tries.Pick(10, 11, 12) {
			t.Log("longer lines are slow: GRENIER_LONG=1 and full have them")
			break
		}
		want := mahonian(n)
		should.List(t, search(t, 1, n, 2).Depths, want, "1 x %d", n)
		should.List(t, search(t, n, 1, 2).Depths, want, "%d x 1", n)
	}
}

// near returns the numbers of states at distances up to last, found by a plain
// search with a table of the states seen.
func near(g *swap.Grid, last int) (depths []uint64) {
	seen := map[swap.State]bool{g.Goal(): true}
	for newest := []swap.State{g.Goal()}; len(depths) <= last; {
		depths = append(depths, uint64(len(newest)))
		var next []swap.State
		for _, s := range newest {
			for _, m := range g.Swaps() {
				if t := g.Apply(s, m); !seen[t] {
					seen[t] = true
					next = append(next, t)
				}
			}
		}
		newest = next
	}
	return depths
}

// TestLongTwelve checks a grid of 12 cells, and if there is much time the other one, both also turned: the first depths, the number of
// states of each parity, and the diameters.
func TestLongTwelve(t *testing.T) {
	tries.NeedsLong(t, "slow")
	for i, c := range []struct{ rows, cols, diameter int }{{3, 4, 24}, {6, 2, 30}, {4, 3, 24}, {2, 6, 30}} {
		if i == 1 && !tries.Full() {
			break
		}
		r := search(t, c.rows, c.cols, 2)
		var parity [2]uint64
		for d, n := range r.Depths {
			parity[d%2] += n
		}
		half := perm.Factorial(12) / 2
		should.Hold(t, parity == [2]uint64{half, half} && r.Diameter() == c.diameter,
			"%d x %d: %d even and %d odd states, diameter %d: %v", c.rows, c.cols, parity[0], parity[1], r.Diameter(), r.Depths)
		want := near(mustGrid(t, c.rows, c.cols), 8)
		should.Hold(t, slices.Equal(r.Depths[:9], want), "%d x %d: %v, want %v first", c.rows, c.cols, r.Depths, want)
	}
}

// TestMemory checks that the memory said to be needed is enough, and a byte less
// is not.
func TestMemory(t *testing.T) {
	g := mustGrid(t, 2, 4)
	need := memoryNeeded(t, g, 2, "")
	should.OK(t, must.Err(bfs.Search(t.Context(), g, bfs.Options{Job: job.Job{Memory: need, Workers: 2}})))
	_, err := bfs.Search(t.Context(), g, bfs.Options{Job: job.Job{Memory: need - 1, Workers: 2}})
	refused, ok := errors.AsType[*memory.Error](err)
	should.Hold(t, ok && refused.Need == need && refused.Allowed == need-1, "a byte less: %v", err)
	// The largest grids are refused, not tried.
	for _, size := range [][2]int{{4, 4}, {1, 16}, {3, 5}} {
		_, err := bfs.Search(t.Context(), mustGrid(t, size[0], size[1]), bfs.Options{Job: job.Job{Memory: 1 << 34, Workers: 1}})
		_, ok := errors.AsType[*memory.Error](err)
		should.Hold(t, ok, "%v: %v", size, err)
	}
	// 12 cells: at most 0.3 bytes a state.
	need = memoryNeeded(t, mustGrid(t, 3, 4), 2, "")
	should.Not(t, float64(need) > 0.3*float64(perm.Factorial(12)), "3 x 4 needs %d bytes", need)
}

// memoryNeeded returns the memory that a search is said to need when it is refused: in memory, or on
// disk if dir is not empty.
func memoryNeeded(t *testing.T, g *swap.Grid, workers int, dir string) uint64 {
	t.Helper()
	_, err := bfs.Search(t.Context(), g, bfs.Options{Job: job.Job{Memory: 1, Workers: workers}, Dir: dir})
	refused, ok := errors.AsType[*memory.Error](err)
	must.Hold(t, ok, "within a byte: %v", err)
	return refused.Need
}

// TestCancel stops a search in the middle of a depth.
func TestCancel(t *testing.T) {
	interrupt(t, mustGrid(t, 2, 5), bfs.Options{Job: job.Job{Workers: 2}}, 3)
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

// BenchmarkSearch reports states a second of a grid of 10 cells.
func BenchmarkSearch(b *testing.B) {
	states := uint64(0)
	for b.Loop() {
		states += search(b, 2, 5, 1).States()
	}
	b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
}
