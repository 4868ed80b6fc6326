package chemin

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// Draw returns a grid as text, one line for each row. Numbers that are 0 are empty cells,
// drawn as dots.
func (b *Board) Draw(grid []uint32) string {
	lines := b.lines(grid, -1, digits(grid))
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// DrawSteps returns how an order fills the grid: a small grid for each step, with the new
// number in brackets, as many side by side as fit in the given columns. It fails with
// ErrOrder.
func (b *Board) DrawSteps(order []int, columns int) (string, error) {
	grid, err := b.Play(order)
	if err != nil {
		return "", err
	}
	digits := digits(grid)
	width := max(b.cols*(digits+2), len("step 00"))
	abreast := max(1, (columns+2)/(width+2))
	partly := make([]uint32, len(grid))
	var text strings.Builder
	for start := 0; start < len(order); start += abreast {
		lines := make([]string, 1+b.rows)
		for step := start; step < min(start+abreast, len(order)); step++ {
			partly[order[step]] = grid[order[step]]
			panel := append([]string{fmt.Sprintf(" step %d", step+1)}, b.lines(partly, order[step], digits)...)
			for i, line := range panel {
				lines[i] += fmt.Sprintf("%-*s", width+2, line)
			}
		}
		for _, line := range lines {
			text.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		if start+abreast < len(order) {
			text.WriteByte('\n')
		}
	}
	return text.String(), nil
}

// digits returns the width of the largest number.
func digits(grid []uint32) int { return len(fmt.Sprint(slices.Max(grid))) }

// lines draws a grid; marked is the cell in brackets, or -1.
func (b *Board) lines(grid []uint32, marked, digits int) []string {
	lines := make([]string, b.rows)
	for cell, number := range grid {
		text, left, right := ".", " ", " "
		if number > 0 {
			text = fmt.Sprint(number)
		}
		if cell == marked {
			left, right = "[", "]"
		}
		text = left + text + right
		lines[cell/b.cols] += fmt.Sprintf("%*s", digits+2, text)
	}
	return lines
}

// Sizes in the drawing, in pixels.
const (
	side   = 34 // of a cell
	gap    = 22 // between grids
	header = 18 // above a grid
	across = 5  // grids side by side
)

// SVG returns a drawing of how an order fills the grid, as a file: a grid for each step, with
// the new number on a darker ground. It fails with ErrOrder.
func (b *Board) SVG(order []int) (string, error) {
	grid, err := b.Play(order)
	if err != nil {
		return "", err
	}
	abreast := min(across, len(order))
	down := (len(order) + abreast - 1) / abreast
	width := gap + abreast*(b.cols*side+gap)
	height := gap + down*(header+b.rows*side+gap)
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`+"\n", width, height)
	title := fmt.Sprintf("Chemin on %d x %d cells, %d reached", b.rows, b.cols, slices.Max(grid))
	fmt.Fprintf(&svg, "<title>%s</title>\n<desc>Order of the cells: %s</desc>\n", html.EscapeString(title), strings.Trim(fmt.Sprint(order), "[]"))
	svg.WriteString(style)
	partly := make([]uint32, len(grid))
	for step, cell := range order {
		partly[cell] = grid[cell]
		x := gap + step%abreast*(b.cols*side+gap)
		y := gap + step/abreast*(header+b.rows*side+gap)
		fmt.Fprintf(&svg, `<g transform="translate(%d %d)"><text x="0" y="10" class="step">step %d</text>`+"\n", x, y, step+1)
		b.panel(&svg, partly, cell)
		svg.WriteString("</g>\n")
	}
	svg.WriteString("</svg>\n")
	return svg.String(), nil
}

// style is the look of the drawing, on a ground of any colour.
const style = `<style>
text { font: 12px sans-serif; text-anchor: middle; fill: #222 } .step { text-anchor: start; fill: #888 }
rect { fill: #fff; stroke: #888 } .old { fill: #dbe7f3 } .new { fill: #f2b04b }
</style>
`

func (b *Board) panel(svg *strings.Builder, grid []uint32, fresh int) {
	for cell, number := range grid {
		x, y := cell%b.cols*side, header+cell/b.cols*side
		class := ""
		switch {
		case cell == fresh:
			class = ` class="new"`
		case number > 0:
			class = ` class="old"`
		}
		fmt.Fprintf(svg, `<rect x="%d" y="%d" width="%d" height="%[3]d"%s/>`, x, y, side, class)
		if number > 0 {
			fit := ""
			if text := fmt.Sprint(number); len(text) > 4 {
				fit = fmt.Sprintf(` textLength="%d" lengthAdjust="spacingAndGlyphs"`, side-4)
			}
			fmt.Fprintf(svg, `<text x="%d" y="%d"%s>%d</text>`, x+side/2, y+side/2+4, fit, number)
		}
	}
	svg.WriteByte('\n')
}
