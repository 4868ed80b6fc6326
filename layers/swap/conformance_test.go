package swap_test

import (
	"testing"

	"grenier/internal/testkit/conformance"
	"grenier/internal/testkit/swaptest"
	"grenier/layers/swap"
)

// sizes are all grids up to 16 cells that are not higher than wide, and a few
// that are.
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
