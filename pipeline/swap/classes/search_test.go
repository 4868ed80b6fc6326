package classes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/pipeline/spaces/reach"
	"grenier/pipeline/swap/bfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plenty is memory for small grids.
const plenty = 80 << 20

func options(workers int) bfs.Options {
	return bfs.Options{Memory: plenty, Workers: workers}
}

func mustSearch(t testing.TB, rows, cols int, o bfs.Options) *Result {
	t.Helper()
	r, err := Search(t.Context(), mustGrid(t, rows, cols), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// checkResult compares with the number of states at each depth, and checks the
// numbers of classes as far as they follow.
func checkResult(t *testing.T, r *Result, want []uint64) {
	t.Helper()
	if !slices.Equal(r.Depths, want) {
		t.Errorf("%d x %d: %v, want %v", r.Rows, r.Cols, r.Depths, want)
	}
	if got, want := r.States(), perm.Factorial(r.Rows*r.Cols); got != want {
		t.Errorf("%d x %d: %d states, want %d", r.Rows, r.Cols, got, want)
	}
	if got := r.AllClasses(); got != orbits(mustGrid(t, r.Rows, r.Cols)) {
		t.Errorf("%d x %d: %d classes, want %d", r.Rows, r.Cols, got, orbits(mustGrid(t, r.Rows, r.Cols)))
	}
}

// orbits returns the number of classes by Burnside's lemma: the mean number of
// states that a symmetry, and the inverse after one, leave as they are. These are
// the states that commute with h, and those with (s h)^2 = h^2: with as many as
// there are square roots of h^2.
func orbits(g *swap.Grid) uint64 {
	n, sum := g.Cells(), uint64(0)
	for _, h := range g.Symmetries() {
		sum += commuting(cycles(h, n)) + roots(cycles(h.Compose(h, n), n))
	}
	return sum / uint64(2*len(g.Symmetries()))
}

// cycles returns the number of cycles of each length of a permutation.
func cycles(p perm.Packed, n int) map[int]int {
	lengths, seen := map[int]int{}, 0
	for i := range n {
		length := 0
		for ; seen>>i&1 == 0; i = p.At(i) {
			seen |= 1 << i
			length++
		}
		if length > 0 {
			lengths[length]++
		}
	}
	return lengths
}

// commuting returns the number of permutations that commute with one that has
// these cycles: the product of k^m m! for m cycles of length k.
func commuting(cycles map[int]int) uint64 {
	product := uint64(1)
	for length, m := range cycles {
		for i := range m {
			product *= uint64(length) * uint64(i+1)
		}
	}
	return product
}

// roots returns the number of permutations whose square has these cycles: cycles of
// the same length are paired in 2 j of them, each pair joined in one of so many ways as
// they are long; the others, of odd length only, are their own.
func roots(cycles map[int]int) uint64 {
	product := uint64(1)
	for length, m := range cycles {
		sum := uint64(0)
		for pairs := 0; 2*pairs <= m; pairs++ {
			if single := m - 2*pairs; length%2 == 0 && single > 0 {
				continue
			}
			ways := perm.Factorial(m) / (perm.Factorial(m-2*pairs) * perm.Factorial(pairs))
			for range pairs {
				ways = ways / 2 * uint64(length)
			}
			sum += ways
		}
		product *= sum
	}
	return product
}

// TestOrbits checks the formula on all states of small grids.
func TestOrbits(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 2}, {2, 2}, {1, 5}, {2, 3}, {2, 4}} {
		g := mustGrid(t, size[0], size[1])
		classes := map[swap.State]bool{}
		for rank := range perm.Factorial(g.Cells()) {
			classes[class(g, perm.UnrankPacked(g.Cells(), rank))[0]] = true
		}
		if got := orbits(g); got != uint64(len(classes)) {
			t.Errorf("%v: %d classes, want %d", size, got, len(classes))
		}
	}
}

// small are grids of up to nine cells.
func small() (sizes [][2]int) {
	for rows := 1; rows <= 9; rows++ {
		for cols := 1; rows*cols <= 9; cols++ {
			sizes = append(sizes, [2]int{rows, cols})
		}
	}
	return sizes
}

// TestPlain compares with the search of all states.
func TestPlain(t *testing.T) {
	sizes := small()
	if os.Getenv("GRENIER_LONG") != "" {
		sizes = append(sizes, [2]int{2, 5}, [2]int{1, 10})
	}
	for i, size := range sizes {
		plain, err := bfs.Search(t.Context(), mustGrid(t, size[0], size[1]), bfs.Options{Memory: math.MaxUint64, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		checkResult(t, mustSearch(t, size[0], size[1], options(1+i%3)), plain.Depths)
	}
}

// TestReach compares with a search that takes states one by one.
func TestReach(t *testing.T) {
	for _, size := range [][2]int{{2, 4}, {3, 3}, {1, 7}} {
		g := mustGrid(t, size[0], size[1])
		set, err := reach.From(t.Context(), swap.Space{Grid: g}, g.Goal())
		if err != nil {
			t.Fatal(err)
		}
		// There the goal counts as a state of depth 2: a swap back leads to it.
		want := set.Depths()
		want[0] = 1
		want[2]--
		checkResult(t, mustSearch(t, size[0], size[1], options(2)), want)
	}
}

// TestClasses counts the classes of each depth one by one.
func TestClasses(t *testing.T) {
	g := mustGrid(t, 2, 3)
	seen := map[swap.State]bool{g.Goal(): true}
	classes := []uint64{1}
	for newest := []swap.State{g.Goal()}; len(newest) > 0; {
		var next []swap.State
		standing := map[swap.State]bool{}
		for _, s := range newest {
			for _, m := range g.Swaps() {
				if t := g.Apply(s, m); !seen[t] {
					seen[t], standing[class(g, t)[0]] = true, true
					next = append(next, t)
				}
			}
		}
		if newest = next; len(next) > 0 {
			classes = append(classes, uint64(len(standing)))
		}
	}
	if got := mustSearch(t, 2, 3, options(1)).Classes; !slices.Equal(got, classes) {
		t.Errorf("%v classes, want %v", got, classes)
	}
}

// little returns a search with so little memory that runs are many, and merged many
// times.
func little(t testing.TB, g *swap.Grid, o bfs.Options) *search {
	t.Helper()
	s, err := newSearch(g, o)
	if err != nil {
		t.Fatal(err)
	}
	s.budget.runs = 3
	s.budget.keys = 4 * blockBytes * (s.budget.runs + 2*o.Workers)
	return s
}

// counting counts the checkpoints.
type counting struct {
	store
	commits int
}

func (c *counting) commit(p *checkpoint) error {
	c.commits++
	return c.store.commit(p)
}

// TestManyRuns searches with little memory, with one worker and with several.
func TestManyRuns(t *testing.T) {
	want := mustSearch(t, 2, 5, options(1))
	for workers := 1; workers <= 3; workers += 2 {
		g := mustGrid(t, 2, 5)
		kept := &counting{store: &memory{}}
		r, err := little(t, g, options(workers)).in(t.Context(), kept, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkResult(t, r, want.Depths)
		if !slices.Equal(r.Classes, want.Classes) {
			t.Errorf("%d workers: classes %v, want %v", workers, r.Classes, want.Classes)
		}
		if workers == 1 && kept.commits <= len(r.Depths) {
			t.Errorf("%d workers: runs were not merged on the way: %d checkpoints, %d depths", workers, kept.commits, len(r.Depths))
		}
		// The last depth is one class, in one block.
		if m := kept.store.(*memory); len(m.pages)-len(m.free) != 1 {
			t.Errorf("%d workers: %d of %d pages are free at the end", workers, len(m.free), len(m.pages))
		}
	}
}

// TestMemory checks what is refused at once and what is found out on the way.
func TestMemory(t *testing.T) {
	// Little more than nothing is refused, so are grids that cannot fit; and the
	// former says what is enough.
	for _, c := range []struct {
		rows, cols int
		memory     uint64
	}{{2, 2, 1 << 20}, {4, 4, 1 << 32}, {1, 16, 1 << 33}} {
		_, err := Search(t.Context(), mustGrid(t, c.rows, c.cols), bfs.Options{Memory: c.memory, Workers: 1})
		refused, ok := errors.AsType[*MemoryError](err)
		if !ok || refused.Depth != 0 || refused.Need <= c.memory || refused.Allowed != c.memory {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		o := bfs.Options{Memory: refused.OnDisk, Workers: 1, Dir: t.TempDir()}
		if _, err := newSearch(mustGrid(t, c.rows, c.cols), o); err != nil {
			t.Errorf("%+v: on disk: %v", c, err)
		}
	}
	s := little(t, mustGrid(t, 2, 5), options(1))
	s.budget.lists = 30 * (blockBytes + indexBytes)
	_, err := s.in(t.Context(), &memory{}, nil)
	refused, ok := errors.AsType[*MemoryError](err)
	if !ok || refused.Depth == 0 || refused.Need <= refused.Allowed {
		t.Errorf("30 blocks of memory: %v", err)
	}
}

func TestNoWorkers(t *testing.T) {
	_, err := Search(t.Context(), mustGrid(t, 2, 2), bfs.Options{Memory: plenty})
	if !errors.Is(err, bfs.ErrWorkers) {
		t.Error(err)
	}
}

// TestCancel stops a search in the middle.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := options(2)
	o.Progress = func(p bfs.Progress) {
		if p.Depth == 10 {
			cancel()
		}
	}
	if _, err := Search(ctx, mustGrid(t, 2, 5), o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestProgress checks that progress grows up to all states.
func TestProgress(t *testing.T) {
	var last bfs.Progress
	o := options(1)
	o.Progress = func(p bfs.Progress) {
		if p.Seen < last.Seen || p.Depth < last.Depth || p.Share < last.Share || p.Share > 1 || p.Total != 362880 {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	}
	mustSearch(t, 3, 3, o)
	if last.Seen != last.Total {
		t.Errorf("ends with %+v", last)
	}
}

// TestLarge compares grids of 11 and, in full, 12 cells with the search of all
// states.
func TestLarge(t *testing.T) {
	sizes := [][2]int{{1, 11}}
	switch os.Getenv("GRENIER_LONG") {
	case "":
		t.Skip("slow; set GRENIER_LONG=1")
	case "full":
		sizes = append(sizes, [2]int{3, 4}, [2]int{2, 6})
	}
	for _, size := range sizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			o := bfs.Options{Memory: 1 << 30, Workers: 2}
			plain, err := bfs.Search(t.Context(), mustGrid(t, size[0], size[1]), o)
			if err != nil {
				t.Fatal(err)
			}
			checkResult(t, mustSearch(t, size[0], size[1], o), plain.Depths)
		})
	}
}

// BenchmarkSearch reports classes a second of a grid of 10 cells.
func BenchmarkSearch(b *testing.B) {
	classes := uint64(0)
	for b.Loop() {
		classes += mustSearch(b, 2, 5, options(1)).AllClasses()
	}
	b.ReportMetric(float64(classes)/b.Elapsed().Seconds(), "classes/s")
}
