package chemin

import (
	"errors"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
)

func TestDraw(t *testing.T) {
	b := board(t, 2, 2)
	got, err := b.DrawSteps([]int{0, 3, 1, 2}, 24)
	want := ` step 1   step 2
[1] .     1  .
 .  .     . [1]

 step 3   step 4
 1 [2]    1  2
 .  1    [4] 1
`
	if err != nil || got != want {
		t.Errorf("DrawSteps: %v\n%s", err, got)
	}
	if got, want := b.Draw([]uint32{1, 10, 0, 3}), "  1  10\n  .   3"; got != want {
		t.Errorf("Draw:\n%s", got)
	}
	if _, err := b.DrawSteps([]int{0}, 80); !errors.Is(err, ErrOrder) {
		t.Errorf("DrawSteps: %v, want ErrOrder", err)
	}
}

// TestSVG checks that the drawing is well formed and has a grid for each step.
func TestSVG(t *testing.T) {
	b := board(t, 3, 3)
	svg, err := b.SVG([]int{0, 6, 3, 7, 4, 8, 5, 2, 1})
	must.OK(t, err)
	count := map[string]int{}
	for _, e := range must.XML(t, svg) {
		count[e.Name.Local]++
	}
	if count["svg"] != 1 || count["g"] != 9 || count["rect"] != 81 || count["text"] != 9+45 {
		t.Errorf("elements: %v", count)
	}
	if strings.Count(svg, `class="new"`) != 9 || !strings.Contains(svg, ">57</text>") {
		t.Error("the steps are not marked")
	}
	if _, err := b.SVG(nil); !errors.Is(err, ErrOrder) {
		t.Errorf("SVG: %v, want ErrOrder", err)
	}
}
