package pijersi

import (
	"errors"
	"fmt"
	"strings"
)

// ErrPosition reports what is not the position of a set-up.
var ErrPosition = errors.New("not the position of a set-up")

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

// After the board come the player to move, the moves since a capture and the
// number of the move.
const beginning = " w 0 1"

// What the command of the Universal Game Interface that sets up a position begins
// with, and the one for the standard set-up.
const (
	ugiPosition = "position fen "
	ugiStandard = "position startpos"
)

// AppendPosition appends s in PSN, the notation of programs that play: rows g to a,
// each from column 1 on, divided by slashes; a cube and a hyphen, or the bottom cube
// and the top one of a stack; a digit for as many empty cells.
func (s Setup) AppendPosition(dst []byte) []byte {
	b := newBoard(s)
	for row := rows - 1; row >= 0; row-- {
		empty := byte(0)
		for _, cell := range b[row][:columns(row)] {
			switch {
			case cell[0] == 0:
				empty++
			case cell[1] == 0:
				dst = append(dst, cell[0], '-')
			default:
				dst = append(dst, cell[0], cell[1])
			}
		}
		// Rows of a set-up are full or empty.
		if empty > 0 {
			dst = append(dst, '0'+empty)
		}
		if row > 0 {
			dst = append(dst, '/')
		}
	}
	return append(dst, beginning...)
}

// AppendUGI appends the command of the Universal Game Interface that sets up s.
func (s Setup) AppendUGI(dst []byte) []byte {
	return s.AppendPosition(append(dst, ugiPosition...))
}

// Position returns s in PSN.
func (s Setup) Position() string { return string(s.AppendPosition(nil)) }

// ParsePosition reads a set-up in PSN, white to make the first move; "position fen"
// may stand before it, and "position startpos" is the standard set-up. The form of
// the result is that of NewSetup. It fails with ErrPosition for anything else, other
// positions of the game included. Legality is not checked.
func ParsePosition[T text](position T) (Setup, error) {
	if s, ok := readPosition(position); ok {
		return s, nil
	}
	return parsePosition(string(position))
}

// positionLen is the number of characters of a set-up in PSN. Each cube is always at
// the same place.
const positionLen = len("s-p-r-s-p-r-/p-r-s-wwr-s-p-/6/7/6/P-S-R-WWS-R-P-/R-P-S-R-P-S-" + beginning)

// rowStart is where the rows with cubes begin in PSN.
var rowStart = [rows]int{0: 49, 1: 34, 5: 13, 6: 0}

// readPosition is the fast twin of parsePosition for a plain set-up: it reads the
// letters of the cubes, and the rest must be what is written for these.
func readPosition[T text](t T) (s Setup, ok bool) {
	if len(t) != positionLen {
		return s, false
	}
	var lineups [2]Lineup
	for colour := range lineups {
		for i, at := range &places[colour] {
			kind := cubeOf[colour][t[rowStart[at.row]+2*at.column+at.level]]
			lineups[colour] |= Lineup(kind&3) << (2 * i)
		}
	}
	s = NewSetup(lineups[White], lineups[Black])
	var written [positionLen]byte
	for i, c := range s.AppendPosition(written[:0]) {
		if t[i] != c {
			return Setup{}, false
		}
	}
	return s, true
}

// parsePosition reads a set-up as ParsePosition, and says what is wrong.
func parsePosition(position string) (Setup, error) {
	if position == ugiStandard {
		return Standard, nil
	}
	squares, ok := strings.CutSuffix(strings.TrimPrefix(position, ugiPosition), beginning)
	if !ok {
		return Setup{}, fmt.Errorf("%w: %s does not end with %q, white to make move 1", ErrPosition, quote(position), beginning[1:])
	}
	b, err := parseBoard(squares)
	if err != nil {
		return Setup{}, fmt.Errorf("%w: %w", ErrPosition, err)
	}
	s, err := b.setup()
	if err != nil {
		return Setup{}, fmt.Errorf("%w: %w", ErrPosition, err)
	}
	return s, nil
}

// parseBoard reads the board of any position.
func parseBoard(text string) (b board, err error) {
	lines := strings.Split(text, "/")
	if len(lines) != rows {
		return b, fmt.Errorf("%d rows, want %d", len(lines), rows)
	}
	for i, line := range lines {
		row := rows - 1 - i
		cells, err := parseRow(line)
		if err == nil && len(cells) != columns(row) {
			err = fmt.Errorf("%d cells, want %d", len(cells), columns(row))
		}
		if err != nil {
			return b, fmt.Errorf("row %c, %s: %w", 'a'+row, quote(line), err)
		}
		copy(b[row][:], cells)
	}
	return b, nil
}

// parseRow reads the cells of a row.
func parseRow(line string) (cells [][2]byte, err error) {
	for i := 0; i < len(line); {
		c := line[i]
		if c >= '1' && c <= '0'+maxColumns {
			if i > 0 && line[i-1] >= '1' && line[i-1] <= '0'+maxColumns {
				return nil, errors.New("two digits in a row")
			}
			cells = append(cells, make([][2]byte, c-'0')...)
			i++
			continue
		}
		if i+1 == len(line) {
			return nil, fmt.Errorf("%q at the end is half a cell", c)
		}
		cell, err := parseCell(c, line[i+1])
		if err != nil {
			return nil, err
		}
		cells = append(cells, cell)
		i += 2
	}
	return cells, nil
}

// parseCell reads a cube or a stack.
func parseCell(bottom, top byte) (cell [2]byte, err error) {
	cubes := letters[colourOf[bottom]]
	switch {
	case strings.IndexByte(cubes, bottom) < 0:
		return cell, fmt.Errorf("%q is neither a cube, %s or %s, nor 1 to %d empty cells", bottom, letters[White], letters[Black], maxColumns)
	case top == '-':
		return [2]byte{bottom}, nil
	case strings.IndexByte(cubes, top) < 0:
		return cell, fmt.Errorf("%q after %q is neither a hyphen nor another cube of the player", top, bottom)
	}
	return [2]byte{bottom, top}, nil
}

// setup returns the set-up whose board b is.
func (b *board) setup() (Setup, error) {
	var lineups [2]Lineup
	for colour := range lineups {
		for i, at := range &places[colour] {
			kind := strings.IndexByte(letters[colour], b[at.row][at.column][at.level])
			if kind < 0 {
				return Setup{}, fmt.Errorf("%s lacks one of %s's cubes", cellName(at.row, at.column), Colour(colour))
			}
			lineups[colour] |= Lineup(kind) << (2 * i)
		}
	}
	s := NewSetup(lineups[White], lineups[Black])
	want := newBoard(s)
	for row := range b {
		for column, cell := range b[row] {
			if cell != want[row][column] {
				return Setup{}, fmt.Errorf("%s has a cube too many", cellName(row, column))
			}
		}
	}
	return s, nil
}
