package search_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/swaptest"
	"grenier/internal/testkit/tries"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/job"
	"grenier/pipeline/swap/search"
)

// lifted returns half the Manhattan distance of a grid, raised to the parity.
func lifted(g *swap.Grid) heuristic.Heuristic {
	return heuristic.Lift{Heuristic: heuristic.NewManhattan(g), Grid: g}
}

// runList solves a state of any grid and replays the solution.
func runList(t *testing.T, name string, g *swap.Grid, l swap.List, o search.Options) search.Result {
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

// walked returns the state after random swaps of the solved one.
func walked(g *swap.Grid, swaps int, r *rand.Rand) swap.List {
	l := g.Home()
	for range swaps {
		l.Swap(g.Swaps()[r.IntN(len(g.Swaps()))])
	}
	return l
}

// TestLargeNear solves grids that are a known number of swaps from home at most: no
// lower bound may be above it, and IDA* is not longer.
func TestLargeNear(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for _, shape := range [][2]int{{1, 20}, {2, 9}, {5, 5}, {4, 6}, {8, 8}} {
		g := mustGrid(t, shape[0], shape[1])
		for range 5 {
			l := walked(g, 6, r)
			o := search.Options{Heuristic: lifted(g), Width: 64}
			exact := runList(t, "idastar", g, l, o)
			b := runList(t, "beam", g, l, o)
			should.Hold(t, exact.Optimal && len(exact.Swaps) <= 6 && b.Lower <= len(exact.Swaps) && len(b.Swaps) >= len(exact.Swaps),
				"%v: IDA* %d, beam %d to %d", l, len(exact.Swaps), b.Lower, len(b.Swaps))
		}
	}
}

// TestLongLargeRandom checks that a wider beam is no worse and that greedy is.
func TestLongLargeRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	shapes := [][2]int{{3, 6}, {5, 5}}
	if tries.Long() {
		shapes = append(shapes, [2]int{8, 8})
	}
	for _, shape := range shapes {
		g := mustGrid(t, shape[0], shape[1])
		l := must.Get(search.Generate(g, 0.67, r))(t)
		greedy := runList(t, "greedy", g, l, search.Options{})
		narrow := runList(t, "beam", g, l, search.Options{Heuristic: lifted(g), Width: 64})
		wide := runList(t, "beam", g, l, search.Options{Heuristic: lifted(g), Width: 128})
		should.Hold(t, len(narrow.Swaps) < len(greedy.Swaps) && len(wide.Swaps) <= len(narrow.Swaps) && wide.Lower == greedy.Lower,
			"%v: greedy %d, beam %d and %d", shape, len(greedy.Swaps), len(narrow.Swaps), len(wide.Swaps))
	}
}

// TestBeamDistances gives the beam random grids of 3 x 3, whose distances are known: it never claims what is not true.
func TestBeamDistances(t *testing.T) {
	g := mustGrid(t, 3, 3)
	depth := swaptest.Distances(g)
	r := rand.New(rand.NewPCG(11, 11))
	shortest := 0
	for range 200 {
		l := g.List(shuffled(g, r))
		distance := int(depth[l.State().Rank(9)])
		b := runList(t, "beam", g, l, search.Options{Heuristic: lifted(g), Width: 128})
		must.Not(t, len(b.Swaps) < distance || b.Lower > distance, "%v: %d to %d, distance %d", l, b.Lower, len(b.Swaps), distance)
		if len(b.Swaps) == distance {
			shortest++
		}
	}
	should.Not(t, shortest < 190, "%d of 200 are shortest", shortest)
}

// TestBeamMemory checks that a search keeps to its memory, as it counts it, and that the
// solution is better the more it has.
func TestBeamMemory(t *testing.T) {
	g := mustGrid(t, 5, 5)
	l := must.Get(search.Generate(g, 0.67, rand.New(rand.NewPCG(12, 12))))(t)
	var most uint64
	const memory = 200_000
	o := search.Options{Heuristic: lifted(g), Job: job.Job{Memory: memory, Progress: func(s job.Step) { most = max(most, s.Detail.(search.Progress).Bytes) }}}
	r := runList(t, "beam", g, l, o)
	should.Hold(t, r.Stopped == "memory" && most <= memory, "stopped %q, %d bytes", r.Stopped, most)
	o.Memory = 1000
	none := runList(t, "beam", g, l, o)
	should.Hold(t, none.Stopped == "memory" && none.Expanded <= 0 && len(none.Swaps) >= len(r.Swaps), "%+v", none)
}

// TestLongLine gives the beam the reversal of the longest line, which has the largest bounds
// that there are: it needs every one of its inversions, as greedy finds.
func TestLongLine(t *testing.T) {
	g := mustGrid(t, 1, 64)
	l := g.Home()
	slices.Reverse(l)
	const inversions = 64 * 63 / 2
	width := tries.More(16, 64)
	for _, name := range []string{"greedy", "beam"} {
		r := runList(t, name, g, l, search.Options{Heuristic: lifted(g), Width: width})
		should.Hold(t, len(r.Swaps) == inversions && r.Lower == 1024, "%s: %d to %d", name, r.Lower, len(r.Swaps))
	}
}

func TestLargeRefused(t *testing.T) {
	g := mustGrid(t, 5, 5)
	w := heuristic.Inverse{Heuristic: lifted(g), Grid: g}
	for _, c := range []struct {
		name  string
		tiles swap.List
		h     heuristic.Heuristic
		want  error
	}{
		{"astar", g.Home(), lifted(g), swap.ErrSize},
		{"bfs", g.Home(), nil, swap.ErrSize},
		{"idastar", g.Home(), w, heuristic.ErrTooLarge},
		{"beam", g.Home(), nil, search.ErrHeuristic},
		{"greedy", g.Home()[1:], nil, swap.ErrTiles},
		{"greedy", make(swap.List, 25), nil, swap.ErrTiles},
	} {
		should.Be(t, must.Err(search.Solve(t.Context(), c.name, g, c.tiles, search.Options{Heuristic: c.h})), c.want, "%s", c.name)
	}
}
