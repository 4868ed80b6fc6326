package search

import (
	"fmt"
	"slices"
	"strings"

	"grenier/layers/swap"
)

// Frames returns drawings of a puzzle in text, a line for each row: of the grid as it is,
// then of the grid after each move, with the two tiles that were swapped marked by mark.
// Tiles have the numbers that the puzzle gives them.
func Frames(p swap.Puzzle, moves []swap.Swap, mark func(cell string) string) []string {
	tiles := slices.Clone(p.Tiles)
	frames := []string{frame(p, tiles, nil, mark)}
	for _, m := range moves {
		tiles.Swap(m)
		frames = append(frames, frame(p, tiles, []int{m.A, m.B}, mark))
	}
	return frames
}

// frame draws tiles. Those in the cells of marked are marked.
func frame(p swap.Puzzle, tiles swap.List, marked []int, mark func(cell string) string) string {
	var b strings.Builder
	width := len(fmt.Sprint(len(tiles) - 1 + p.First))
	for cell, tile := range tiles {
		text := fmt.Sprintf(" %*d ", width, int(tile)+p.First)
		if slices.Contains(marked, cell) {
			text = mark(text)
		}
		b.WriteString(text)
		if (cell+1)%p.Grid.Cols() == 0 {
			b.WriteString("\n")
		}
	}
	return b.String()
}
