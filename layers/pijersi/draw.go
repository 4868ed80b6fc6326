package pijersi

import (
	"cmp"
	"fmt"
	"strings"
)

// Draw returns the board for a terminal, black on top: two characters for a cell
// as in PSN, a dot for an empty one, and the numbers of the columns below.
func (s Setup) Draw() string {
	b := newBoard(s)
	var text strings.Builder
	for row := rows - 1; row >= 0; row-- {
		var line strings.Builder
		fmt.Fprintf(&line, "%c   %s", 'a'+row, strings.Repeat("  ", maxColumns-columns(row)))
		for _, cell := range b[row][:columns(row)] {
			text := "."
			if cell[0] != 0 {
				text = string([]byte{cell[0], cmp.Or(cell[1], '-')})
			}
			fmt.Fprintf(&line, "%-4s", text)
		}
		text.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	text.WriteString("      1   2   3   4   5   6\n    1   2   3   4   5   6   7\n")
	return text.String()
}

// Sizes of the picture. A cell is a hexagon with a corner on top.
const (
	cellWidth = 70.0
	rowHeight = cellWidth * 0.8660254 // a row interlocks with the next
	margin    = 30.0
)

// SVG returns a picture of the board, black on top, as an SVG document.
func (s Setup) SVG() string {
	b := newBoard(s)
	width, height := 2*margin+maxColumns*cellWidth, 2*margin+(rows-1)*rowHeight+cellWidth*1.1547005
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" `+
		`font-family="system-ui, sans-serif" text-anchor="middle">
<title>Pijersi set-up %s</title>
<desc>%s</desc>
<rect width="100%%" height="100%%" fill="#fff"/>
`, width, height, width, height, s.Code(), s.Position())
	for row := range b {
		for column, cell := range b[row][:columns(row)] {
			drawCell(&svg, row, column, cell)
		}
	}
	svg.WriteString("</svg>\n")
	return svg.String()
}

// drawCell draws a cell with its name and cubes.
func drawCell(svg *strings.Builder, row, column int, cell [2]byte) {
	x := margin + cellWidth*(float64(column)+float64(maxColumns+1-columns(row))/2)
	y := margin + cellWidth*0.57735027 + rowHeight*float64(rows-1-row)
	fmt.Fprintf(svg, `<path d="M%.1f %.1fl35 20.2v40.4l-35 20.2l-35 -20.2v-40.4z" fill="#e9e2d0" stroke="#8a7f66"/>`+
		`<text x="%.1f" y="%.1f" font-size="9" fill="#6a6048">%s</text>`+"\n", x, y-40.4, x, y-25, cellName(row, column))
	switch {
	case cell[1] != 0: // the top cube covers a corner of the bottom one
		drawCube(svg, x-11, y+12, cell[0])
		drawCube(svg, x+10, y-4, cell[1])
	case cell[0] != 0:
		drawCube(svg, x, y+3, cell[0])
	}
}

// drawCube draws a cube around a point.
func drawCube(svg *strings.Builder, x, y float64, letter byte) {
	fill, edge, ink := "#fffdf5", "#222", "#222"
	colour := colourOf(letter)
	if colour == Black {
		fill, edge, ink = "#333", "#bbb", "#fff"
	}
	kind := strings.IndexByte(letters[colour], letter)
	fmt.Fprintf(svg, `<g><title>%s %s</title><rect x="%.1f" y="%.1f" width="28" height="28" rx="5" fill="%s" stroke="%s"/>`+
		`<text x="%.1f" y="%.1f" font-size="18" font-weight="bold" fill="%s">%c</text></g>`+"\n",
		colour, Cube(kind), x-14, y-14, fill, edge, x, y+6.5, ink, letter)
}
