package heuristic_test

import (
	"fmt"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/kernels/perm"
	"grenier/layers/swap"
)

// inversions counts the pairs of cells, the first one before the second one in the order of
// places, whose tiles' places are the other way round.
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

// TestLemma34 checks lemma 3.4 of document 004 on every state and swap of small grids: a
// horizontal swap changes the inversions by rows by 1 and those by columns by at most 2m-1, a
// vertical one those by columns by 1 and those by rows by at most 2n-1. Both limits are
// reached, so no smaller ones hold.
func TestLemma34(t *testing.T) {
	for _, shape := range [][2]int{{1, 4}, {4, 1}, {2, 2}, {2, 3}, {3, 2}} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			m, n := shape[0], shape[1]
			g := must.Get(swap.NewGrid(m, n))(t)
			byRow := func(cell int) int { return cell }
			byColumn := func(cell int) int { return cell%n*m + cell/n }
			var most [2][2]int // of horizontal and vertical swaps, by rows and by columns
			for rank := range perm.Factorial(m * n) {
				s := perm.UnrankPacked(m*n, rank)
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
			should.Equal(t, most, want, "largest changes")
		})
	}
}
