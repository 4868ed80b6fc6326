package pijersi

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrCells reports text that is not the cells of a set-up.
var ErrCells = errors.New("not the cells of a set-up")

// cellNames are the names of the places of the cubes by player; a t marks the cube on top
// of another.
var cellNames = newCellNames()

func newCellNames() (names [2][Cubes]string) {
	for colour := range names {
		for i, at := range &places[colour] {
			names[colour][i] = cellName(at.row, at.column) + strings.Repeat("t", at.level)
		}
	}
	return names
}

// AppendCells appends the cells of s with their cubes as document 003 has them,
// {'a1': 'S', 'a2': 'P', ...}, in the order of the cubes, white's first.
func (s Setup) AppendCells(dst []byte) []byte {
	dst = append(dst, '{')
	if s.Form != BlackMirror {
		dst = s.White.appendCells(dst, White)
	}
	if s.Form == Total {
		dst = append(dst, ", "...)
	}
	if s.Form != Mirror {
		dst = s.Black.appendCells(dst, Black)
	}
	return append(dst, '}')
}

// appendCells appends the cells of a player with commas between.
func (l Lineup) appendCells(dst []byte, colour Colour) []byte {
	for i, name := range &cellNames[colour] {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, '\'')
		dst = append(dst, name...)
		dst = append(dst, "': '"...)
		dst = append(dst, letters[colour][l.Cube(i)], '\'')
	}
	return dst
}

// ParseCells reads the cells of a set-up with their cubes, in any order: of white,
// which black mirrors; of black, which white mirrors; or of both. Names and
// cubes are in quotes, 'a1' or "a1"; entries are separated by commas or blanks. It fails
// with ErrCells for anything else: a cell that is missing or named twice, a letter of the
// other player. Legality is not checked.
func ParseCells[T text](cells T) (Setup, error) {
	var r cellReader
	if err := r.read(strings.TrimSpace(string(cells))); err != nil {
		return Setup{}, fmt.Errorf("%w: %w", ErrCells, err)
	}
	return r.setup()
}

// cellReader reads cells.
type cellReader struct {
	lineups [2]Lineup
	given   [2]uint // a bit for each cube
}

// cellEntry matches a cell with its cube, and the text that may stand before it.
var cellEntry = regexp.MustCompile(`^\s*,?\s*(?:'([^']*)'|"([^"]*)")\s*:\s*(?:'([^']*)'|"([^"]*)")`)

// read reads all.
func (r *cellReader) read(text string) error {
	rest, ok := strings.CutPrefix(text, "{")
	if !ok {
		return fmt.Errorf("%s does not begin with {", quote(text))
	}
	for {
		m := cellEntry.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		if err := r.put(m[1]+m[2], m[3]+m[4]); err != nil {
			return err
		}
		rest = rest[len(m[0]):]
	}
	if strings.TrimSpace(rest) != "}" {
		return fmt.Errorf("at %s: an entry like 'a1': 'R' or the last } has to follow", quote(rest))
	}
	return nil
}

// put notes which cube stands where.
func (r *cellReader) put(name, cube string) error {
	for colour := range cellNames {
		for i := range cellNames[colour] {
			if cellNames[colour][i] != name {
				continue
			}
			if r.given[colour]>>i&1 != 0 {
				return fmt.Errorf("%s is named twice", name)
			}
			kind := strings.Index(letters[colour], cube)
			if len(cube) != 1 || kind < 0 {
				return fmt.Errorf("%s on %s is not a cube of %s's, one of %s", quote(cube), name, Colour(colour), letters[colour])
			}
			r.given[colour] |= 1 << i
			r.lineups[colour] |= Lineup(kind) << (2 * i)
			return nil
		}
	}
	return fmt.Errorf("%s is not a cell of a set-up: a1 to a6, b1 to b7 and b4t, f1 to f7 and f4t, g1 to g6", quote(name))
}

// setup returns the Setup that was read.
func (r *cellReader) setup() (Setup, error) {
	const all = 1<<Cubes - 1
	switch {
	case r.given == [2]uint{all, 0}:
		return Setup{r.lineups[White], r.lineups[White], Mirror}, nil
	case r.given == [2]uint{0, all}:
		return Setup{r.lineups[Black], r.lineups[Black], BlackMirror}, nil
	case r.given == [2]uint{all, all}:
		return Setup{r.lineups[White], r.lineups[Black], Total}, nil
	}
	var missing []string
	for colour, given := range r.given {
		for i, name := range &cellNames[colour] {
			if given>>i&1 == 0 && (given != 0 || r.given == [2]uint{} && colour == int(White)) {
				missing = append(missing, name)
			}
		}
	}
	return Setup{}, fmt.Errorf("%w: %s missing", ErrCells, strings.Join(missing, ", "))
}
