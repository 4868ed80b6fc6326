package heuristic_test

import (
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/swaptest"
	"grenier/internal/testkit/tries"
	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
)

var mustGrid = swaptest.Grid

// forAll calls f for all states of a grid.
func forAll(g *swap.Grid, f func(s swap.State)) {
	for rank := range perm.Factorial(g.Cells()) {
		f(perm.UnrankPacked(g.Cells(), rank))
	}
}

// small returns the sizes of all grids of up to the given cells.
func small(cells int) (sizes [][2]int) {
	for rows := 1; rows <= cells; rows++ {
		for cols := 1; rows*cols <= cells; cols++ {
			sizes = append(sizes, [2]int{rows, cols})
		}
	}
	return sizes
}

// TestLongFlags follows all swaps of all states of small grids: the bounds are 0 at home
// and change by at most 1, which makes them admissible as well.
// Package patterns compares them with distances and reference values.
func TestLongFlags(t *testing.T) {
	cells := tries.More(7, 9)
	for _, size := range small(cells) {
		g := mustGrid(t, size[0], size[1])
		m, v, w := heuristic.NewManhattan(g), heuristic.NewInversions(g), must.Get(heuristic.NewWalking(g))(t)
		for _, h := range []heuristic.Heuristic{
			heuristic.Zero{}, m, v, w, heuristic.Lift{Heuristic: m, Grid: g}, heuristic.Lift{Heuristic: w, Grid: g},
			heuristic.Max{m, v, w}, heuristic.Inverse{Heuristic: w, Grid: g},
		} {
			if h.Estimate(g.Goal()) != 0 {
				t.Errorf("%v %s: %d at home", size, h.Name(), h.Estimate(g.Goal()))
			}
			if h.Consistent() {
				checkConsistent(t, g, h)
			}
		}
	}
}

func checkConsistent(t *testing.T, g *swap.Grid, h heuristic.Heuristic) {
	t.Helper()
	values := make([]int, 0, perm.Factorial(g.Cells()))
	forAll(g, func(s swap.State) { values = append(values, h.Estimate(s)) })
	rank := 0
	forAll(g, func(s swap.State) {
		for _, move := range g.Swaps() {
			if d := values[rank] - values[g.Apply(s, move).Rank(g.Cells())]; d < -1 || d > 1 {
				t.Fatalf("%d x %d %s: state %x, %v: changes by %d", g.Rows(), g.Cols(), h.Name(), s, move, d)
			}
		}
		rank++
	})
}

// TestManhattan checks the changes, the largest sum (docs/sources.md), and that walking
// distance is never less (theorem 3.6).
func TestManhattan(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {1, 5}, {2, 2}, {2, 3}, {3, 2}, {2, 4}} {
		g := mustGrid(t, shape[0], shape[1])
		m, w, most := heuristic.NewManhattan(g), must.Get(heuristic.NewWalking(g))(t), 0
		forAll(g, func(s swap.State) {
			most = max(most, m.Sum(s))
			if w.Estimate(s) < m.Estimate(s) {
				t.Fatalf("%v, state %x: walking %d, manhattan %d", shape, s, w.Estimate(s), m.Estimate(s))
			}
			for _, move := range g.Swaps() {
				must.Equal(t, m.Change(s, move), m.Sum(g.Apply(s, move))-m.Sum(s), "%v, state %x, %v: change", shape, s, move)
			}
		})
		should.Equal(t, most, heuristic.MaxManhattan(g), "%v: largest sum", shape)
	}
}

func TestRefused(t *testing.T) {
	should.Be(t, must.Err(heuristic.NewWalking(mustGrid(t, 2, 8))), heuristic.ErrTooLarge)
	g := mustGrid(t, 2, 3)
	for _, numbers := range [][]int{nil, {6}, {-1}, {1, 1}} {
		should.Be(t, must.Err(heuristic.TilesOf(g, numbers)), heuristic.ErrPattern, "%v", numbers)
	}
	should.Be(t, must.Err(heuristic.ParseCost("half")), heuristic.ErrCost)
	one := &heuristic.Pattern{Grid: g, Tiles: 1, Cost: heuristic.Unit}
	tracked := &heuristic.Pattern{Grid: g, Tiles: 2, Cost: heuristic.Tracked}
	other := &heuristic.Pattern{Grid: mustGrid(t, 3, 2), Tiles: 2, Cost: heuristic.Unit}
	for i, list := range [][]*heuristic.Pattern{nil, {one, one}, {one, tracked}, {one, other}} {
		should.Be(t, must.Err(heuristic.NewStatic(list...)), heuristic.ErrPattern, "%d", i)
	}
	should.Be(t, must.Err(heuristic.NewDynamic(true, &heuristic.SetTable{Grid: g, Size: 2, Cost: heuristic.Unit})), heuristic.ErrPattern)
}
