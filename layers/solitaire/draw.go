package solitaire

import (
	"fmt"
	"html"
	"math/bits"
	"strings"
)

// Move is jumps of one peg in a row.
type Move []Jump

// Moves divides a sequence of jumps into as few moves as it is.
func Moves(jumps []Jump) []Move {
	var moves []Move
	for i, j := range jumps {
		if i == 0 || jumps[i-1].To != j.From {
			moves = append(moves, nil)
		}
		last := &moves[len(moves)-1]
		*last = append(*last, j)
	}
	return moves
}

// MoveName returns the name of a move: the holes that its peg comes through.
func (b *Board) MoveName(m Move) string {
	name := b.HoleName(m[0].From)
	for _, j := range m {
		name += "-" + b.HoleName(j.To)
	}
	return name
}

// After returns the position after a move.
func After(p Position, m Move) Position {
	for _, j := range m {
		p ^= j.Pegs()
	}
	return p
}

// Draw returns a position as text, with the names of rows and columns.
func (b *Board) Draw(p Position) string {
	width := len(fmt.Sprint(b.rows))
	var text strings.Builder
	line := strings.Repeat(" ", width+1)
	for col := range b.cols {
		line += fmt.Sprintf(" %c", 'a'+col)
	}
	text.WriteString(line + "\n")
	for row := range b.rows {
		line := fmt.Sprintf("%*d ", width, row+1)
		for col := range b.cols {
			line += " " + string(b.glyph(p, b.at(row, col)))
		}
		text.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return text.String()
}

// glyph is char with a blank for no hole.
func (b *Board) glyph(p Position, hole int) byte {
	if hole < 0 {
		return ' '
	}
	return b.char(p, hole)
}

// DrawMoves returns the position after each move as text, as many side by side as fit in the
// given columns.
func (b *Board) DrawMoves(start Position, moves []Move, columns int) string {
	width := 2*b.cols - 1
	for i, m := range moves {
		width = max(width, len(b.caption(i, m)))
	}
	abreast := max(1, (columns+2)/(width+2))
	var text strings.Builder
	for first := 0; first < len(moves); first += abreast {
		if first > 0 {
			text.WriteByte('\n')
		}
		lines := make([]string, 1+b.rows)
		for i, m := range moves[first:min(first+abreast, len(moves))] {
			start = After(start, m)
			lines[0] += fmt.Sprintf("%-*s", width+2, b.caption(first+i, m))
			for row := range b.rows {
				var cells []string
				for col := range b.cols {
					cells = append(cells, string(b.glyph(start, b.at(row, col))))
				}
				lines[1+row] += fmt.Sprintf("%-*s", width+2, strings.Join(cells, " "))
			}
		}
		for _, line := range lines {
			text.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	return text.String()
}

// caption names a move.
func (b *Board) caption(i int, m Move) string { return fmt.Sprintf("%d. %s", i+1, b.MoveName(m)) }

// Sizes in the drawing, in pixels.
const (
	side   = 20 // of a hole
	gap    = 24 // between boards
	header = 18 // above a board
	across = 6  // boards side by side
)

// SVG returns a drawing of a position and of how moves go on from it, as a file: a board for the
// position and one after each move, with the way of the peg.
func (b *Board) SVG(start Position, moves []Move) string {
	panels := 1 + len(moves)
	abreast := min(across, panels)
	down := (panels + abreast - 1) / abreast
	wide := max(b.cols*side, 7*longest(b, moves))
	width := gap + abreast*(wide+gap)
	height := gap + down*(header+b.rows*side+gap)
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`+"\n", width, height)
	title := fmt.Sprintf("Peg solitaire, %s: %d pegs", b.name, bits.OnesCount64(start))
	var names []string
	for _, m := range moves {
		names = append(names, b.MoveName(m))
	}
	if len(moves) > 0 {
		title += fmt.Sprintf(", %d moves", len(moves))
	}
	fmt.Fprintf(&svg, "<title>%s</title>\n<desc>%s</desc>\n", html.EscapeString(title), html.EscapeString(strings.Join(names, " ")))
	svg.WriteString(style)
	p := start
	for i := range panels {
		x, y := gap+i%abreast*(wide+gap), gap+i/abreast*(header+b.rows*side+gap)
		caption, move := "start", Move(nil)
		if i > 0 {
			move = moves[i-1]
			caption, p = b.caption(i-1, move), After(p, move)
		}
		fmt.Fprintf(&svg, `<g transform="translate(%d %d)"><text x="0" y="10">%s</text>`+"\n", x, y, caption)
		b.panel(&svg, p, move)
		svg.WriteString("</g>\n")
	}
	svg.WriteString("</svg>\n")
	return svg.String()
}

// longest returns the most characters of a caption.
func longest(b *Board, moves []Move) (n int) {
	for i, m := range moves {
		n = max(n, len(b.caption(i, m)))
	}
	return n
}

// style is the look of the drawing, on a ground of any colour.
const style = `<style>
text { font: 12px sans-serif; fill: #888 } .peg { fill: #2b6cb0 } .hole { fill: #fff; stroke: #888 }
polyline { fill: none; stroke: #f2b04b; stroke-width: 4; stroke-linejoin: round }
</style>
`

// panel draws a position, and the way of the peg that has moved.
func (b *Board) panel(svg *strings.Builder, p Position, m Move) {
	for hole := range b.squares {
		x, y := b.middle(hole)
		class, radius := "hole", side/4
		if p>>hole&1 != 0 {
			class, radius = "peg", side*2/5
		}
		fmt.Fprintf(svg, `<circle class="%s" cx="%d" cy="%d" r="%d"/>`, class, x, y, radius)
	}
	svg.WriteByte('\n')
	if len(m) == 0 {
		return
	}
	x, y := b.middle(m[0].From)
	fmt.Fprintf(svg, `<polyline points="%d,%d`, x, y)
	for _, j := range m {
		x, y := b.middle(j.To)
		fmt.Fprintf(svg, " %d,%d", x, y)
	}
	svg.WriteString("\"/>\n")
}

// middle returns where a hole is in a panel.
func (b *Board) middle(hole int) (x, y int) {
	row, col := b.place(hole)
	return col*side + side/2, header + row*side + side/2
}
