package heuristic_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/swaptest"
	"grenier/internal/testkit/tries"
	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
)

// TestLongFlags follows all swaps of all states of small grids: the bounds are 0 at home and change by at most 1, which
// makes them admissible as well. Package patterns compares them with distances and reference values.
func TestLongFlags(t *testing.T) {
	cells := tries.More(7, 9)
	for rows := 1; rows <= cells; rows++ {
		for cols := 1; rows*cols <= cells; cols++ {
			g := swaptest.Grid(t, rows, cols)
			m, v, w := heuristic.NewManhattan(g), heuristic.NewInversions(g), must.Get(heuristic.NewWalking(g))(t)
			for _, h := range []heuristic.Heuristic{
				heuristic.Zero{}, m, v, w, heuristic.Lift{Heuristic: m, Grid: g}, heuristic.Lift{Heuristic: w, Grid: g},
				heuristic.Max{m, v, w}, heuristic.Inverse{Heuristic: w, Grid: g},
			} {
				should.Equal(t, h.Estimate(g.Goal()), 0, "%d x %d, %s: at home", rows, cols, h.Name())
				if h.Consistent() {
					checkConsistent(t, g, h)
				}
			}
		}
	}
}

func checkConsistent(t *testing.T, g *swap.Grid, h heuristic.Heuristic) {
	values := make([]int, perm.Factorial(g.Cells()))
	for rank, s := range swaptest.States(g) {
		values[rank] = h.Estimate(s)
	}
	for rank, s := range swaptest.States(g) {
		for _, move := range g.Swaps() {
			if d := values[rank] - values[g.Apply(s, move).Rank(g.Cells())]; d < -1 || d > 1 {
				t.Fatalf("%d x %d %s: state %x, %v: changes by %d", g.Rows(), g.Cols(), h.Name(), s, move, d)
			}
		}
	}
}

// TestManhattan checks the changes, the largest sum (docs/sources.md), and that walking distance is never less (theorem 3.6).
func TestManhattan(t *testing.T) {
	for shape, g := range swaptest.Grids(t, [][2]int{{1, 1}, {1, 5}, {2, 2}, {2, 3}, {3, 2}, {2, 4}}...) {
		m, w, most := heuristic.NewManhattan(g), must.Get(heuristic.NewWalking(g))(t), 0
		for _, s := range swaptest.States(g) {
			most = max(most, m.Sum(s))
			must.Not(t, w.Estimate(s) < m.Estimate(s), "%v, state %x: walking below manhattan", shape, s)
			for _, move := range g.Swaps() {
				must.Equal(t, m.Change(s, move), m.Sum(g.Apply(s, move))-m.Sum(s), "%v, state %x, %v: change", shape, s, move)
			}
		}
		should.Equal(t, most, heuristic.MaxManhattan(g), "%v: largest sum", shape)
	}
}

func TestRefused(t *testing.T) {
	should.Be(t, must.Err(heuristic.NewWalking(swaptest.Grid(t, 2, 8))), heuristic.ErrTooLarge)
	g := swaptest.Grid(t, 2, 3)
	for _, numbers := range [][]int{nil, {6}, {-1}, {1, 1}} {
		should.Be(t, must.Err(heuristic.TilesOf(g, numbers)), heuristic.ErrPattern, "%v", numbers)
	}
	should.Be(t, must.Err(heuristic.ParseCost("half")), heuristic.ErrCost)
	one := &heuristic.Pattern{Grid: g, Tiles: 1, Cost: heuristic.Unit}
	tracked := &heuristic.Pattern{Grid: g, Tiles: 2, Cost: heuristic.Tracked}
	other := &heuristic.Pattern{Grid: swaptest.Grid(t, 3, 2), Tiles: 2, Cost: heuristic.Unit}
	for i, list := range [][]*heuristic.Pattern{nil, {one, one}, {one, tracked}, {one, other}} {
		should.Be(t, must.Err(heuristic.NewStatic(list...)), heuristic.ErrPattern, "%d", i)
	}
	should.Be(t, must.Err(heuristic.NewDynamic(true, &heuristic.SetTable{Grid: g, Size: 2, Cost: heuristic.Unit})), heuristic.ErrPattern)
	for _, c := range []struct {
		rows, cols int
		memory     uint64
		want       error
	}{
		{0, 3, 0, swap.ErrSize}, {3, -1, 0, swap.ErrSize}, {1 << 40, 1 << 40, 0, heuristic.ErrTooLarge},
		{1, swap.MaxListed + 1, 0, heuristic.ErrTooLarge}, {2, 17, 0, heuristic.ErrTooLarge}, {6, 6, 4 << 30, heuristic.ErrTooLarge},
		{7, 7, 4 << 30, heuristic.ErrTooLarge}, {8, 8, 4 << 30, heuristic.ErrTooLarge}, {5, 5, 22_069_250, heuristic.ErrTooLarge},
	} {
		should.Be(t, must.Err(heuristic.BuildWalking(t.Context(), c.rows, c.cols, c.memory)), c.want, "%d x %d", c.rows, c.cols)
	}
	should.Be(t, must.Err(heuristic.BuildWalking(must.Ended(t), 5, 5, 0)), context.Canceled)
}

// inversions counts the pairs of cells, the first one before the second one in the order of places, whose tiles' places are the other way round.
func inversions(g *swap.Grid, s swap.State, place func(cell int) int) (count int) {
	for a := range g.Cells() {
		for b := range g.Cells() {
			if place(a) < place(b) && place(s.At(a)) > place(s.At(b)) {
				count++
			}
		}
	}
	return count
}

// TestLemma34 checks lemma 3.4 of document 004 on every state and swap of small grids: a horizontal swap changes the
// inversions by rows by 1 and those by columns by at most 2m-1, a vertical one those by columns by 1 and those by rows
// by at most 2n-1. Both limits are reached, so no smaller ones hold.
func TestLemma34(t *testing.T) {
	for shape, g := range swaptest.Grids(t, [][2]int{{1, 4}, {4, 1}, {2, 2}, {2, 3}, {3, 2}}...) {
		m, n := shape[0], shape[1]
		byRow := func(cell int) int { return cell }
		byColumn := func(cell int) int { return cell%n*m + cell/n }
		var most [2][2]int // of horizontal and vertical swaps, by rows and by columns
		for _, s := range swaptest.States(g) {
			rows, columns := inversions(g, s, byRow), inversions(g, s, byColumn)
			for _, move := range g.Swaps() {
				to := g.Apply(s, move)
				vertical := 0
				if move.B != move.A+1 || n == 1 {
					vertical = 1
				}
				for i, change := range [2]int{inversions(g, to, byRow) - rows, inversions(g, to, byColumn) - columns} {
					most[vertical][i] = max(most[vertical][i], change, -change)
				}
			}
		}
		want := [2][2]int{{1, 2*m - 1}, {2*n - 1, 1}}
		if n == 1 {
			want[0] = [2]int{}
		}
		if m == 1 {
			want[1] = [2]int{}
		}
		should.Equal(t, most, want, "%v: largest changes", shape)
	}
}

// followed returns bounds that Follow takes for grids of any size.
func followed(g *swap.Grid) []heuristic.Heuristic {
	m, v := heuristic.NewManhattan(g), heuristic.NewInversions(g)
	return []heuristic.Heuristic{heuristic.Zero{}, m, v, heuristic.Lift{Heuristic: heuristic.Max{v, m}, Grid: g}}
}

// TestFollowSmall walks at random and compares with the bounds of states.
func TestFollowSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for shape, g := range swaptest.Grids(t, [][2]int{{1, 6}, {6, 1}, {2, 3}, {3, 2}, {3, 3}, {2, 5}, {4, 4}}...) {
		w := must.Get(heuristic.NewWalking(g))(t)
		for _, h := range append(followed(g), w, heuristic.Lift{Heuristic: heuristic.Inverse{Heuristic: w, Grid: g}, Grid: g}) {
			s, f := g.Goal(), must.Get(heuristic.Follow(g, h))(t)
			f.Begin(g.Home())
			for range 200 {
				i := r.IntN(len(g.Swaps()))
				next := g.Apply(s, g.Swaps()[i])
				must.Hold(t, f.Bound() == h.Estimate(s) && f.After(i) == h.Estimate(next), "%v %s, state %x, swap %d", shape, h.Name(), s, i)
				f.Do(i)
				s = next
			}
		}
	}
}

// FuzzFollow takes any grid, state and swaps: a bound that is kept up to date equals the bound
// made anew, a swap changes it by at most 1, and it is 0 at home.
func FuzzFollow(f *testing.F) {
	f.Add(uint8(5), uint8(5), uint64(1), []byte{0, 1, 2, 39})
	f.Add(uint8(8), uint8(8), uint64(2), []byte{111, 50, 7})
	f.Add(uint8(1), uint8(64), uint64(3), []byte{62, 0, 31})
	f.Fuzz(func(t *testing.T, rows, cols uint8, seed uint64, path []byte) {
		g, err := swap.NewListedGrid(int(rows), int(cols))
		if err != nil || len(g.Swaps()) == 0 {
			return
		}
		for _, h := range followed(g) {
			kept, anew := must.Get(heuristic.Follow(g, h))(t), must.Get(heuristic.Follow(g, h))(t)
			kept.Begin(g.Home())
			must.Equal(t, kept.Bound(), 0, "%s: at home", h.Name())
			l := swaptest.Shuffled(g, rand.New(rand.NewPCG(seed, 0)))
			kept.Begin(l)
			for _, b := range path {
				i := int(b) % len(g.Swaps())
				before, after := kept.Bound(), kept.After(i)
				kept.Do(i)
				l.Swap(g.Swaps()[i])
				anew.Begin(l)
				d := after - before
				must.Not(t, kept.Bound() != after || anew.Bound() != after || d < -1 || d > 1,
					"%s, %d x %d, %v: %d before, %d predicted, %d kept, %d recomputed", h.Name(), rows, cols, l, before, after, kept.Bound(), anew.Bound())
			}
		}
	})
}

// matrix says how many tiles of each home line are in each line.
type matrix struct {
	lines  int
	counts string // a byte for each line and home
}

// matrixOf returns the matrix of the rows of a list of tiles, or of the columns.
func matrixOf(tiles []uint8, rows, cols int, columns bool) matrix {
	lines, line := rows, func(cell int) int { return cell / cols }
	if columns {
		lines, line = cols, func(cell int) int { return cell % cols }
	}
	counts := make([]byte, lines*lines)
	for cell, tile := range tiles {
		counts[line(cell)*lines+line(int(tile))]++
	}
	return matrix{lines, string(counts)}
}

// neighbours calls f for all matrices one swap away.
func (m matrix) neighbours(f func(matrix)) {
	for upper := 0; upper < m.lines*(m.lines-1); upper += m.lines {
		for a := upper; a < upper+m.lines; a++ {
			for b := upper; b < upper+m.lines; b++ {
				if m.counts[a] == 0 || m.counts[b+m.lines] == 0 {
					continue
				}
				counts := []byte(m.counts)
				counts[a]--
				counts[a+m.lines]++
				counts[b]++
				counts[b+m.lines]--
				f(matrix{m.lines, string(counts)})
			}
		}
	}
}

// distances returns the distance of all matrices from home by a plain search, by all swaps.
func distances(home matrix) map[matrix]int {
	depth, queue := map[matrix]int{home: 0}, []matrix{home}
	for ; len(queue) > 0; queue = queue[1:] {
		queue[0].neighbours(func(to matrix) {
			if _, ok := depth[to]; !ok {
				depth[to] = depth[queue[0]] + 1
				queue = append(queue, to)
			}
		})
	}
	return depth
}

// tilesOf returns a list of tiles with this matrix.
func (m matrix) tilesOf(rows, cols int, columns bool) []uint8 {
	tiles := make([]uint8, rows*cols)
	next := make([]int, m.lines) // tile of each home
	for i := range m.lines {
		place := 0
		for home := range m.lines {
			for range m.counts[i*m.lines+home] {
				if columns {
					tiles[place*cols+i] = uint8(next[home]*cols + home)
				} else {
					tiles[i*cols+place] = uint8(home*cols + next[home])
				}
				next[home]++
				place++
			}
		}
	}
	return tiles
}

// TestLongWalking compares with a search that knows nothing of which swaps matter, on all matrices of rows and all of columns, and with the
// known numbers of semi-magic squares: of 3 lines with the sum 2 and 3, of 2 with 3, of 4 with 4.
func TestLongWalking(t *testing.T) {
	entries := map[[2]int]int{{3, 3}: 2 * 55, {4, 4}: 2 * 10147, {2, 3}: 4 + 21, {3, 2}: 21 + 4, {1, 5}: 0}
	sizes := [][2]int{{1, 5}, {2, 2}, {2, 3}, {3, 2}, {3, 3}, {2, 5}, {3, 4}, {4, 3}, {4, 4}, {2, 6}, {3, 5}}
	for _, size := range sizes[:tries.More(len(sizes)-3, len(sizes))] {
		rows, cols := size[0], size[1]
		w := must.Get(heuristic.BuildWalking(t.Context(), rows, cols, 0))(t)
		want, known := entries[size]
		should.Not(t, known && w.Entries() != want, "%v: %d entries, want %d", size, w.Entries(), want)
		home := swaptest.Grid(t, rows, cols).Home()
		byRow, byColumn := distances(matrixOf(home, rows, cols, false)), distances(matrixOf(home, rows, cols, true))
		check := func(m matrix, columns bool) {
			tiles := m.tilesOf(rows, cols, columns)
			want := byRow[matrixOf(tiles, rows, cols, false)] + byColumn[matrixOf(tiles, rows, cols, true)]
			must.Equal(t, w.Distance(tiles), want, "%d x %d, %v", rows, cols, tiles)
		}
		for m := range byRow {
			check(m, false)
		}
		for m := range byColumn {
			check(m, true)
		}
	}
}

// TestLongWalkingLarge walks at random from home in grids of more cells than a swap.State has: a swap changes the bound
// by at most 1, as a tracker foretells, and it is never below half Manhattan (theorem 3.6).
func TestLongWalkingLarge(t *testing.T) {
	sizes := [][2]int{{1, 20}, {64, 1}, {4, 5}, {2, 6}, {5, 5}, {2, 7}, {6, 3}}
	for size, g := range swaptest.Grids(t, sizes[:tries.More(4, len(sizes))]...) {
		w, rng, tiles := must.Get(heuristic.BuildWalking(t.Context(), g.Rows(), g.Cols(), 0))(t), rand.New(rand.NewPCG(1, 2)), g.Home()
		f := must.Get(heuristic.Follow(g, w))(t)
		f.Begin(tiles)
		must.Hold(t, f.Bound() == 0 && w.Distance(tiles) == 0, "%v: not 0 at home", size)
		for range tries.More(2000, 5000) {
			i := rng.IntN(len(g.Swaps()))
			last, predicted := f.Bound(), f.After(i)
			f.Do(i)
			tiles.Swap(g.Swaps()[i])
			d, sum := w.Distance(tiles), manhattan(tiles, g.Cols())
			must.Not(t, d != f.Bound() || d != predicted || d < last-1 || d > last+1 || 2*d < sum,
				"%v, %v: %d after %d, predicted %d, kept %d, sum of Manhattan %d", size, tiles, d, last, predicted, f.Bound(), sum)
		}
	}
}

func manhattan(tiles []uint8, cols int) int {
	sum := 0
	for cell, tile := range tiles {
		down, right := int(tile)/cols-cell/cols, int(tile)%cols-cell%cols
		sum += max(down, -down) + max(right, -right)
	}
	return sum
}
