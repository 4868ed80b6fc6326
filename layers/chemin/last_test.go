package chemin

import (
	"fmt"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
)

// TestLongLastCell plays all orders of small boards: on those with two rows and columns or more the
// last cell of every best order, and no other cell, has the score (docs/sources.md), on
// longer lines not.
func TestLongLastCell(t *testing.T) {
	shapes := [][2]int{{1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}, {5, 1}, {1, 7}, {2, 2}, {2, 3}, {3, 2}, {2, 4}}
	if tries.Long() {
		shapes = append(shapes, [2]int{3, 3})
	}
	for _, shape := range shapes {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			b := must.Get(New(shape[0], shape[1]))(t)
			best, count, elsewhere, shared := uint32(0), 0, 0, 0
			permute(b.Cells(), func(order []int) {
				grid := must.Get(b.Play(order))(t)
				score := slices.Max(grid)
				if score < best {
					return
				}
				if score > best {
					best, count, elsewhere, shared = score, 0, 0, 0
				}
				count++
				if grid[order[len(order)-1]] != score {
					elsewhere++
				}
				if slices.Index(grid, score) != len(grid)-1-slices.Index(reversed(grid), score) {
					shared++
				}
			})
			if line := min(shape[0], shape[1]) == 1; !line && (elsewhere > 0 || shared > 0) || line && b.Cells() > 3 && elsewhere == 0 {
				t.Errorf("score %d: of %d best orders %d end elsewhere, %d have it twice", best, count, elsewhere, shared)
			}
		})
	}
}

func reversed(grid []uint32) []uint32 {
	r := slices.Clone(grid)
	slices.Reverse(r)
	return r
}
