package swap_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/layers/swap"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string // text of the puzzle
		err        error
	}{
		{"from 1", "2 3\n1 2 3\n6 5 4\n", "2 3\n1 2 3\n6 5 4\n", nil},
		{"from 0", "2 3\n0 1 2\n5 4 3", "2 3\n0 1 2\n5 4 3\n", nil},
		{"spaces", "\r\n 2\t2 \r\n\r\n 4 3\r\n 2  1 \r\n\r\n", "2 2\n4 3\n2 1\n", nil},
		{"byte order mark", "\ufeff1 2\n2 1\n", "1 2\n2 1\n", nil},
		{"commas and comments", "# a grid\n2,2\n\n4, 3\n # and\n2,1,\n,\n", "2 2\n4 3\n2 1\n", nil},
		{"one cell", "1 1\n1\n", "1 1\n1\n", nil},
		{"one cell from 0", "1 1\n0\n", "1 1\n0\n", nil},
		{"sixteen", "1 16\n16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1\n", "1 16\n16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1\n", nil},

		{"five by five", "5 5\n24 1 2 3 4\n5 6 7 8 9\n10 11 12 13 14\n15 16 17 18 19\n20 21 22 23 0",
			"5 5\n24 1 2 3 4\n5 6 7 8 9\n10 11 12 13 14\n15 16 17 18 19\n20 21 22 23 0\n", nil},

		{"empty", "", "", swap.ErrText},
		{"no rows", "2 2\n", "", swap.ErrText},
		{"a row short", "2 2\n1 2\n", "", swap.ErrText},
		{"a row long", "2 2\n1 2\n3 4\n5 6\n", "", swap.ErrText},
		{"short row", "2 2\n1 2\n3\n", "", swap.ErrText},
		{"long row", "2 2\n1 2 3\n4\n", "", swap.ErrText},
		{"no size", "1 2 3\n4 5 6\n", "", swap.ErrText},
		{"letters", "2 2\n1 a\n3 4\n", "", swap.ErrText},
		{"fraction", "2 2\n1 2.0\n3 4\n", "", swap.ErrText},
		{"long line", "2 2\n1" + strings.Repeat(" ", 5000) + "2\n3 4\n", "", swap.ErrText},
		{"number too large", "2 2\n1 99999999999999999999\n3 4\n", "", swap.ErrText},

		{"no cells", "0 2\n", "", swap.ErrSize},
		{"negative", "-1 -4\n1 2 3 4\n", "", swap.ErrSize},
		{"too many", "5 13\n1 2 3 4 5 6 7 8 9 10 11 12 13\n", "", swap.ErrSize},

		{"twice", "2 2\n1 2\n2 4\n", "", swap.ErrTiles},
		{"both numberings", "2 2\n0 1\n2 4\n", "", swap.ErrTiles},
		{"neither numbering", "2 2\n2 3\n4 5\n", "", swap.ErrTiles},
		{"negative tile", "2 2\n1 2\n3 -4\n", "", swap.ErrTiles},
	} {
		p, err := swap.Parse(strings.NewReader(c.text))
		if !errors.Is(err, c.err) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.err)
			continue
		}
		should.Not(t, err == nil && p.String() != c.want, "%s: %q, want %q", c.name, p, c.want)
	}
}

// TestReadError checks that a failure to read is not taken for bad text.
func TestReadError(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("2 2\n1 2\n"), iotest.ErrReader(io.ErrClosedPipe))
	_, err := swap.Parse(broken)
	should.Not(t, !errors.Is(err, io.ErrClosedPipe) || errors.Is(err, swap.ErrText), "%v", err)
}

// TestPuzzleText checks random puzzles of all sizes: text and back.
func TestPuzzleText(t *testing.T) {
	rng := tries.Rand(t)
	for _, size := range append(sizes(), [2]int{1, 17}, [2]int{5, 5}, [2]int{64, 1}, [2]int{8, 8}) {
		g := mustGrid(t, size[0], size[1])
		for first := range 2 {
			p := swap.Puzzle{Grid: g, Tiles: shuffled(g, rng), First: first}
			got, err := swap.Parse(strings.NewReader(p.String()))
			should.Hold(t, err == nil && slices.Equal(got.Tiles, p.Tiles) && got.First == first && got.String() == p.String(),
				"%q becomes %q: %v", p, got, err)
		}
	}
}

// FuzzParse feeds any text: what is accepted is a state that is written and read again unchanged.
func FuzzParse(f *testing.F) {
	f.Add("2 3\n1 2 3\n6 5 4\n")
	f.Add("1 1\n0\n")
	f.Add("2 2\n0 1\n2 4\n")
	f.Add("1 17\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 17 16")
	f.Add("6 3\n0 1 2\n3 4 5\n6 7 8\n9 10 11\n12 13 14\n15 16 17")
	f.Add("\n\n4 4")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := swap.Parse(strings.NewReader(text))
		if err != nil {
			must.Not(t, !errors.Is(err, swap.ErrText) && !errors.Is(err, swap.ErrSize) && !errors.Is(err, swap.ErrTiles),
				"untyped error %v", err)
			return
		}
		must.Hold(t, len(p.Tiles) == p.Grid.Cells() && p.Tiles.Valid(), "%v is no state of %d x %d", p.Tiles, p.Grid.Rows(), p.Grid.Cols())
		again, err := swap.Parse(strings.NewReader(p.String()))
		must.Hold(t, err == nil && slices.Equal(again.Tiles, p.Tiles) && again.First == p.First, "%q becomes %q: %v", p, again, err)
	})
}
