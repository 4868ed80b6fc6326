package search

import (
	"slices"

	"grenier/layers/swap"
)

// greedy brings home tile 0, then tile 1, and so on, each first along its row, then up
// its column. In the row of its home it moves left only, in lower rows all tiles may
// be moved: tiles that are home stay there. That is a guess: in document 004, "Solveur glouton", the
// formula is cut off.
func greedy(s *search) ([]swap.Swap, error) {
	tiles, cols := slices.Clone(s.list), s.grid.Cols()
	var moves []swap.Swap
	step := func(from, to int) int {
		m := swap.Swap{A: min(from, to), B: max(from, to)}
		tiles.Swap(m)
		moves = append(moves, m)
		return to
	}
	for t := range s.grid.Cells() {
		at := slices.Index(tiles, uint8(t))
		for at%cols > t%cols {
			at = step(at, at-1)
		}
		for at%cols < t%cols {
			at = step(at, at+1)
		}
		for at > t {
			at = step(at, at-cols)
		}
	}
	return moves, nil
}
