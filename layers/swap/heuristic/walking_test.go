package heuristic_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
)

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

// TestLongWalking compares with a search that knows nothing of which swaps matter, on
// all matrices of rows and all of columns.
func TestLongWalking(t *testing.T) {
	sizes := [][2]int{{2, 2}, {2, 3}, {3, 2}, {3, 3}, {2, 5}, {3, 4}, {4, 3}, {4, 4}}
	if tries.Long() {
		sizes = append(sizes, [2]int{2, 6}, [2]int{3, 5})
	}
	for _, size := range sizes {
		rows, cols := size[0], size[1]
		w := must.Get(heuristic.BuildWalking(t.Context(), rows, cols, 0))(t)
		var home []uint8
		for c := range rows * cols {
			home = append(home, uint8(c))
		}
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
	sizes := [][2]int{{1, 20}, {64, 1}, {4, 5}, {2, 6}}
	if tries.Long() {
		sizes = append(sizes, [2]int{5, 5}, [2]int{2, 7}, [2]int{6, 3})
	}
	for _, size := range sizes {
		g := must.Get(swap.NewListedGrid(size[0], size[1]))(t)
		w, rng, tiles := must.Get(heuristic.BuildWalking(t.Context(), g.Rows(), g.Cols(), 0))(t), rand.New(rand.NewPCG(1, 2)), g.Home()
		f := must.Get(heuristic.Follow(g, w))(t)
		f.Begin(tiles)
		if f.Bound() != 0 || w.Distance(tiles) != 0 {
			t.Fatalf("%v: %d, %d at home", size, f.Bound(), w.Distance(tiles))
		}
		for range 20000 {
			i := rng.IntN(len(g.Swaps()))
			last, predicted := f.Bound(), f.After(i)
			f.Do(i)
			tiles.Swap(g.Swaps()[i])
			d := w.Distance(tiles)
			if d != f.Bound() || d != predicted || d < last-1 || d > last+1 || 2*d < manhattan(tiles, g.Cols()) {
				t.Fatalf("%v, %v: %d after %d, predicted %d, kept %d, sum of Manhattan %d", size, tiles, d, last, predicted, f.Bound(), manhattan(tiles, g.Cols()))
			}
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

func TestWalkingRefused(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx        context.Context
		rows, cols int
		memory     uint64
		want       error
	}{
		{t.Context(), 0, 3, 0, swap.ErrSize},
		{t.Context(), 3, -1, 0, swap.ErrSize},
		{t.Context(), 1 << 40, 1 << 40, 0, heuristic.ErrTooLarge},
		{t.Context(), 1, swap.MaxListed + 1, 0, heuristic.ErrTooLarge},
		{t.Context(), 2, 17, 0, heuristic.ErrTooLarge},
		{t.Context(), 6, 6, 4 << 30, heuristic.ErrTooLarge},
		{t.Context(), 7, 7, 4 << 30, heuristic.ErrTooLarge},
		{t.Context(), 8, 8, 4 << 30, heuristic.ErrTooLarge},
		{t.Context(), 5, 5, 22_069_250, heuristic.ErrTooLarge},
		{done, 5, 5, 0, context.Canceled},
	} {
		should.Be(t, must.Err(heuristic.BuildWalking(c.ctx, c.rows, c.cols, c.memory)), c.want, "%d x %d", c.rows, c.cols)
	}
}

// TestEntries compares with the known numbers of semi-magic squares: of 3 lines with the sum 2 and 3, of
// 2 with 3, of 4 with 4.
func TestEntries(t *testing.T) {
	for size, want := range map[[2]int]int{{3, 3}: 2 * 55, {4, 4}: 2 * 10147, {2, 3}: 4 + 21, {3, 2}: 21 + 4, {1, 5}: 0} {
		should.Equal(t, must.Get(heuristic.BuildWalking(t.Context(), size[0], size[1], 0))(t).Entries(), want, "%v", size)
	}
}
