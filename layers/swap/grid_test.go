package swap_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/conformance"
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

// TestSwaps checks the moves by their definition (document 004, section 2, with the counts of docs/sources.md).
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

// TestDistances checks on every state the claims of the package comment about distances: parity, inverse, symmetries;
// and that on a line they are the numbers of inversions.
func TestDistances(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 5}, {5, 1}, {1, 7}, {2, 2}, {2, 3}, {3, 2}, {2, 4}} {
		g := mustGrid(t, size[0], size[1])
		n, far := g.Cells(), swaptest.Distances(g)
		distance := func(s swap.State) int { return int(far[s.Rank(n)]) }
		for rank := range far {
			s := perm.UnrankPacked(n, uint64(rank))
			d := distance(s)
			must.Not(t, d == 0xff, "%v: %x is not reached", size, s)
			must.Equal(t, g.Parity(s), d%2, "%v: %x at distance %d has parity", size, s, d)
			must.Equal(t, distance(g.Inverse(s)), d, "%v: %x is at distance %d, its inverse at", size, s, d)
			for _, h := range swaptest.Symmetries(g) {
				must.Equal(t, distance(conjugate(g, s, h)), d, "%v: %x is at distance %d, its image under %x at", size, s, d, h)
			}
			must.Not(t, (g.Rows() == 1 || g.Cols() == 1) && s.Inversions(n) != d, "%v: %x is at distance %d", size, s, d)
		}
	}
}

// TestCheckDepths: the depths of all small grids pass, up to any depth, and no number of them can be much different.
func TestCheckDepths(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 2}, {1, 3}, {2, 2}, {1, 6}, {2, 3}, {2, 4}, {4, 2}} {
		g := mustGrid(t, size[0], size[1])
		var depths []uint64
		for _, d := range swaptest.Distances(g) {
			for int(d) >= len(depths) {
				depths = append(depths, 0)
			}
			depths[d]++
		}
		should.Be(t, g.CheckDepths(depths, true), nil, "%v", size)
		for d := range depths {
			should.Be(t, g.CheckDepths(depths[:d], false), nil, "%v, %d depths", size, d)
			should.Be(t, g.CheckDepths(depths[:d], true), swap.ErrDepths, "%v, %d depths", size, d)
			for _, wrong := range []uint64{0, depths[d] + 1, depths[d] - 1, 1 << 63, 1<<64 - 1} {
				bad := slices.Clone(depths)
				bad[d] = wrong
				should.Be(t, g.CheckDepths(bad, true), swap.ErrDepths, "%v, %d at depth %d", size, wrong, d)
			}
		}
		should.Be(t, g.CheckDepths(append(depths, 1), false), swap.ErrDepths, "%v: a depth more", size)
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

// sizes are all grids up to 16 cells that are not higher than wide, and a few that are.
func sizes() (list [][2]int) {
	for rows := 1; rows <= 4; rows++ {
		for cols := rows; rows*cols <= swap.MaxCells; cols++ {
			list = append(list, [2]int{rows, cols})
		}
	}
	return append(list, [2]int{16, 1}, [2]int{3, 2}, [2]int{4, 3})
}

var mustGrid = swaptest.Grid

func TestConformance(t *testing.T) {
	for _, size := range sizes() {
		space := swaptest.Space{Grid: mustGrid(t, size[0], size[1])}
		t.Run(space.Name(), func(t *testing.T) {
			conformance.Run(t, space, conformance.Options{Exhaustive: 5040, Samples: 100})
		})
	}
}

// shuffled returns a random state.
func shuffled(g *swap.Grid, r *rand.Rand) swap.List {
	l := g.Home()
	r.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
	return l
}

func TestListedSizes(t *testing.T) {
	for _, size := range [][2]int{{1, 65}, {9, 8}, {0, 1}, {1, -1}, {1 << 32, 1 << 32}} {
		should.Be(t, must.Err(swap.NewListedGrid(size[0], size[1])), swap.ErrSize, "%v", size)
	}
	g := mustGrid(t, 8, 8)
	should.Hold(t, len(g.Swaps()) == 112 && !g.Packs() && mustGrid(t, 4, 4).Packs(), "%d swaps", len(g.Swaps()))
}

// TestListAgainstState does the same with both kinds of states.
func TestListAgainstState(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, size := range sizes() {
		g := mustGrid(t, size[0], size[1])
		l := shuffled(g, r)
		s := l.State()
		for _, m := range g.Swaps() {
			must.Hold(t, l.Parity() == g.Parity(s) && l.Solved() == (s == g.Goal()) && l.State() == s && slices.Equal(g.List(s), l) && l.Valid(),
				"%v: %v is not %x", size, l, s)
			l.Swap(m)
			s = g.Apply(s, m)
		}
		should.Hold(t, g.Home().Solved() && g.Home().State() == g.Goal(), "%v: home is %v", size, g.Home())
	}
}

// TestToward plays random moves from random states, and back: what solves the relative state
// leads from one to the other.
func TestToward(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		g := must.Get(swap.NewListedGrid(1+r.IntN(5), 1+r.IntN(5)))(t)
		from := g.Home()
		r.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
		to := slices.Clone(from)
		var moves []swap.Swap
		for range r.IntN(20) * len(g.Swaps()) {
			m := g.Swaps()[r.IntN(len(g.Swaps()))]
			to.Swap(m)
			moves = append(moves, m)
		}
		relative := from.Toward(to)
		for _, m := range moves {
			relative.Swap(m)
		}
		must.Hold(t, relative.Solved(), "from %v to %v by %v: %v is left", from, to, moves, relative)
		must.List(t, from.Toward(g.Home()), from, "toward the goal %v", from)
	}
}
