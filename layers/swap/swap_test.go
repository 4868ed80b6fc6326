package swap_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"grenier/internal/testkit/conformance"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/swaptest"
	"grenier/internal/testkit/tries"
	"grenier/kernels/perm"
	"grenier/layers/swap"
)

// TestSwaps checks the moves by their definition (document 004, section 2, with the counts of docs/sources.md), and which grids there are.
func TestSwaps(t *testing.T) {
	for size, g := range swaptest.Grids(t, sizes()...) {
		m, n := size[0], size[1]
		should.Equal(t, len(g.Swaps()), m*(n-1)+(m-1)*n, "%d x %d: swaps", m, n)
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
	for size, want := range map[[2]int]error{
		{1, 1}: nil, {1, 16}: nil, {16, 1}: nil, {4, 4}: nil, {3, 5}: nil, {0, 3}: swap.ErrSize, {3, 0}: swap.ErrSize, {-2, -2}: swap.ErrSize,
		{1, 17}: swap.ErrSize, {3, 6}: swap.ErrSize, {1 << 20, 1 << 12}: swap.ErrSize, {1 << 30, 1 << 30}: swap.ErrSize,
	} {
		should.Be(t, must.Err(swap.NewGrid(size[0], size[1])), want, "%v", size)
	}
	for _, size := range [][2]int{{1, 65}, {9, 8}, {0, 1}, {1, -1}, {1 << 32, 1 << 32}} {
		should.Be(t, must.Err(swap.NewListedGrid(size[0], size[1])), swap.ErrSize, "%v", size)
	}
	g := swaptest.Grid(t, 8, 8)
	should.Hold(t, len(g.Swaps()) == 112 && !g.Packs() && swaptest.Grid(t, 4, 4).Packs(), "%d swaps", len(g.Swaps()))
}

// conjugate applies a symmetry h to cells and tiles: the tile h(t) is in cell h(c) where s has t in c.
func conjugate(g *swap.Grid, s swap.State, h perm.Packed) swap.State {
	n := g.Cells()
	return h.Compose(s, n).Compose(h.Inverse(n), n)
}

// TestDistances checks on every state the claims of the package comment about distances: parity, inverse, symmetries;
// and that on a line they are the numbers of inversions.
func TestDistances(t *testing.T) {
	for size, g := range swaptest.Grids(t, [][2]int{{1, 1}, {1, 5}, {5, 1}, {1, 7}, {2, 2}, {2, 3}, {3, 2}, {2, 4}}...) {
		n, far := g.Cells(), swaptest.Distances(g)
		distance := func(s swap.State) int { return int(far[s.Rank(n)]) }
		for _, s := range swaptest.States(g) {
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
	for size, g := range swaptest.Grids(t, [][2]int{{1, 1}, {1, 2}, {1, 3}, {2, 2}, {1, 6}, {2, 3}, {2, 4}, {4, 2}}...) {
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

// sizes are all grids up to 16 cells that are not higher than wide, and a few that are.
func sizes() (list [][2]int) {
	for rows := 1; rows <= 4; rows++ {
		for cols := rows; rows*cols <= swap.MaxCells; cols++ {
			list = append(list, [2]int{rows, cols})
		}
	}
	return append(list, [2]int{16, 1}, [2]int{3, 2}, [2]int{4, 3})
}

func TestConformance(t *testing.T) {
	for _, size := range sizes() {
		space := swaptest.Space{Grid: swaptest.Grid(t, size[0], size[1])}
		t.Run(space.Name(), func(t *testing.T) { conformance.Run(t, space, conformance.Options{Exhaustive: 720, Samples: 40}) })
	}
}

// TestListAgainstState does the same with both kinds of states.
func TestListAgainstState(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for size, g := range swaptest.Grids(t, sizes()...) {
		l := swaptest.Shuffled(g, r)
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

// TestToward plays random moves from random states, and back: what solves the relative state leads from one to the other.
func TestToward(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		g := must.Get(swap.NewListedGrid(1+r.IntN(5), 1+r.IntN(5)))(t)
		from := swaptest.Shuffled(g, r)
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

func TestParse(t *testing.T) {
	for text, want := range map[string]string{ // the text of the puzzle
		"2 3\n1 2 3\n6 5 4\n":                      "2 3\n1 2 3\n6 5 4\n",
		"2 3\n0 1 2\n5 4 3":                        "2 3\n0 1 2\n5 4 3\n",
		"\r\n 2\t2 \r\n\r\n 4 3\r\n 2  1 \r\n\r\n": "2 2\n4 3\n2 1\n",
		"\ufeff1 2\n2 1\n":                         "1 2\n2 1\n",
		"# a grid\n2,2\n\n4, 3\n # and\n2,1,\n,\n": "2 2\n4 3\n2 1\n",
		"1 1\n1\n": "1 1\n1\n",
		"1 1\n0\n": "1 1\n0\n",
		"1 16\n16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1\n": "1 16\n16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1\n",
	} {
		should.Equal(t, must.Get(swap.Parse(strings.NewReader(text)))(t).String(), want, "%q", text)
	}
	for want, texts := range map[error][]string{
		swap.ErrText: {
			"", "2 2\n", "2 2\n1 2\n", "2 2\n1 2\n3 4\n5 6\n", "2 2\n1 2\n3\n", "2 2\n1 2 3\n4\n", "1 2 3\n4 5 6\n", "2 2\n1 a\n3 4\n", "2 2\n1 2.0\n3 4\n",
			"2 2\n1" + strings.Repeat(" ", 5000) + "2\n3 4\n", "2 2\n1 99999999999999999999\n3 4\n",
		},
		swap.ErrSize:  {"0 2\n", "-1 -4\n1 2 3 4\n", "5 13\n1 2 3 4 5 6 7 8 9 10 11 12 13\n"},
		swap.ErrTiles: {"2 2\n1 2\n2 4\n", "2 2\n0 1\n2 4\n", "2 2\n2 3\n4 5\n", "2 2\n1 2\n3 -4\n"},
	} {
		for _, text := range texts {
			should.Be(t, must.Err(swap.Parse(strings.NewReader(text))), want, "%.100q", text)
		}
	}
	// A failure to read is not bad text.
	err := must.Err(swap.Parse(io.MultiReader(strings.NewReader("2 2\n1 2\n"), iotest.ErrReader(io.ErrClosedPipe))))
	should.Not(t, !errors.Is(err, io.ErrClosedPipe) || errors.Is(err, swap.ErrText), "%v", err)
}

// TestPuzzleText checks random puzzles of all sizes: text and back.
func TestPuzzleText(t *testing.T) {
	rng := tries.Rand(t)
	for _, g := range swaptest.Grids(t, append(sizes(), [2]int{1, 17}, [2]int{5, 5}, [2]int{64, 1}, [2]int{8, 8})...) {
		for first := range 2 {
			p := swap.Puzzle{Grid: g, Tiles: swaptest.Shuffled(g, rng), First: first}
			got := must.Get(swap.Parse(strings.NewReader(p.String())))(t)
			should.Hold(t, slices.Equal(got.Tiles, p.Tiles) && got.First == first && got.String() == p.String(), "%q becomes %q", p, got)
		}
	}
}

// FuzzParse feeds any text: what is accepted is a state that is written and read again unchanged.
func FuzzParse(f *testing.F) {
	f.Add("2 3\n1 2 3\n6 5 4\n")
	f.Add("1 1\n0\n")
	f.Add("2 2\n0 1\n2 4\n")
	f.Add("1 17\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 17 16")
	f.Add("6 3\n0 1 2\n3 4 5\n6 7 8\n9 10 11\n12 13 14\n15 16 17")
	f.Add("\n\n4 4")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := swap.Parse(strings.NewReader(text))
		if err != nil {
			must.Not(t, !errors.Is(err, swap.ErrText) && !errors.Is(err, swap.ErrSize) && !errors.Is(err, swap.ErrTiles), "untyped error %v", err)
			return
		}
		must.Hold(t, len(p.Tiles) == p.Grid.Cells() && p.Tiles.Valid(), "%v is no state of %d x %d", p.Tiles, p.Grid.Rows(), p.Grid.Cols())
		again := must.Get(swap.Parse(strings.NewReader(p.String())))(t)
		must.Hold(t, slices.Equal(again.Tiles, p.Tiles) && again.First == p.First, "%q becomes %q", p, again)
	})
}
