package bfs_test

import (
	"math"
	"slices"
	"testing"

	"grenier/internal/testkit/should"
	"grenier/internal/testkit/swaptest"
	"grenier/internal/testkit/tries"
	"grenier/kernels/perm"
	"grenier/layers/swap"
)

// TestLongClasses compares with a search of classes, which shares no code with the search of all states.
func TestLongClasses(t *testing.T) {
	type task struct{ rows, cols, deepest int }
	const all = math.MaxInt
	var searches []task
	for rows := 1; rows <= 3; rows++ {
		for cols := rows; rows*cols <= 9; cols++ {
			searches = append(searches, task{rows, cols, all})
		}
	}
	searches = append(searches, tries.Pick(nil,
		[]task{{2, 5, all}, {1, 10, all}},
		[]task{{2, 5, all}, {1, 10, all}, {1, 11, all}, {3, 4, all}})...)
	for _, s := range searches {
		got, want := search(t, s.rows, s.cols, 2).Depths, byClass(mustGrid(t, s.rows, s.cols), s.deepest)
		if s.deepest < all {
			got = got[:min(len(got), s.deepest+1)]
		}
		should.Hold(t, slices.Equal(got, want), "%d x %d: %v, by classes %v", s.rows, s.cols, got, want)
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

// set makes it the class of s.
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
