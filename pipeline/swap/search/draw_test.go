package search_test

import (
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/layers/swap"
	"grenier/pipeline/swap/search"
)

// TestSVG checks that the drawing is XML with a tile for each cell that ends at home.
func TestSVG(t *testing.T) {
	g := mustGrid(t, 2, 3)
	puzzle := must.Get(g.Puzzle([]int{2, 1, 3, 4, 5, 6}))(t)
	var values []string
	for _, e := range must.XML(t, string(search.SVG(puzzle, []swap.Swap{{A: 0, B: 1}}))) {
		for _, a := range e.Attr {
			if e.Name.Local == "animateTransform" && a.Name.Local == "values" {
				values = append(values, a.Value)
			}
		}
	}
	should.Hold(t, len(values) == 6 && values[0] == "90 30;30 30;30 30;30 30" && values[1] == "30 30;90 30;90 30;90 30" && values[5] == "150 90;150 90;150 90;150 90",
		"%q", values)
	still := string(search.SVG(puzzle, nil))
	should.Not(t, strings.Contains(still, "animate"), "%v", still)
}

func TestFrames(t *testing.T) {
	g := mustGrid(t, 2, 5)
	puzzle := must.Get(g.Puzzle([]int{2, 10, 3, 4, 5, 6, 7, 8, 9, 1}))(t)
	frames := search.Frames(puzzle, []swap.Swap{{A: 0, B: 1}, {A: 4, B: 9}}, func(cell string) string {
		return "<" + strings.TrimSpace(cell) + ">"
	})
	want := []string{
		"  2  10   3   4   5 \n  6   7   8   9   1 \n",
		"<10><2>  3   4   5 \n  6   7   8   9   1 \n",
		" 10   2   3   4 <1>\n  6   7   8   9 <5>\n",
	}
	should.Hold(t, strings.Join(frames, "\n") == strings.Join(want, "\n"), "%q", frames)
	still := search.Frames(puzzle, nil, strings.ToUpper)
	should.Hold(t, len(still) == 1 && still[0] == want[0], "%q", still)
}
