package solitaire

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Characters of pictures.
const (
	pegChar   = 'o'
	emptyChar = '.'
	noneChar  = '-'
)

// Parse returns the board of a picture, and the position on it; the package comment has the format.
// A board that has a name gets it. It fails with ErrPicture.
func Parse(picture string) (*Board, Position, error) {
	b, position, err := parse(picture)
	if err != nil {
		return nil, 0, err
	}
	for _, other := range named {
		if b.rows == other.rows && b.cols == other.cols && slices.Equal(b.squares, other.squares) {
			return other, position, nil
		}
	}
	return b, position, nil
}

// parse is Parse for boards without a name.
func parse(picture string) (*Board, Position, error) {
	lines := strings.Split(strings.ReplaceAll(picture, "\r\n", "\n"), "\n")
	g, err := boundsOf(lines)
	if err != nil {
		return nil, 0, err
	}
	var squares []int
	var position Position
	for row, line := range lines[g.top : g.bottom+1] {
		for col, char := range []byte(line) {
			if char != pegChar && char != emptyChar {
				continue
			}
			if len(squares) == MaxHoles {
				return nil, 0, fmt.Errorf("%w: more than %d holes", ErrPicture, MaxHoles)
			}
			if char == pegChar {
				position |= 1 << len(squares)
			}
			squares = append(squares, row*g.cols()+col-g.left)
		}
	}
	return newBoard(g.rows(), g.cols(), squares), position, nil
}

// bounds are the first and the last line and column that have holes.
type bounds struct{ top, bottom, left, right int }

func (g *bounds) rows() int { return g.bottom - g.top + 1 }
func (g *bounds) cols() int { return g.right - g.left + 1 }

// boundsOf returns where the holes of a picture are. It fails with ErrPicture.
func boundsOf(lines []string) (g bounds, err error) {
	g = bounds{top: len(lines), bottom: -1, left: math.MaxInt, right: -1}
	for row, line := range lines {
		for col, char := range []byte(line) {
			switch char {
			case pegChar, emptyChar:
				g.top, g.bottom = min(g.top, row), row
				g.left, g.right = min(g.left, col), max(g.right, col)
			case noneChar, ' ':
			default:
				return g, fmt.Errorf("%w: line %d: %q: expected o for a peg, . for an empty hole, and - or a blank for no hole", ErrPicture, row+1, char)
			}
		}
	}
	switch {
	case g.bottom < 0:
		return g, fmt.Errorf("%w: it has no holes; o is a peg, . an empty hole", ErrPicture)
	case g.rows() > MaxRows || g.cols() > MaxCols:
		return g, fmt.Errorf("%w: %d rows and %d columns: must be at most %d and %d", ErrPicture, g.rows(), g.cols(), MaxRows, MaxCols)
	}
	return g, nil
}

// Picture returns the picture of a position, one line for each row.
func (b *Board) Picture(p Position) string {
	var text strings.Builder
	for row := range b.rows {
		var line strings.Builder
		for col := range b.cols {
			line.WriteByte(b.char(p, b.at(row, col)))
		}
		text.WriteString(line.String() + "\n")
	}
	return text.String()
}

// char returns the character of a hole, or of a place without one.
func (b *Board) char(p Position, hole int) byte {
	switch {
	case hole < 0:
		return noneChar
	case p>>hole&1 != 0:
		return pegChar
	}
	return emptyChar
}
