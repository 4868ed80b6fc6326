package picture

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

func decode(t *testing.T, data []byte, err error) image.Image {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

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
		data, err := Board(p)
		if box := decode(t, data, err).Bounds(); box.Dx() != Width || box.Dy() != Height {
			t.Errorf("%+v: %v", p, box)
		}
		again, err := Board(p)
		if err != nil || !bytes.Equal(data, again) {
			t.Errorf("%+v: drawn twice, not the same (%v)", p, err)
		}
		if seen[string(data)] {
			t.Errorf("%+v looks like another position", p)
		}
		seen[string(data)] = true
	}
	for _, pits := range [][]int{nil, {1}, {1, 2, 3}} {
		if _, err := Board(Position{Pits: pits}); err == nil {
			t.Errorf("%v has a picture", pits)
		}
	}
	if dir := os.Getenv("GRENIER_SCREENSHOTS"); dir != "" {
		start.Pits[3], start.Taken = 11, [2]int{2, 5}
		data, err := Board(start)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "preview.png"), data, 0o666)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// TestIcon looks at the middle of seeds and of the rim.
func TestIcon(t *testing.T) {
	data, err := Icon(192)
	img := decode(t, data, err)
	if box := img.Bounds(); box.Dx() != 192 || box.Dy() != 192 {
		t.Fatal(box)
	}
	for at, want := range map[image.Point]any{{X: 96, Y: 66}: tints[0], {X: 96, Y: 96}: bowl, {X: 4, Y: 4}: wood} {
		if got := img.At(at.X, at.Y); got != want {
			t.Errorf("%v is %v, want %v", at, got, want)
		}
	}
}
