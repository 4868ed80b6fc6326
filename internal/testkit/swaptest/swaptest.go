// Package swaptest has what tests of several packages need of the swap puzzle.
package swaptest

import (
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/kernels/perm"
	"grenier/layers/swap"
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
