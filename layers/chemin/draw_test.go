package chemin

import (
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

func TestDraw(t *testing.T) {
	b := must.Get(New(2, 2))(t)
	got, err := b.DrawSteps([]int{0, 3, 1, 2}, 24)
	want := ` step 1   step 2
[1] .     1  .
 .  .     . [1]

 step 3   step 4
 1 [2]    1  2
 .  1    [4] 1
`
	should.Hold(t, err == nil && got == want, "DrawSteps: %v\n%s", err, got)
	should.Equal(t, b.Draw([]uint32{1, 10, 0, 3}), "  1  10\n  .   3", "Draw")
	should.Be(t, must.Err(b.DrawSteps([]int{0}, 80)), ErrOrder, "DrawSteps")
}

// TestSVG checks that the drawing is well formed and has a grid for each step.
func TestSVG(t *testing.T) {
	b := must.Get(New(3, 3))(t)
	svg := must.Get(b.SVG([]int{0, 6, 3, 7, 4, 8, 5, 2, 1}))(t)
	count := map[string]int{}
	for _, e := range must.XML(t, svg) {
		count[e.Name.Local]++
	}
	should.Hold(t, count["svg"] == 1 && count["g"] == 9 && count["rect"] == 81 && count["text"] == 9+45, "elements: %v", count)
	should.Hold(t, strings.Count(svg, `class="new"`) == 9 && strings.Contains(svg, ">57</text>"), "the steps are not marked")
	should.Be(t, must.Err(b.SVG(nil)), ErrOrder, "SVG")
}
