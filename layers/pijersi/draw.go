package pijersi

import (
	"cmp"
	"fmt"
	"strings"
)

// The board has rows a to g, 0 to 6.
const (
	rows       = 7
	maxColumns = 7
)

// columns returns the number of cells of a row.
func columns(row int) int { return 6 + row&1 }

// board is the cells of each row, from column 1 on; a cell has the letters of its
// cubes, the bottom one first, and 0 for none.
type board [rows][maxColumns][2]byte

// place is where a cube stands: its cell, and 1 for the cube on top.
type place struct{ row, column, level int }

// places of the cubes by player. Black's are white's turned by half a circle.
var places = newPlaces()

func newPlaces() (p [2][Cubes]place) {
	for i := range Cubes {
		at := place{row: 0, column: i}
		switch {
		case i >= Top:
			at = place{row: 1, column: i - 7}
		case i > 5:
			at = place{row: 1, column: i - 6}
		}
		if i == Top {
			at.level = 1
		}
		p[White][i] = at
		p[Black][i] = place{row: rows - 1 - at.row, column: columns(at.row) - 1 - at.column, level: at.level}
	}
	return p
}

// newBoard returns the board with the cubes of s.
func newBoard(s Setup) (b board) {
	for colour, l := range [2]Lineup{s.White, s.Black} {
		a := letters[colour]
		for i, at := range &places[colour] {
			b[at.row][at.column][at.level] = a[l>>(2*i)&3]
		}
	}
	return b
}

// cellName returns the name of a cell, like a1.
func cellName(row, column int) string { return string([]byte{'a' + byte(row), '1' + byte(column)}) }

// Draw returns the board for a terminal, black on top: two characters for a cell,
// the bottom cube and the one on top or a hyphen, a dot for an empty one, and the numbers of the columns below.
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
