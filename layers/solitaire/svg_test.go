package solitaire

import (
	"path/filepath"
	"testing"

	"grenier/internal/testkit/golden"
	"grenier/internal/testkit/must"
)

// TestSVG compares drawings with golden files.
func TestSVG(t *testing.T) {
	b := Named(English)
	center := must.Get(b.Center())(t)
	start := b.Full() &^ (1 << center)
	for name, moves := range map[string][]Move{
		"position.svg": nil,
		"game.svg":     Moves(jumpsOf(t, b, start, "d2-d4 b3-d3 e3-c3 e1-e3 e4-e2")),
	} {
		got := b.SVG(start, moves)
		must.XML(t, got)
		golden.Check(t, filepath.Join("testdata", name), []byte(got))
	}
}
