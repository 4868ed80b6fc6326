package halfboard

import (
	"slices"
	"testing"
)

// eachGrid lays out layers of random configurations, with segments of random sizes.
func eachGrid(t *testing.T, n int, check func(c config, g *grid, segments [][]panelOf)) {
	rng := newRand(t)
	for range runs(n) {
		c := randomConfig(t, rng)
		g := c.begin(t).grid
		check(c, g, g.segments(1+rng.Uint64N(50_000)))
	}
}

// TestSegmentsCoverAllPanels: each panel is in one segment, all of them in the order of
// captures, and no segment but the last one is smaller than asked for.
func TestSegmentsCoverAllPanels(t *testing.T) {
	rng := newRand(t)
	for range runs(80) {
		c := randomConfig(t, rng)
		g := c.begin(t).grid
		least := 1 + rng.Uint64N(50_000)
		segments := g.segments(least)
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
		if most := g.halves.Board().Size(g.n); len(g.segments(most*side*2)) != 1 {
			t.Fatalf("%+v: more than one segment of everything", c)
		}
	}
}

// TestStripsCoverAllRows: each row of each panel is in one strip of its class, and strips
// begin with chunks.
func TestStripsCoverAllRows(t *testing.T) {
	eachGrid(t, 80, func(c config, g *grid, segments [][]panelOf) {
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
	g := config{game: mustGame(t, 6, 0), seeds: 9}.begin(t).grid
	for range stripsOf(g.panelsInOrder(), openRows) {
		break
	}
}

// rank returns the rank of the first position of a row.
func (g *grid) rankOf(m *matrix, class rowClass, row int) uint64 {
	return g.rowStart(g.n, g.rows[g.n-m.sum][class][row])
}

// TestSlabsCoverAllRanks: a row is in the slabs that its ranks are in, and in no others.
func TestSlabsCoverAllRanks(t *testing.T) {
	eachGrid(t, 60, func(c config, g *grid, _ [][]panelOf) {
		positions, size := g.halves.Board().Size(g.n), g.slabSize()
		if size*slabs < positions || size%pieceLength != 0 {
			t.Fatalf("%+v: slabs of %d of %d positions", c, size, positions)
		}
		for slab := range slabs {
			g.checkRows(t, c, g.rowsOfSlab(slab), uint64(slab)*size, uint64(slab+1)*size)
		}
	})
}

// TestRowsOfRanks: the rows of any ranks.
func TestRowsOfRanks(t *testing.T) {
	rng := newRand(t)
	eachGrid(t, 60, func(c config, g *grid, _ [][]panelOf) {
		positions := g.halves.Board().Size(g.n)
		begin := rng.Uint64N(positions)
		end := begin + 1 + rng.Uint64N(positions-begin)
		g.checkRows(t, c, g.rowsOfRanks(begin, end), begin, end)
	})
}

func (g *grid) checkRows(t *testing.T, c config, rows slabRows, begin, end uint64) {
	t.Helper()
	bytes := 0
	for sum, m := range g.matrices {
		for class := range classes {
			in := rows[sum][class]
			for row := range m.rows[class] {
				first := g.rankOf(m, class, row)
				want := first < end && first+uint64(m.columns) > begin
				if got := in.begin <= row && row < in.end; got != want {
					t.Fatalf("%+v: row from %d on with %d ranks is in %d to %d: %t", c, first, m.columns, begin, end, got)
				}
			}
			if in.begin > in.end || in.end > m.rows[class] {
				t.Fatalf("%+v: rows %d to %d of %d", c, in.begin, in.end, m.rows[class])
			}
			bytes += (in.end - in.begin) * m.panels
		}
	}
	for _, codes := range widths {
		if got := rows.bytes(g, codes); got != bytes*codes.Line() {
			t.Fatalf("%+v: %d bytes for %d lines of %d bits", c, got, bytes, codes.Bits)
		}
	}
}

// TestPartsOfStrips: the rows of a slab, strip by strip, are those of the slab.
func TestPartsOfStrips(t *testing.T) {
	eachGrid(t, 40, func(c config, g *grid, segments [][]panelOf) {
		for slab := range slabs {
			rows, lines := g.rowsOfSlab(slab), 0
			for _, panels := range segments {
				for class := range classes {
					for s := range stripsOf(panels, class) {
						if in := rows.of(s); in.begin < in.end {
							lines += in.end - in.begin
						}
					}
				}
			}
			if got := rows.bytes(g, widths[0]); got != lines*widths[0].Line() {
				t.Fatalf("%+v, slab %d: %d lines in strips, %d bytes in all", c, slab, lines, got)
			}
		}
	})
}

// TestLoadedRowsAreFound: a row is in the part that has it.
func TestLoadedRowsAreFound(t *testing.T) {
	rng := newRand(t)
	for range runs(200) {
		l := loaded{parts: make([][classes][]loadedRows, 2)}
		var want [200]int // the part of each row, counted from 1
		own := &l.parts[1][fullRows]
		for row := rng.IntN(20); row < len(want); row += rng.IntN(3) * rng.IntN(20) {
			part := loadedRows{rowRange: rowRange{row, min(row+1+rng.IntN(10), len(want))}}
			*own = append(*own, part)
			for ; row < part.end; row++ {
				want[row] = len(*own)
			}
		}
		for row, part := range want {
			got := l.find(1, fullRows, row)
			if part == 0 && got != nil || part > 0 && got != &(*own)[part-1] {
				t.Fatalf("row %d of %+v: %+v, want part %d", row, *own, got, part)
			}
			if l.find(1, openRows, row) != nil || l.find(0, fullRows, row) != nil {
				t.Fatalf("row %d is in another matrix", row)
			}
		}
	}
	if (&loaded{}).find(0, openRows, 0) != nil {
		t.Error("a row of nothing")
	}
}
