package picture

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// TestBoard draws positions: more seeds make another picture, and so do who moves, the seeds
// taken and the title; the same position makes the same bytes.
func TestBoard(t *testing.T) {
	start := Position{Pits: []int{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, Players: [2]string{"South", "North"}, Title: "South to move"}
	seen := map[string]bool{}
	for _, change := range []func(*Position){
		func(*Position) {},
		func(p *Position) { p.Pits = []int{4, 4, 0, 5, 5, 5, 5, 4, 4, 4, 4, 4} },
		func(p *Position) { p.North = true },
		func(p *Position) { p.Taken = [2]int{3, 0} },
		func(p *Position) { p.Players = [2]string{"Sud", "Nord"} },
		func(p *Position) {
			p.Title = "A title that is far too long for the picture and has to be made smaller, much smaller"
		},
		func(p *Position) { p.Pits = []int{48, 0} },
	} {
		p := start
		change(&p)
		data := must.Get(Board(p))(t)
		box := must.Get(png.DecodeConfig(bytes.NewReader(data)))(t)
		should.Hold(t, box.Width == Width && box.Height == Height, "%+v: %v", p, box)
		should.Not(t, seen[string(data)], "%+v looks like another position", p)
		seen[string(data)] = true
	}
	should.Hold(t, seen[string(must.Get(Board(start))(t))], "drawn twice, not the same")
	for _, pits := range [][]int{nil, {1}, {1, 2, 3}} {
		should.Not(t, must.Err(Board(Position{Pits: pits})) == nil, "%v has a picture", pits)
	}
	if dir := os.Getenv("GRENIER_SCREENSHOTS"); dir != "" {
		start.Pits[3], start.Taken = 11, [2]int{2, 5}
		must.Write(t, filepath.Join(dir, "preview.png"), must.Get(Board(start))(t))
	}
}

// TestIcon looks at the middle of seeds and of the rim.
func TestIcon(t *testing.T) {
	img := must.Get(png.Decode(bytes.NewReader(must.Get(Icon(192))(t))))(t)
	must.Equal(t, img.Bounds(), image.Rect(0, 0, 192, 192))
	for at, want := range map[image.Point]any{{X: 96, Y: 66}: tints[0], {X: 96, Y: 96}: bowl, {X: 4, Y: 4}: wood} {
		should.Equal(t, any(img.At(at.X, at.Y)), want, "%v", at)
	}
}
