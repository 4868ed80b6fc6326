package swap

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"grenier/kernels/fault"
)

// ErrText reports a text that is not a puzzle in the course format.
var ErrText = fault.New(fault.Usage, "bad puzzle text")

// Puzzle is a grid with the state to solve, as a text gives it.
type Puzzle struct {
	Grid *Grid
	// Tiles has the tiles cell by cell, numbered from 0.
	Tiles List
	// First is the number of the first tile in the text, 1 or 0.
	First int
}

// maxLine is far longer than the longest line of a puzzle, in bytes.
const maxLine = 4096

// Parse reads a puzzle: a line with the numbers of rows and columns, then the
// rows, the tiles separated by blanks or commas. It skips blank lines, lines that begin
// with #, and a byte order mark, which some editors begin a file with. It fails with
// ErrText for a text of another form, ErrSize for a size that is not possible
// and ErrTiles for tiles that are not 1 to mn or 0 to mn-1, each once; errors of
// r are passed on.
func Parse(r io.Reader) (Puzzle, error) {
	lines := &numbers{scanner: bufio.NewScanner(r)}
	lines.scanner.Buffer(nil, maxLine)
	size, err := lines.next("the numbers of rows and columns", 2)
	if err != nil {
		return Puzzle{}, err
	}
	g, err := NewListedGrid(size[0], size[1])
	if err != nil {
		return Puzzle{}, fmt.Errorf("line %d: %w", lines.line, err)
	}
	var tiles []int
	for row := range g.rows {
		line, err := lines.next(fmt.Sprintf("row %d of %d", row+1, g.rows), g.cols)
		if err != nil {
			return Puzzle{}, err
		}
		tiles = append(tiles, line...)
	}
	if err := lines.end(); err != nil {
		return Puzzle{}, err
	}
	return g.Puzzle(tiles)
}

// Puzzle returns the puzzle with these tiles, listed cell by cell and numbered
// from 0 or from 1. It fails with ErrTiles if they are not.
func (g *Grid) Puzzle(tiles []int) (Puzzle, error) {
	n := g.Cells()
	if len(tiles) != n {
		return Puzzle{}, fmt.Errorf("%w: %d tiles for %d x %d cells", ErrTiles, len(tiles), g.rows, g.cols)
	}
	first := 1
	if slices.Contains(tiles, 0) {
		first = 0
	}
	list := make(List, n)
	cellOf := make([]int, n) // the cell of each tile, counted from 1
	for cell, t := range tiles {
		if t < first || t >= first+n {
			return Puzzle{}, fmt.Errorf("%w: %d in row %d, column %d (tiles are 1 to %d, or 0 to %d in the whole grid)",
				ErrTiles, t, cell/g.cols+1, cell%g.cols+1, n, n-1)
		}
		if earlier := cellOf[t-first]; earlier != 0 {
			return Puzzle{}, fmt.Errorf("%w: %d is in cells %d and %d", ErrTiles, t, earlier-1, cell)
		}
		cellOf[t-first] = cell + 1
		list[cell] = uint8(t - first)
	}
	return Puzzle{Grid: g, Tiles: list, First: first}, nil
}

// String returns the text of the puzzle, which Parse reads.
func (p Puzzle) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d\n", p.Grid.rows, p.Grid.cols)
	for cell, tile := range p.Tiles {
		end := " "
		if (cell+1)%p.Grid.cols == 0 {
			end = "\n"
		}
		fmt.Fprintf(&b, "%d%s", int(tile)+p.First, end)
	}
	return b.String()
}

// numbers reads lines of numbers.
type numbers struct {
	scanner *bufio.Scanner
	line    int
}

// fields returns the next line that is neither blank nor a comment, which begins with #,
// split at blanks and commas, or nil at the end.
func (n *numbers) fields() ([]string, error) {
	for n.scanner.Scan() {
		text := n.scanner.Text()
		if n.line++; n.line == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		f := strings.Fields(strings.ReplaceAll(text, ",", " "))
		if len(f) > 0 && !strings.HasPrefix(f[0], "#") {
			return f, nil
		}
	}
	err := n.scanner.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("%w: line %d has more than %d bytes", ErrText, n.line+1, maxLine)
	}
	return nil, err
}

// next reads a line of count numbers; what says which.
func (n *numbers) next(what string, count int) ([]int, error) {
	f, err := n.fields()
	switch {
	case err != nil:
		return nil, err
	case f == nil:
		return nil, fmt.Errorf("%w: it ends before %s", ErrText, what)
	case len(f) != count:
		return nil, fmt.Errorf("%w: line %d has %d numbers, expected %d: %s", ErrText, n.line, len(f), count, what)
	}
	values := make([]int, count)
	for i, text := range f {
		if values[i], err = strconv.Atoi(text); err != nil {
			return nil, fmt.Errorf("%w: line %d: %q is not a whole number", ErrText, n.line, text)
		}
	}
	return values, nil
}

// end fails if there is another line.
func (n *numbers) end() error {
	f, err := n.fields()
	if err == nil && f != nil {
		err = fmt.Errorf("%w: line %d comes after the last row", ErrText, n.line)
	}
	return err
}
