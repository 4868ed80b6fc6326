// Package swaptest has what tests of several packages need of the swap puzzle.
package swaptest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/kernels/perm"
	"grenier/layers"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/swap/patterns"
)

// Distances returns the distance of every state by rank, from a plain
// breadth-first search.
func Distances(g *swap.Grid) []uint8 {
	n := g.Cells()
	depth := make([]uint8, perm.Factorial(n))
	for i := range depth {
		depth[i] = 0xff
	}
	queue := []swap.State{g.Goal()}
	depth[g.Goal().Rank(n)] = 0
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, m := range g.Swaps() {
			if r := g.Apply(s, m).Rank(n); depth[r] == 0xff {
				depth[r] = depth[s.Rank(n)] + 1
				queue = append(queue, g.Apply(s, m))
			}
		}
	}
	return depth
}

// Symmetries returns the rotations and reflections that map a grid to itself,
// as permutations of the cells: 8 for a square, 4 for a rectangle, 2 for a line,
// 1 for a single cell. The identity comes first.
func Symmetries(g *swap.Grid) []perm.Packed {
	rows, cols := g.Rows(), g.Cols()
	var list []perm.Packed
	for kind := range 8 {
		diagonal, upDown, leftRight := kind&4 != 0, kind&2 != 0, kind&1 != 0
		if diagonal && rows != cols {
			continue
		}
		var p perm.Packed
		for cell := range rows * cols {
			r, c := cell/cols, cell%cols
			if upDown {
				r = rows - 1 - r
			}
			if leftRight {
				c = cols - 1 - c
			}
			if diagonal {
				r, c = c, r
			}
			p |= perm.Packed(r*cols+c) << (4 * cell)
		}
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// Grid returns the grid of these rows and columns.
func Grid(tb testing.TB, rows, cols int) *swap.Grid {
	tb.Helper()
	return must.Get(swap.NewListedGrid(rows, cols))(tb)
}

// Grids yields the grids of these rows and columns.
func Grids(tb testing.TB, sizes ...[2]int) iter.Seq2[[2]int, *swap.Grid] {
	return func(yield func([2]int, *swap.Grid) bool) {
		for _, size := range sizes {
			if !yield(size, Grid(tb, size[0], size[1])) {
				return
			}
		}
	}
}

// States yields all states of a grid, each with its rank.
func States(g *swap.Grid) iter.Seq2[uint64, swap.State] {
	return func(yield func(uint64, swap.State) bool) {
		for rank := range perm.Factorial(g.Cells()) {
			if !yield(rank, perm.UnrankPacked(g.Cells(), rank)) {
				return
			}
		}
	}
}

// Static returns the bound by databases of the given sets of tiles.
func Static(tb testing.TB, g *swap.Grid, cost heuristic.Cost, sets ...[]int) heuristic.Heuristic {
	tb.Helper()
	var list []*heuristic.Pattern
	for _, set := range sets {
		tiles := must.Get(heuristic.TilesOf(g, set))(tb)
		list = append(list, must.Get(patterns.Static(tb.Context(), g, tiles, patterns.Options{Cost: cost}))(tb))
	}
	return must.Get(heuristic.NewStatic(list...))(tb)
}

// Dynamic returns the bound by databases of all sets of 1 to size tiles.
func Dynamic(tb testing.TB, g *swap.Grid, cost heuristic.Cost, size int, exact bool) heuristic.Heuristic {
	tb.Helper()
	var tables []*heuristic.SetTable
	for k := 1; k <= size; k++ {
		tables = append(tables, must.Get(patterns.Dynamic(tb.Context(), g, k, patterns.Options{Cost: cost}))(tb))
	}
	return must.Get(heuristic.NewDynamic(exact, tables...))(tb)
}

// Shuffled returns a list of tiles in random order.
func Shuffled(g *swap.Grid, r *rand.Rand) swap.List {
	l := g.Home()
	r.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
	return l
}

// Space is a grid as a state space of one layer: the states by lexicographic rank, and all moves are
// quiet. Breadth-first depths would be finer layers, but there is no way to number the states of
// a depth without having searched, and half of the moves would climb. There is no score: Terminal
// returns 0.
type Space struct{ *swap.Grid }

var _ layers.Space[swap.State] = Space{}

// Name returns "swap, 3 x 4".
func (s Space) Name() string { return fmt.Sprintf("swap, %d x %d", s.Rows(), s.Cols()) }

// Layers returns 1.
func (s Space) Layers() int { return 1 }

// Size returns the number of states, Cells factorial.
func (s Space) Size(int) uint64 { return perm.Factorial(s.Cells()) }

// Rank returns layer 0 and the lexicographic rank of the list of tiles.
func (s Space) Rank(state swap.State) (layer int, rank uint64) { return 0, state.Rank(s.Cells()) }

// Unrank returns the state with this rank.
func (s Space) Unrank(_ int, rank uint64) swap.State { return perm.UnrankPacked(s.Cells(), rank) }

// Successors appends the states after one swap, in the order of Swaps.
func (s Space) Successors(dst []layers.Move[swap.State], state swap.State) []layers.Move[swap.State] {
	for _, m := range s.Swaps() {
		dst = append(dst, layers.Move[swap.State]{To: s.Apply(state, m)})
	}
	return dst
}

// Predecessors appends the same states: a swap undoes itself.
func (s Space) Predecessors(dst []swap.State, state swap.State) []swap.State {
	for _, m := range s.Swaps() {
		dst = append(dst, s.Apply(state, m))
	}
	return dst
}

// Terminal returns 0.
func (s Space) Terminal(swap.State) int { return 0 }
