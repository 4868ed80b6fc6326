package halfboard

import (
	"slices"
	"testing"
)

// eachGrid lays out layers of random configurations, with segments of random sizes.
func eachGrid(t *testing.T, n int, check func(c config, g *layer, segments [][]panelOf)) {
	rng := newRand(t)
	for range runs(n) {
		c := randomConfig(t, rng)
		g := c.begin(t).grid.layer
		check(c, g, segmentsOf(g, 1+rng.Uint64N(50_000)))
	}
}

// TestLongSegmentsCoverAllPanels: each panel is in one segment, all of them in the order of
// captures, and no segment but the last one is smaller than asked for.
func TestLongSegmentsCoverAllPanels(t *testing.T) {
	rng := newRand(t)
	for range runs(80) {
		c := randomConfig(t, rng)
		g := c.begin(t).grid.layer
		least := 1 + rng.Uint64N(50_000)
		segments := segmentsOf(g, least)
		panels := slices.Concat(segments...)
		if !slices.Equal(panels, g.panelsInOrder()) {
			t.Fatalf("%+v: segments are not all panels in order", c)
		}
		met, want := map[panelOf]bool{}, 0
		for _, p := range panels {
			if met[p] || p.panel < 0 || p.panel >= p.matrix.panels || g.matrices[p.matrix.sum] != p.matrix {
				t.Fatalf("%+v: panel %d of %d seeds", c, p.panel, p.matrix.sum)
			}
			met[p] = true
		}
		for _, m := range g.matrices {
			want += m.panels
		}
		if len(panels) != want {
			t.Fatalf("%+v: %d panels, want %d", c, len(panels), want)
		}
		for i, segment := range segments {
			positions := uint64(0)
			for _, p := range segment {
				positions += uint64(p.matrix.rows[openRows]+p.matrix.rows[fullRows]) * side
			}
			if len(segment) == 0 || positions < least && i < len(segments)-1 {
				t.Fatalf("%+v: segment %d of %d has %d panels with %d positions, want %d", c, i, len(segments), len(segment), positions, least)
			}
		}
		if most := g.halves.Board().Size(g.n); len(segmentsOf(g, most*side*2)) != 1 {
			t.Fatalf("%+v: more than one segment of everything", c)
		}
	}
}

// TestLongStripsCoverAllRows: each row of each panel is in one strip of its class, and strips
// begin with chunks.
func TestLongStripsCoverAllRows(t *testing.T) {
	eachGrid(t, 80, func(c config, g *layer, segments [][]panelOf) {
		for _, panels := range segments {
			for class := range classes {
				next := map[panelOf]int{} // row
				at := 0
				for s := range stripsOf(panels, class) {
					p := panelOf{s.matrix, s.panel}
					for at < len(panels) && panels[at] != p {
						at++
					}
					if at == len(panels) {
						t.Fatalf("%+v: panel %d of %d seeds is out of order", c, s.panel, s.matrix.sum)
					}
					if s.class != class || s.begin != next[p] || s.begin%side != 0 || s.end <= s.begin || s.end-s.begin > stripRows {
						t.Fatalf("%+v: rows %d to %d after row %d", c, s.begin, s.end, next[p])
					}
					next[p] = s.end
				}
				for _, p := range panels {
					if next[p] != p.matrix.rows[class] {
						t.Fatalf("%+v: %d rows of %d", c, next[p], p.matrix.rows[class])
					}
				}
			}
		}
	})
}

// TestStripsEnd: who has enough need not take all.
func TestStripsEnd(t *testing.T) {
	g := config{game: mustGame(t, 6, 0), seeds: 9}.begin(t).grid.layer
	for range stripsOf(g.panelsInOrder(), openRows) {
		break
	}
}
