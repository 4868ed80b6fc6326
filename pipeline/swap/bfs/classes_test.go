package bfs_test

import (
	"os"
	"slices"
	"testing"

	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/layers/swap/swaptest"
)

// TestClasses compares with a search of classes, which shares no code with that of all states.
func TestClasses(t *testing.T) {
	var sizes [][2]int
	for rows := 1; rows <= 3; rows++ {
		for cols := rows; rows*cols <= 9; cols++ {
			sizes = append(sizes, [2]int{rows, cols})
		}
	}
	switch os.Getenv("GRENIER_LONG") {
	case "":
	case "full":
		sizes = append(sizes, [2]int{1, 11}, [2]int{3, 4})
		fallthrough
	default:
		sizes = append(sizes, [2]int{2, 5}, [2]int{1, 10})
	}
	for _, size := range sizes {
		got, want := search(t, size[0], size[1], 2).Depths, byClass(mustGrid(t, size[0], size[1]))
		if !slices.Equal(got, want) {
			t.Errorf("%d x %d: %v, by classes %v", size[0], size[1], got, want)
		}
	}
}

// byClass counts the states at each distance from the goal, but visits one of each class only:
// a class is a state, its images under the symmetries of the grid, and the inverses of these,
// which are all equally far from the goal. Its smallest state stands for it.
//
// Symmetries take swaps to swaps, but the inverse takes a swap of cells to one of tiles. So the
// neighbours of a class are those of the state that stands for it and those of its inverse.
func byClass(g *swap.Grid) (depths []uint64) {
	n := g.Cells()
	seen := make([]uint64, perm.Factorial(n)/64+1) // by rank
	seen[0] = 1                                    // the goal
	newest, next := []swap.State{g.Goal()}, []swap.State{}
	for ; len(newest) > 0; newest, next = next, newest[:0] {
		states := uint64(0)
		for _, s := range newest {
			_, size := class(g, s)
			states += size
			for _, from := range []swap.State{s, g.Inverse(s)} {
				for _, m := range g.Swaps() {
					to, _ := class(g, g.Apply(from, m))
					if rank := to.Rank(n); seen[rank/64]>>(rank%64)&1 == 0 {
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

// class returns the smallest state of the class of s and the number of its states: that of all
// images over that of those which are s.
func class(g *swap.Grid, s swap.State) (least swap.State, states uint64) {
	least = s
	images, same := uint64(0), uint64(0)
	for _, h := range swaptest.Symmetries(g) {
		var image, inverse swap.State
		for cell := range g.Cells() {
			a, b := h.At(cell), h.At(s.At(cell))
			image |= swap.State(b) << (4 * a)
			inverse |= swap.State(a) << (4 * b)
		}
		for _, t := range [2]swap.State{image, inverse} {
			images++
			if t == s {
				same++
			}
			least = min(least, t)
		}
	}
	return least, images / same
}
