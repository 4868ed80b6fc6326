package search_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/swaptest"
	"grenier/internal/testkit/tries"
	"grenier/io/crew"
	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/job"
	"grenier/pipeline/swap/search"
)

func shuffled(g *swap.Grid, r *rand.Rand) (s swap.State) {
	for c, t := range r.Perm(g.Cells()) {
		s |= swap.State(t) << (4 * c)
	}
	return s
}

var known = map[[2]int][]uint8{}

// solved returns a grid, and the distances of its states by rank, which are found once.
func solved(t *testing.T, rows, cols int) (*swap.Grid, []uint8) {
	t.Helper()
	g, size := swaptest.Grid(t, rows, cols), [2]int{rows, cols}
	if known[size] == nil {
		known[size] = swaptest.Distances(g)
	}
	return g, known[size]
}

// bounds returns every kind of bound for a grid.
func bounds(tb testing.TB, g *swap.Grid, sets ...[]int) []heuristic.Heuristic {
	tb.Helper()
	w := must.Get(heuristic.NewWalking(g))(tb)
	static, size := swaptest.Static(tb, g, heuristic.Tracked, sets...), min(2, g.Cells())
	greedy, exact := swaptest.Dynamic(tb, g, heuristic.Tracked, size, false), swaptest.Dynamic(tb, g, heuristic.Tracked, size, true)
	return []heuristic.Heuristic{
		heuristic.Zero{}, heuristic.NewInversions(g), heuristic.NewManhattan(g), w, heuristic.Lift{Heuristic: w, Grid: g}, static, greedy, exact,
		heuristic.Lift{Heuristic: heuristic.Max{static, heuristic.Inverse{Heuristic: static, Grid: g}, w}, Grid: g},
	}
}

// agree solves a state by a solver with all bounds, or without, and compares with its distance.
func agree(t *testing.T, name string, g *swap.Grid, s swap.State, distance int, all []heuristic.Heuristic) {
	t.Helper()
	solver := must.Get(search.Find(name))(t)
	if !solver.Informed {
		all = []heuristic.Heuristic{nil}
	}
	for _, h := range all {
		if name == "dibbs" && !h.Consistent() {
			must.Be(t, must.Err(search.Solve(t.Context(), name, g, g.List(s), search.Options{Heuristic: h})), search.ErrHeuristic, "%s", h.Name())
			continue
		}
		r := run(t, name, g, g.List(s), search.Options{Heuristic: h, Width: 64})
		must.Not(t, solver.Exact && (len(r.Swaps) != distance || !r.Optimal) || r.Optimal && len(r.Swaps) != distance || len(r.Swaps) < distance ||
			name == "astar-weighted" && (len(r.Swaps) > 2*distance || 2*r.Lower < len(r.Swaps)) || name == "chains" && len(r.Swaps) > 4*distance,
			"%s %v, state %x: length %d, optimal %v, distance %d", name, h, s, len(r.Swaps), r.Optimal, distance)
	}
}

// TestLongAllStates takes every state of small grids; of the largest ones a solver takes some, unless there is time for all.
func TestLongAllStates(t *testing.T) {
	shapes := [][2]int{{1, 1}, {1, 2}, {2, 1}, {5, 1}, {2, 2}, {2, 3}, {1, 5}, {3, 2}}
	for _, shape := range shapes[:tries.More(6, 8)] {
		g, depth := solved(t, shape[0], shape[1])
		all, step := bounds(t, g, []int{0}), 1
		if g.Cells() > tries.More(4, 5) {
			step = tries.Pick(len(depth)/12, 15, 1)
		}
		for rank, distance := range depth {
			for i, name := range search.Names() {
				if (rank+i)%step == 0 {
					agree(t, name, g, perm.UnrankPacked(g.Cells(), uint64(rank)), int(distance), all)
				}
			}
		}
	}
}

// TestLongRandom3x3 takes dozens of grids for the solvers that are quick enough, and 1,000 for all of them in the full run.
func TestLongRandom3x3(t *testing.T) {
	g, depth := solved(t, 3, 3)
	all := bounds(t, g, []int{0, 1, 2, 3}, []int{4, 5, 6, 7, 8})
	quick := []string{"greedy", "chains", "bidirectional", "pseudo-bidirectional", "astar-incremental"}
	for i, name := range search.Names()[tries.More(4, 0):] { // graph and bfs, the last of the first four, visit most states
		n, use := tries.Pick(1, 5, 1000), all
		if slices.Contains(quick, name) {
			n = tries.Pick(3, 50, 1000)
		}
		if name == "idastar" || tries.Long() {
			use = all[1:] // without a bound they take long
		}
		if !tries.Long() {
			use = use[i%(len(use)-1):][:2]
		}
		r := rand.New(rand.NewPCG(3, 3))
		for range n {
			s := shuffled(g, r)
			agree(t, name, g, s, int(depth[s.Rank(9)]), use)
		}
	}
}

// TestLongChains: on all states of small grids and some of large ones no solution has more swaps than the sum of the distances
// of all tiles, twice, and so than four times the swaps that are needed.
func TestLongChains(t *testing.T) {
	solve := func(g *swap.Grid, s swap.State, distance int) (swaps int) {
		sum := 0
		for cell, tile := range g.List(s) {
			row, col := cell/g.Cols()-int(tile)/g.Cols(), cell%g.Cols()-int(tile)%g.Cols()
			sum += max(row, -row) + max(col, -col)
		}
		swaps = len(run(t, "chains", g, g.List(s), search.Options{}).Swaps)
		must.Not(t, swaps > 2*sum || swaps > 4*distance, "state %x: %d swaps, %d needed, sum of distances %d", s, swaps, distance, sum)
		return swaps
	}
	for _, shape := range [][2]int{{2, 3}, {2, 4}, {3, 3}} {
		g, depth := solved(t, shape[0], shape[1])
		step, all, needed, worst := 1, 0, 0, 0.0
		if g.Cells() > 6 {
			step = tries.Pick(97, 7, 1)
		}
		for rank := 0; rank < len(depth); rank += step {
			distance := int(depth[rank])
			swaps := solve(g, perm.UnrankPacked(g.Cells(), uint64(rank)), distance)
			all, needed, worst = all+swaps, needed+distance, max(worst, float64(swaps)/float64(max(distance, 1)))
		}
		t.Logf("%d x %d: %.3f times as many swaps as are needed on average, %.2f times at most", g.Rows(), g.Cols(), float64(all)/float64(needed), worst)
	}
	g := swaptest.Grid(t, 3, 4)
	r := rand.New(rand.NewPCG(4, 1))
	for range tries.Pick(1, 30, 200) {
		s := shuffled(g, r)
		solve(g, s, len(run(t, "astar-bucket", g, g.List(s), search.Options{Heuristic: lifted(g)}).Swaps))
	}
}

// TestLongRandomLarger compares solvers with each other, where no distances are at hand: most of them on 3 x 4, and, in long tests, A* and IDA*
// with unlike bounds on 4 x 4.
func TestLongRandomLarger(t *testing.T) {
	all := []struct {
		rows  int
		by    string
		sets  [][]int // of the bounds
		names []string
		tries int
	}{
		{3, "bidirectional", tries.More([][]int{{0, 1, 4, 5}, {2, 3, 6, 7}, {8, 9, 10, 11}}, [][]int{{0, 1, 4, 5, 8, 9}, {2, 3, 6, 7, 10, 11}}), []string{
			"astar", "astar-bucket", "astar-incremental", "astar-parallel", "astar-weighted", "astar-bidirectional", "dibbs", "idastar",
			"pseudo-bidirectional", "greedy", "chains", "beam",
		}, 200},
		{4, "astar-bucket", [][]int{{0, 1, 2, 4, 5}, {3, 6, 7, 11, 10}, {9, 12, 13, 14, 15}}, []string{
			"idastar", "astar", "dibbs", "astar-parallel",
		}, 100},
	}
	for _, c := range all[:tries.More(1, 2)] {
		g, r := swaptest.Grid(t, c.rows, 4), rand.New(rand.NewPCG(uint64(c.rows), uint64(2*c.rows-2)))
		all := bounds(t, g, c.sets...)
		for range tries.Pick(1, 2, c.tries) {
			s := shuffled(g, r)
			distance := len(run(t, c.by, g, g.List(s), search.Options{Heuristic: all[4]}).Swaps)
			for i, name := range c.names {
				use := append(all[3:7:7], all[8])
				if c.rows == 4 { // weaker bounds take long
					use = map[bool][]heuristic.Heuristic{true: all[8:], false: all[4:5]}[strings.HasSuffix(name, "astar")]
				} else if !tries.Long() {
					use = use[i%5:][:1]
				}
				agree(t, name, g, s, distance, use)
			}
		}
	}
}

// TestLongStopped checks that a search that may not finish says so and returns a true lower bound.
func TestLongStopped(t *testing.T) {
	g, depth := solved(t, 3, 3)
	w := heuristic.NewManhattan(g)
	r := rand.New(rand.NewPCG(5, 5))
	for range tries.More(1, 3) {
		s := shuffled(g, r)
		for _, name := range search.Names() {
			solver := must.Get(search.Find(name))(t)
			for _, o := range []search.Options{{Heuristic: w, Job: job.Job{Memory: 60000}}, {Heuristic: w, Job: job.Job{Memory: 1}}, {Heuristic: w, Time: 1}} {
				res := run(t, name, g, g.List(s), o)
				d := int(depth[s.Rank(9)])
				must.Not(t, res.Lower > d || res.Stopped == "" && !res.Optimal && solver.Exact,
					"%s: lower bound %d, distance %d, stopped %q", name, res.Lower, d, res.Stopped)
			}
		}
	}
	res := run(t, "bfs", g, g.List(g.Goal().Swap(0, 8)), search.Options{Job: job.Job{Memory: 30000}})
	should.Not(t, res.Stopped != "memory" || res.Optimal, "%+v", res)
}

func TestRefused(t *testing.T) {
	small, g := swaptest.Grid(t, 2, 2), swaptest.Grid(t, 5, 5)
	for _, c := range []struct {
		name  string
		g     *swap.Grid
		tiles swap.List
		h     heuristic.Heuristic
		want  error
	}{
		{"dijkstra", small, small.Home(), nil, search.ErrSolver},
		{"astar", small, small.Home(), nil, search.ErrHeuristic},
		{"idastar", small, small.Home(), nil, search.ErrHeuristic},
		{"astar", g, g.Home(), lifted(g), swap.ErrSize},
		{"bfs", g, g.Home(), nil, swap.ErrSize},
		{"idastar", g, g.Home(), heuristic.Inverse{Heuristic: lifted(g), Grid: g}, heuristic.ErrTooLarge},
		{"beam", g, g.Home(), nil, search.ErrHeuristic},
		{"greedy", g, g.Home()[1:], nil, swap.ErrTiles},
		{"greedy", g, make(swap.List, 25), nil, swap.ErrTiles},
	} {
		should.Be(t, must.Err(search.Solve(t.Context(), c.name, c.g, c.tiles, search.Options{Heuristic: c.h})), c.want, "%s, %v", c.name, c.tiles)
	}
	last := perm.UnrankPacked(9, perm.Factorial(9)-1)
	for _, name := range []string{"bfs", "graph", "astar-parallel"} {
		g := swaptest.Grid(t, 3, 3)
		r, err := search.Solve(must.Ended(t), name, g, g.List(last), search.Options{Job: job.Job{Workers: 2}, Heuristic: heuristic.NewManhattan(g)})
		should.Hold(t, errors.Is(err, context.Canceled) && r.Stopped == "interrupt" && r.Lower != 0 && r.Lower <= 16 && len(r.Swaps) >= 16,
			"%s, cancelled: %+v, %v", name, r, err)
	}
}

// TestProgress interrupts a search that would take hours, after some reports.
func TestProgress(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g := swaptest.Grid(t, 4, 4)
	s := perm.UnrankPacked(16, perm.Factorial(16)-1)
	var list []search.Progress
	o := search.Options{Heuristic: heuristic.NewManhattan(g), Job: job.Job{Memory: 1 << 30, Progress: func(s job.Step) {
		if list = append(list, s.Detail.(search.Progress)); len(list) == 3 {
			cancel()
		}
	}}}
	r, err := search.Solve(ctx, "astar", g, g.List(s), o)
	must.Hold(t, errors.Is(err, context.Canceled) && r.Stopped == "interrupt" && len(list) == 3, "%+v, %v, %d reports", r, err, len(list))
	for i, p := range list {
		should.Not(t, p.Solver != "astar" || p.Lower < 32 || p.Lower > 36 || p.Best < 36 || p.Open == 0 || p.Closed == 0 || p.Bytes == 0 || p.Bytes > p.Memory,
			"%+v", p)
		last := list[max(i-1, 0)]
		should.Not(t, i > 0 && p.Expanded <= last.Expanded, "%+v after %+v", p, last)
	}
}

// patchy is a bound for some states, and 0 for the others. It says that it is consistent if that is asked.
type patchy struct {
	heuristic.Heuristic
	consistent bool
}

func (p patchy) Consistent() bool { return p.consistent }

func (p patchy) Estimate(s swap.State) int {
	if s*0x9e3779b97f4a7c15>>62 != 0 {
		return 0
	}
	return p.Heuristic.Estimate(s)
}

// TestLongJumps: where a bound jumps, that of a neighbour counts too, and fewer states are expanded for the same solution.
func TestLongJumps(t *testing.T) {
	g, r := swaptest.Grid(t, 2, 4), rand.New(rand.NewPCG(7, 2))
	states := []swap.State{shuffled(g, r), shuffled(g, r), shuffled(g, r)}[:tries.More(1, 3)]
	w := must.Get(heuristic.NewWalking(g))(t)
	for _, name := range []string{"astar", "astar-bucket", "idastar"} {
		var with, without uint64
		for _, s := range states {
			a := run(t, name, g, g.List(s), search.Options{Heuristic: patchy{w, false}})
			b := run(t, name, g, g.List(s), search.Options{Heuristic: patchy{w, true}}) // exact all the same
			should.Hold(t, len(a.Swaps) == len(b.Swaps), "%s: %d swaps and %d", name, len(a.Swaps), len(b.Swaps))
			with, without = with+a.Expanded, without+b.Expanded
		}
		should.Not(t, with > without*3/4, "%s: %d states expanded, %d with the bound of each state alone", name, with, without)
	}
}

// TestSVG checks that the drawing is XML with a tile for each cell that ends at home.
func TestSVG(t *testing.T) {
	g := swaptest.Grid(t, 2, 3)
	puzzle := must.Get(g.Puzzle([]int{2, 1, 3, 4, 5, 6}))(t)
	var values []string
	for _, e := range must.XML(t, string(search.SVG(puzzle, []swap.Swap{{A: 0, B: 1}}))) {
		for _, a := range e.Attr {
			if e.Name.Local == "animateTransform" && a.Name.Local == "values" {
				values = append(values, a.Value)
			}
		}
	}
	must.Equal(t, len(values), 6, "tiles")
	should.List(t, []string{values[0], values[1], values[5]}, []string{"90 30;30 30;30 30;30 30", "30 30;90 30;90 30;90 30", "150 90;150 90;150 90;150 90"})
	should.Lacks(t, string(search.SVG(puzzle, nil)), "animate")
}

func TestFrames(t *testing.T) {
	g := swaptest.Grid(t, 2, 5)
	puzzle := must.Get(g.Puzzle([]int{2, 10, 3, 4, 5, 6, 7, 8, 9, 1}))(t)
	frames := search.Frames(puzzle, []swap.Swap{{A: 0, B: 1}, {A: 4, B: 9}}, func(cell string) string {
		return "<" + strings.TrimSpace(cell) + ">"
	})
	want := []string{
		"  2  10   3   4   5 \n  6   7   8   9   1 \n",
		"<10><2>  3   4   5 \n  6   7   8   9   1 \n",
		" 10   2   3   4 <1>\n  6   7   8   9 <5>\n",
	}
	should.List(t, frames, want, "frames")
	should.List(t, search.Frames(puzzle, nil, strings.ToUpper), want[:1], "no swaps")
}

func TestGenerate(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	shapes := [][2]int{{1, 1}, {1, 2}, {2, 2}, {3, 1}, {3, 3}, {2, 5}, {4, 4}, {1, 16}, {5, 5}, {8, 8}, {64, 1}}
	for shape, g := range swaptest.Grids(t, shapes...) {
		m, most := heuristic.NewManhattan(g), heuristic.MaxManhattan(g)
		for _, d := range []float64{0, 0.1, 0.5, 0.77, 1} {
			s := must.Get(search.Generate(g, d, r))(t)
			sum := m.SumList(s)
			should.Not(t, math.Abs(float64(sum)-d*float64(most)) > 1 || sum > most, "%v, difficulty %v: sum %d, largest %d", shape, d, sum, most)
		}
	}
	for _, d := range []float64{-0.1, 1.1, math.NaN()} {
		should.Be(t, must.Err(search.Generate(swaptest.Grid(t, 2, 2), d, r)), search.ErrDifficulty, "%v", d)
	}
}

// TestLongParallel: neither the solution nor the work depends on the number of workers, with a bound that is not consistent too.
func TestLongParallel(t *testing.T) {
	g, depth := solved(t, 3, 3)
	w := must.Get(heuristic.NewWalking(g))(t)
	r := rand.New(rand.NewPCG(6, 6))
	for range tries.More(1, 2) {
		s := shuffled(g, r)
		for _, h := range []heuristic.Heuristic{heuristic.NewManhattan(g), heuristic.Inverse{Heuristic: w, Grid: g}} {
			solve := func(workers int) search.Result {
				return run(t, "astar-parallel", g, g.List(s), search.Options{Job: job.Job{Workers: workers}, Heuristic: h})
			}
			first := solve(1)
			must.Hold(t, len(first.Swaps) == int(depth[s.Rank(9)]) && first.Optimal, "%s, state %x: %d swaps", h.Name(), s, len(first.Swaps))
			for _, workers := range []int{2, 3, 40} {
				res := solve(workers)
				should.List(t, res.Swaps, first.Swaps, "%d workers", workers)
				should.Equal(t, res.Counts, first.Counts, "%d workers", workers)
			}
		}
	}
}

type broken struct {
	heuristic.Zero
	on swap.State
}

func (b broken) Estimate(s swap.State) int {
	if s == b.on {
		panic("a bug")
	}
	return 0
}

// TestParallelPanic: a panic of a worker is an error of the search.
func TestParallelPanic(t *testing.T) {
	g := swaptest.Grid(t, 2, 3)
	start := g.Goal().Swap(0, 5)
	o := search.Options{Job: job.Job{Workers: 3}, Heuristic: broken{on: start.Swap(0, 1)}}
	must.As[*crew.PanicError](t, must.Err(search.Solve(t.Context(), "astar-parallel", g, g.List(start), o)))
}

// lifted returns half the Manhattan distance of a grid, raised to the parity.
func lifted(g *swap.Grid) heuristic.Heuristic {
	return heuristic.Lift{Heuristic: heuristic.NewManhattan(g), Grid: g}
}

func run(t *testing.T, name string, g *swap.Grid, l swap.List, o search.Options) search.Result {
	t.Helper()
	r := must.Get(search.Solve(t.Context(), name, g, l, o))(t)
	tiles := append(swap.List(nil), l...)
	for _, m := range r.Swaps {
		tiles.Swap(m)
	}
	must.Hold(t, tiles.Solved(), "%s: %v does not solve %v", name, r.Swaps, l)
	must.Hold(t, r.Lower <= len(r.Swaps) && r.Optimal == (r.Lower == len(r.Swaps)),
		"%s, %v: length %d, lower bound %d, optimal %v", name, l, len(r.Swaps), r.Lower, r.Optimal)
	return r
}

// TestLargeNear solves grids that are a known number of swaps from home at most: no lower bound may be above it, and IDA* is not longer.
func TestLargeNear(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for _, g := range swaptest.Grids(t, [][2]int{{1, 20}, {2, 9}, {5, 5}, {4, 6}, {8, 8}}...) {
		for range 3 {
			l := g.Home()
			for range 6 {
				l.Swap(g.Swaps()[r.IntN(len(g.Swaps()))])
			}
			o := search.Options{Heuristic: lifted(g), Width: 64}
			exact, b := run(t, "idastar", g, l, o), run(t, "beam", g, l, o)
			should.Hold(t, exact.Optimal && len(exact.Swaps) <= 6 && b.Lower <= len(exact.Swaps) && len(b.Swaps) >= len(exact.Swaps),
				"%v: IDA* %d, beam %d to %d", l, len(exact.Swaps), b.Lower, len(b.Swaps))
		}
	}
}

// TestLongLargeRandom checks that a wider beam is no worse and that greedy is.
func TestLongLargeRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for shape, g := range swaptest.Grids(t, [][2]int{{3, 6}, {5, 5}, {8, 8}}[:tries.More(2, 3)]...) {
		l := must.Get(search.Generate(g, 0.67, r))(t)
		greedy := run(t, "greedy", g, l, search.Options{})
		narrow := run(t, "beam", g, l, search.Options{Heuristic: lifted(g), Width: 64})
		wide := run(t, "beam", g, l, search.Options{Heuristic: lifted(g), Width: 128})
		should.Hold(t, len(narrow.Swaps) < len(greedy.Swaps) && len(wide.Swaps) <= len(narrow.Swaps) && wide.Lower == greedy.Lower,
			"%v: greedy %d, beam %d and %d", shape, len(greedy.Swaps), len(narrow.Swaps), len(wide.Swaps))
	}
}

// TestBeamDistances gives the beam random grids of 3 x 3, whose distances are known: it never claims what is not true.
func TestBeamDistances(t *testing.T) {
	g, depth := solved(t, 3, 3)
	r := rand.New(rand.NewPCG(11, 11))
	shortest := 0
	for range 100 {
		s := shuffled(g, r)
		distance := int(depth[s.Rank(9)])
		b := run(t, "beam", g, g.List(s), search.Options{Heuristic: lifted(g), Width: 128})
		must.Not(t, len(b.Swaps) < distance || b.Lower > distance, "%x: %d to %d, distance %d", s, b.Lower, len(b.Swaps), distance)
		if len(b.Swaps) == distance {
			shortest++
		}
	}
	should.Not(t, shortest < 95, "%d of 100 are shortest", shortest)
}

// TestBeamMemory checks that a search keeps to its memory, as it counts it, and that the solution is better the more it has.
func TestBeamMemory(t *testing.T) {
	g := swaptest.Grid(t, 5, 5)
	l := must.Get(search.Generate(g, 0.67, rand.New(rand.NewPCG(12, 12))))(t)
	var most uint64
	const memory = 100_000
	o := search.Options{Heuristic: lifted(g), Job: job.Job{Memory: memory, Progress: func(s job.Step) { most = max(most, s.Detail.(search.Progress).Bytes) }}}
	r := run(t, "beam", g, l, o)
	should.Hold(t, r.Stopped == "memory" && most <= memory, "stopped %q, %d bytes", r.Stopped, most)
	o.Memory = 1000
	none := run(t, "beam", g, l, o)
	should.Hold(t, none.Stopped == "memory" && none.Expanded <= 0 && len(none.Swaps) >= len(r.Swaps), "%+v", none)
}

// TestLongLine gives the beam the reversal of the longest line, which has the largest bounds
// that there are: it needs every one of its inversions, as greedy finds.
func TestLongLine(t *testing.T) {
	g := swaptest.Grid(t, 1, 64)
	l := g.Home()
	slices.Reverse(l)
	const inversions = 64 * 63 / 2
	width := tries.More(16, 64)
	for _, name := range []string{"greedy", "beam"} {
		r := run(t, name, g, l, search.Options{Heuristic: lifted(g), Width: width})
		should.Hold(t, len(r.Swaps) == inversions && r.Lower == 1024, "%s: %d to %d", name, r.Lower, len(r.Swaps))
	}
}
