package chemin

import (
	"math/bits"
	"slices"

	"grenier/layers/chemin"
)

// most is how many of the largest numbers so far matter: a cell has no more neighbours.
const most = 8

// mostTops is the most lists of numbers that are kept for each number of edges.
const mostTops = 24

// growth returns, for each n, a number that no game of n cells exceeds, wherever they are on
// the board.
//
// A number is the sum of d others, at most the d largest so far, or 1 if d = 0. Each uses up
// d edges of the king graph, and k cells have at most as many edges between them as the best
// set of k cells. All choices of d that keep to this are followed, with the largest numbers
// that they lead to; where these are too many, maxima of several stand for them.
func growth(b *chemin.Board) []uint32 {
	limits := edges(b)
	g := make([]uint32, b.Cells()+1)
	tops := map[int][]uint32{0: make([]uint32, most)} // by edges used, descending
	for n := 1; n <= b.Cells(); n++ {
		next := map[int][]uint32{}
		for used, lists := range tops {
			for top := range slices.Chunk(lists, most) {
				for d := 0; d <= min(most, n-1, limits[n]-used); d++ {
					next[used+d] = append(next[used+d], insert(top, d)...)
				}
			}
		}
		for used, lists := range next {
			next[used] = thin(lists, most, mostTops)
			for top := range slices.Chunk(next[used], most) {
				g[n] = max(g[n], top[0])
			}
		}
		tops = next
	}
	return g
}

// insert returns a descending list with the sum of its first d numbers added, or 1.
func insert(top []uint32, d int) []uint32 {
	sum := uint32(0)
	for _, x := range top[:d] {
		sum += x
	}
	longer := append(slices.Clone(top), max(1, sum))
	slices.SortFunc(longer, func(a, b uint32) int { return int(b) - int(a) })
	return longer[:most]
}

// edges returns the most edges that n cells have between them, by n. Cells are taken or not one
// after the other, row by row along the shorter side; those before a cell that are beside it are
// among the last of them, a row and two more.
func edges(b *chemin.Board) []int {
	width := min(b.Rows(), b.Cols())
	kept := 1<<(width+1) - 1
	most := map[taken]int{{}: 0}
	for cell := range b.Cells() {
		beside := 1 << (width - 1)
		if cell%width > 0 {
			beside |= 1 | 1<<width
		}
		if cell%width < width-1 {
			beside |= 1 << (width - 2)
		}
		next := map[taken]int{}
		for t, n := range most {
			left := taken{t.cells, t.last << 1 & kept}
			next[left] = max(next[left], n)
			with := taken{t.cells + 1, left.last | 1}
			next[with] = max(next[with], n+bits.OnesCount(uint(t.last&beside)))
		}
		most = next
	}
	limits := make([]int, b.Cells()+1)
	for t, n := range most {
		limits[t.cells] = max(limits[t.cells], n)
	}
	return limits
}

// taken is how many cells were taken, and which of the last ones, the latest lowest.
type taken struct{ cells, last int }
