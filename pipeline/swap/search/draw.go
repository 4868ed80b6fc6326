package search

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"grenier/layers/swap"
)

// Sizes of a drawing, in pixels, and the time of a swap.
const (
	cellSize    = 60
	tileSize    = 54
	secondsEach = 0.6
)

// SVG returns an animated drawing of moves that solve a puzzle: each tile slides from
// cell to cell, and all repeats after a pause. Browsers show it; tiles have the
// numbers that the puzzle gives them.
func SVG(p swap.Puzzle, moves []swap.Swap) []byte {
	g, n := p.Grid, p.Grid.Cells()
	width, height := g.Cols()*cellSize, g.Rows()*cellSize
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="22" text-anchor="middle">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&b, "<title>%d x %d, %s</title>\n", g.Rows(), g.Cols(), english.Plural(len(moves), "swap", ""))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#e8e4da"/>`+"\n", width, height)
	for t := range n {
		ways := places(p, t, moves)
		fmt.Fprintf(&b, `<g transform="translate(%s)">`, place(g, ways[0]))
		fmt.Fprintf(&b, `<rect x="-%d" y="-%d" width="%d" height="%d" rx="6" fill="hsl(%d,45%%,70%%)"/><text y="8">%d</text>`,
			tileSize/2, tileSize/2, tileSize, tileSize, 360*t/n, t+p.First)
		if len(moves) > 0 {
			fmt.Fprintf(&b, `<animateTransform attributeName="transform" type="translate" repeatCount="indefinite" dur="%.1fs" values="`,
				secondsEach*float64(len(ways)-1))
			for i, c := range ways {
				if i > 0 {
					b.WriteString(";")
				}
				b.WriteString(place(g, c))
			}
			b.WriteString(`"/>`)
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// places returns the cells of a tile: one at the beginning, one after each move, and the
// last again for a rest.
func places(p swap.Puzzle, tile int, moves []swap.Swap) []int {
	at := slices.Index(p.Tiles, uint8(tile))
	list := []int{at}
	for _, m := range moves {
		switch at {
		case m.A:
			at = m.B
		case m.B:
			at = m.A
		}
		list = append(list, at)
	}
	return append(list, at, at)
}

// place returns the middle of a cell.
func place(g *swap.Grid, cell int) string {
	return fmt.Sprintf("%d %d", cell%g.Cols()*cellSize+cellSize/2, cell/g.Cols()*cellSize+cellSize/2)
}

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
