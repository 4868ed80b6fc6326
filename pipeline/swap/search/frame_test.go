package search_test

import (
	"strings"
	"testing"

	"grenier/layers/swap"
	"grenier/pipeline/swap/search"
)

func TestFrames(t *testing.T) {
	g := mustListed(t, 2, 5)
	puzzle, err := g.Puzzle([]int{2, 10, 3, 4, 5, 6, 7, 8, 9, 1})
	if err != nil {
		t.Fatal(err)
	}
	frames := search.Frames(puzzle, []swap.Swap{{A: 0, B: 1}, {A: 4, B: 9}}, func(cell string) string {
		return "<" + strings.TrimSpace(cell) + ">"
	})
	want := []string{
		"  2  10   3   4   5 \n  6   7   8   9   1 \n",
		"<10><2>  3   4   5 \n  6   7   8   9   1 \n",
		" 10   2   3   4 <1>\n  6   7   8   9 <5>\n",
	}
	if strings.Join(frames, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", frames)
	}
	if still := search.Frames(puzzle, nil, strings.ToUpper); len(still) != 1 || still[0] != want[0] {
		t.Errorf("%q", still)
	}
}
