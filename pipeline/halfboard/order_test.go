package halfboard

import (
	"slices"
	"testing"
)

// TestOrderIsAPermutation finds every tile once in the order of a sweep and in
// what the workers take.
func TestOrderIsAPermutation(t *testing.T) {
	rng := newRand(t)
	for range runs(60) {
		c := randomConfig(t, rng)
		w := c.begin(t)
		seen := map[*tile]bool{}
		for _, x := range w.order {
			if seen[x] {
				t.Fatalf("%+v: a tile is listed twice", c)
			}
			seen[x] = true
		}
		for _, tiles := range w.grid.tiles {
			for _, x := range tiles {
				if !seen[x] {
					t.Fatalf("%+v: a tile with %d seeds in the mover's half is missing", c, x.strip.sum)
				}
			}
		}
		if all := slices.Concat(w.grid.tiles...); len(all) != len(w.order) {
			t.Fatalf("%+v: %d tiles in order, %d in all", c, len(w.order), len(all))
		}
		if !slices.Equal(slices.Concat(w.units...), w.order) {
			t.Fatalf("%+v: the workers do not take the tiles in order", c)
		}
	}
}

// TestTilesHoldEveryPosition adds the positions of tiles up and finds each of
// them where the grid says.
func TestTilesHoldEveryPosition(t *testing.T) {
	rng := newRand(t)
	for range runs(20) {
		c := randomConfig(t, rng)
		w := c.begin(t)
		positions, open := uint64(0), 0
		for _, x := range w.order {
			positions += uint64((x.rows[openRows] + x.rows[fullRows]) * x.cols)
			open += x.rows[openRows] * x.cols
		}
		if want := w.ranking().Size(c.seeds); positions != want {
			t.Fatalf("%+v: %d positions in tiles, want %d", c, positions, want)
		}
		found := 0
		w.eachOpen(func(p position) {
			x, row, col := w.grid.find(p)
			if w.grid.columns(x.strip).code(col) != p.mover ||
				w.grid.rowCodes(c.seeds-x.strip.sum, w.grid.opponents(x), openRows)[row] != p.opponent {
				t.Fatalf("%+v: %v is not at row %d, column %d", c, w.grid.board(p.mover, p.opponent), row, col)
			}
			found++
		})
		if found != open {
			t.Fatalf("%+v: %d positions in open rows, want %d", c, found, open)
		}
	}
}

// TestLastPitsComeFirst: seeds leave the last pit of a half only when it is
// played, so tiles with more of them are swept first.
func TestLastPitsComeFirst(t *testing.T) {
	w := config{game: mustGame(t, 8, 0), seeds: 8, options: Options{SlabSize: 10}}.begin(t)
	before := 100
	for _, x := range w.order {
		a, b := w.grid.suffix(w.grid.columns(x.strip)), w.grid.suffix(w.grid.opponents(x))
		last := int(a[3]) + int(b[3])
		if last > before {
			t.Fatalf("%d seeds in last pits after %d", last, before)
		}
		before = last
	}
}

func TestSuffixIsWhatHalvesShare(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *geometry, size int) {
		for sum := range g.n + 1 {
			for i := range g.slabs[sum] {
				s := &g.slabs[sum][i]
				got := g.suffix(s)
				pit := 0
				for pit < g.q && got[pit] == 0 {
					pit++
				}
				for col := range s.size {
					h := g.pits[s.code(col)]
					if pit < g.q && (h[pit] < got[pit] || pit+1 < g.q && h[pit+1] != got[pit+1]) {
						t.Fatalf("slab of %v: %v is not in all", h, got)
					}
				}
			}
		}
	})
}
