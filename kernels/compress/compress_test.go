package compress

import (
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/twins"
	"grenier/kernels/cpu"
	"grenier/kernels/window"
)

// TestExample computes two columns by hand. Both play the same move. It leads from row 1 to score 0, from row 3 to
// score 1 and from row 4 to score 5 of panel 0, and from row 6 to score 2 of panel 1; it does not help the other rows.
// Column 0 reaches row 2 of the matrix that holds the children, column 9 row 1.
func TestExample(t *testing.T) {
	const rows = 3 // in a panel of the children
	scores := twins.Aligned(2 * rows * Side)
	line := func(panel, row int) []int8 { return scores[(panel*rows+row)*Side:] }
	copy(line(0, 2), []int8{10, 20, 30, 40, 50, 60})
	copy(line(1, 2), []int8{-1, -2, -3, -4})
	copy(line(0, 1), []int8{7, 7, 9, 9, 9, 1})
	copy(line(1, 1), []int8{4, 4, 4, 4})

	route := Route{
		Scores: scores,
		Stride: rows * Side,
		Words:  []Word{{Panel: 0, Pick: 0b100011, Place: 0b0011010}, {Panel: 1, Pick: 0b000100, Place: 0b1000000}},
		First:  []uint32{0, 2}, // one chunk, with both words
	}
	program := Program{
		Groups: []Group{{Columns: 1<<0 | 1<<9, Route: 0, First: 0}},
		Rows:   []uint32{2, 1}, // of columns 0 and 9
	}

	var offers Block
	copy(offers[0*Side:], []int8{100, 100, 100, 5, 100, 100, 100, 100})
	copy(offers[9*Side:], []int8{-5, 6, 8, 8, 8, 8, 8, 8})
	var want Block
	copy(want[0*Side:], []int8{100, 10, 100, 5, 60, 100, -3, 100})
	copy(want[9*Side:], []int8{-5, 6, 8, 7, 1, 8, 4, 8})

	twins.Test(t, func(t *testing.T, f cpu.Family) {
		var got Block
		For(f, 8)(new(Scratch), &got, &offers, 1<<0|1<<9, &program, []Route{route}, 0, nil)
		for c := range Side {
			g, w := got[c*Side:][:Side], want[c*Side:][:Side]
			for r := range w {
				if g[r] != w[r] {
					t.Errorf("row %d of column %d: got %d, want %d", r, c, g[r], w[r])
				}
			}
		}
	})
}

// leastNaive follows the definition: it walks over the bits of each word of each
// column, with a finger on the scores that it picks and one on the places.
func leastNaive(dst, offers *Block, columns uint64, p *Program, routes []Route, chunk, width int) {
	for c := range Side {
		if columns>>c&1 == 0 {
			continue
		}
		for r := range Side {
			dst[c*Side+r] = window.None
			if width == 8 {
				dst[c*Side+r] = offers[c*Side+r]
			}
		}
		for _, g := range p.Groups {
			if g.Columns>>c&1 == 0 {
				continue
			}
			index := 0 // of c among the columns of g
			for before := range c {
				index += int(g.Columns >> before & 1)
			}
			row := int(p.Rows[int(g.First)+index])
			route := routes[g.Route]
			for w := route.First[chunk]; w < route.First[chunk+1]; w++ {
				placeNaive(dst, c, route.Words[w], route, row, width)
			}
		}
	}
}

func placeNaive(dst *Block, c int, w Word, route Route, row, width int) {
	from := 0
	for to := range Side {
		if w.Place>>to&1 == 0 {
			continue
		}
		for w.Pick>>from&1 == 0 {
			from++
		}
		score := scoreNaive(route.Scores[int(w.Panel)*route.Stride:], row, from, width)
		if score < dst[c*Side+to] {
			dst[c*Side+to] = score
		}
		from++
	}
}

// codes are those of each width but for bytes.
var codes = map[int]*window.Codes{2: window.Two, 3: window.Three, 4: window.Four, 6: window.Six}

// scoreNaive returns a score of a row of a panel.
func scoreNaive(panel []int8, row, i, width int) int8 {
	if width == 8 {
		return panel[row*Side+i]
	}
	return int8(codes[width].Get(panel[row*lineBytes(width):], i))
}

func TestOtherWidthsPanic(t *testing.T) {
	for _, width := range []int{-2, 0, 1, 5, 7, 9, 16} {
		twins.Test(t, func(t *testing.T, f cpu.Family) {
			must.Panic(t, func() { For(f, width) })
			must.Panic(t, func() { FetchFor(f, width) })
		})
	}
}
