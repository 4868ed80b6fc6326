package halfboard

import (
	"slices"
	"testing"

	"grenier/layers/awari/halves"
)

// TestStripsListTheMoves sows every pit of every column.
func TestStripsListTheMoves(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *geometry, size int) {
		for sum := range g.n + 1 {
			for i := range g.slabs[sum] {
				s := g.newStrip(sum, i)
				if s.sum != sum || s.index != i || len(s.first) != g.slabs[sum][i].size+1 {
					t.Fatalf("strip %d of sum %d: %+v", i, sum, s)
				}
				for col := range g.slabs[sum][i].size {
					g.checkMoves(t, s, col)
				}
				for j, r := range s.routes {
					if slices.Index(s.routes, r) != j {
						t.Fatalf("strip %d of sum %d has route %+v twice", i, sum, r)
					}
				}
			}
		}
	})
}

// checkMoves compares the edges of a column with the sowings of its half.
func (g *geometry) checkMoves(t *testing.T, s *strip, col int) {
	t.Helper()
	h := g.pits[g.slabs[s.sum][s.index].code(col)]
	edges := s.moves(col)
	for pit, seeds := range h[:g.q] {
		if seeds == 0 {
			continue
		}
		if len(edges) == 0 {
			t.Fatalf("%v has no edge for pit %d", h, pit)
		}
		left := h
		move := halves.Sow(left[:g.q], pit)
		at := g.places[g.code(&left)]
		want := route{move: move, seeds: h.sum() - left.sum(), rows: int(at.slab)}
		if e := edges[0]; e.code != g.code(&left) || e.row != at.row || at.class != openRows || s.routes[e.route] != want {
			t.Fatalf("%v, pit %d: edge %+v on route %+v, want %+v", h, pit, e, s.routes[e.route], want)
		}
		edges = edges[1:]
	}
	if len(edges) > 0 {
		t.Fatalf("%v has %d edges too many", h, len(edges))
	}
}
