package swap_test

import (
	"fmt"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/swaptest"
	"grenier/kernels/perm"
	"grenier/layers/swap"
)

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		rows, cols int
		want       error
	}{
		{1, 1, nil}, {1, 16, nil}, {16, 1, nil}, {4, 4, nil}, {3, 5, nil},
		{0, 3, swap.ErrSize}, {3, 0, swap.ErrSize}, {-2, -2, swap.ErrSize}, {1, 17, swap.ErrSize},
		{3, 6, swap.ErrSize}, {1 << 20, 1 << 12, swap.ErrSize}, {1 << 30, 1 << 30, swap.ErrSize},
	} {
		should.Be(t, must.Err(swap.NewGrid(c.rows, c.cols)), c.want, "%d x %d", c.rows, c.cols)
	}
}

// TestSwaps checks the moves by their definition (document 004, section 2, with
// the counts of docs/sources.md).
func TestSwaps(t *testing.T) {
	for _, size := range sizes() {
		m, n := size[0], size[1]
		g := mustGrid(t, m, n)
		if got, want := len(g.Swaps()), m*(n-1)+(m-1)*n; got != want {
			t.Errorf("%d x %d: %d swaps, want %d", m, n, got, want)
		}
		var want []swap.Swap
		for a := range m * n {
			for b := a + 1; b < m*n; b++ {
				if a/n == b/n && b-a == 1 || a%n == b%n && b/n-a/n == 1 {
					want = append(want, swap.Swap{A: a, B: b})
				}
			}
		}
		should.List(t, g.Swaps(), want, "%d x %d", m, n)
	}
}

// conjugate applies a symmetry h to cells and tiles: the tile h(t) is in cell h(c) where s has t in c.
func conjugate(g *swap.Grid, s swap.State, h perm.Packed) swap.State {
	n := g.Cells()
	return h.Compose(s, n).Compose(h.Inverse(n), n)
}

// distances finds the distance of every state of a grid, breadth first.
func distances(g *swap.Grid) map[swap.State]int {
	far := map[swap.State]int{g.Goal(): 0}
	for queue := []swap.State{g.Goal()}; len(queue) > 0; queue = queue[1:] {
		for _, m := range g.Swaps() {
			next := g.Apply(queue[0], m)
			if _, known := far[next]; !known {
				far[next] = far[queue[0]] + 1
				queue = append(queue, next)
			}
		}
	}
	return far
}

// TestDistances checks on every state the claims of the package comment about
// distances: parity, inverse, symmetries; and that on a line they are the
// numbers of inversions.
func TestDistances(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 5}, {5, 1}, {1, 7}, {2, 2}, {2, 3}, {3, 2}, {2, 4}} {
		g := mustGrid(t, size[0], size[1])
		far := distances(g)
		should.Hold(t, uint64(len(far)) == perm.Factorial(g.Cells()), "%v: %d states", size, len(far))
		for s, d := range far {
			must.Equal(t, g.Parity(s), d%2, "%v: %x at distance %d has parity", size, s, d)
			must.Equal(t, far[g.Inverse(s)], d, "%v: %x is at distance %d, its inverse at", size, s, d)
			for _, h := range swaptest.Symmetries(g) {
				got, known := far[conjugate(g, s, h)]
				must.Hold(t, known && got == d, "%v: %x is at distance %d, its image under %x at %d", size, s, d, h, got)
			}
			must.Not(t, (g.Rows() == 1 || g.Cols() == 1) && s.Inversions(g.Cells()) != d, "%v: %x is at distance %d", size, s, d)
		}
	}
}

func ExampleGrid_Apply() {
	g, err := swap.NewGrid(2, 2)
	if err != nil {
		panic(err)
	}
	s := g.Goal()
	for _, m := range []swap.Swap{{A: 0, B: 1}, {A: 1, B: 3}} {
		s = g.Apply(s, m)
	}
	fmt.Print(swap.Puzzle{Grid: g, Tiles: g.List(s), First: 1})
	fmt.Println("parity", g.Parity(s))
	// Output:
	// 2 2
	// 2 4
	// 3 1
	// parity 0
}
