package stream

import (
	"slices"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/pipeline/solve/internal/halfboard/board"
)

// eachGrid lays out layers of random configurations, with segments of random sizes.
func eachGrid(t *testing.T, n int, check func(g *board.Layer, segments [][]board.PanelOf)) {
	rng := awaritest.Rand(t)
	for range awaritest.Runs(n) {
		g := randomLayer(t, rng)
		check(g, segmentsOf(g, 1+rng.Uint64N(50_000)))
	}
}

// TestLongSegmentsCoverAllPanels: each panel is in one segment, all of them in the order of
// captures, and no segment but the last one is smaller than asked for.
func TestLongSegmentsCoverAllPanels(t *testing.T) {
	rng := awaritest.Rand(t)
	for range awaritest.Runs(80) {
		g := randomLayer(t, rng)
		least := 1 + rng.Uint64N(50_000)
		segments := segmentsOf(g, least)
		panels := slices.Concat(segments...)
		if !slices.Equal(panels, g.PanelsInOrder()) {
			t.Fatalf("segments are not all panels in order")
		}
		met, want := map[board.PanelOf]bool{}, 0
		for _, p := range panels {
			if met[p] || p.Panel < 0 || p.Panel >= p.Matrix.Panels || g.Matrices[p.Matrix.Sum] != p.Matrix {
				t.Fatalf("panel %d of %d seeds", p.Panel, p.Matrix.Sum)
			}
			met[p] = true
		}
		for _, m := range g.Matrices {
			want += m.Panels
		}
		if len(panels) != want {
			t.Fatalf("%d panels, want %d", len(panels), want)
		}
		for i, segment := range segments {
			positions := uint64(0)
			for _, p := range segment {
				positions += uint64(p.Matrix.Rows[board.OpenRows]+p.Matrix.Rows[board.FullRows]) * board.Side
			}
			if len(segment) == 0 || positions < least && i < len(segments)-1 {
				t.Fatalf("segment %d of %d has %d panels with %d positions, want %d", i, len(segments), len(segment), positions, least)
			}
		}
		if most := g.Halves.Board().Size(g.N); len(segmentsOf(g, most*board.Side*2)) != 1 {
			t.Fatalf("more than one segment of everything")
		}
	}
}

// TestLongStripsCoverAllRows: each row of each panel is in one strip of its class, and strips
// begin with chunks.
func TestLongStripsCoverAllRows(t *testing.T) {
	eachGrid(t, 80, func(g *board.Layer, segments [][]board.PanelOf) {
		for _, panels := range segments {
			for class := range board.Classes {
				next := map[board.PanelOf]int{} // row
				at := 0
				for s := range stripsOf(panels, class) {
					p := board.PanelOf{Matrix: s.matrix, Panel: s.panel}
					for at < len(panels) && panels[at] != p {
						at++
					}
					if at == len(panels) {
						t.Fatalf("panel %d of %d seeds is out of order", s.panel, s.matrix.Sum)
					}
					if s.class != class || s.begin != next[p] || s.begin%board.Side != 0 || s.end <= s.begin || s.end-s.begin > StripRows {
						t.Fatalf("rows %d to %d after row %d", s.begin, s.end, next[p])
					}
					next[p] = s.end
				}
				for _, p := range panels {
					if next[p] != p.Matrix.Rows[class] {
						t.Fatalf("%d rows of %d", next[p], p.Matrix.Rows[class])
					}
				}
			}
		}
	})
}

// TestStripsEnd: who has enough need not take all.
func TestStripsEnd(t *testing.T) {
	g := layOut(t, 3, 9)
	for range stripsOf(g.PanelsInOrder(), board.OpenRows) {
		break
	}
}
