package halfboard

import (
	"math"
	"sync"
	"sync/atomic"
)

// A tile holds the positions whose mover's half is in one slab and whose
// opponent's half is in another. Scores are stored by row:
// scores[row*cols + col].
type tile struct {
	strip   *strip // the columns
	rowSlab int    // index of the slab of B among those of its sum
	rows    [classes]int
	cols    int
	full    []int8 // scores of the full rows; set by the last stage

	mu      sync.Mutex
	current *version // scores of the open rows

	// changed is the engine's clock when current was last replaced, computed
	// the clock before the tile was last computed. A column of which no child
	// changed since then need not be computed again.
	changed  atomic.Uint32
	computed uint32
}

// A version is one immutable state of the open rows of a tile. It is freed when
// it has been replaced and its last reader is done.
type version struct {
	scores  []int8
	readers atomic.Int32 // plus one while current

	// The clock ticks after a version is published, so its own time is not
	// known before: born is 0 until then. stamps says for each row when it last
	// changed, newborn standing for born.
	born   atomic.Uint32
	stamps []uint32
}

const newborn = math.MaxUint32

// changedSince reports whether a row changed after the clock showed then. It
// may say so too often, never too rarely: who computed from an older version
// looked at the clock before this one was born.
func (v *version) changedSince(row, then uint32) bool {
	stamp := v.stamps[row]
	if stamp == newborn {
		stamp = v.born.Load()
		return stamp == 0 || stamp > then
	}
	return stamp > then
}

// acquire returns the current version, which stays valid until release.
func (t *tile) acquire() *version {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current.readers.Add(1)
	return t.current
}

// publish makes v the current version and releases the old one to a.
func (t *tile) publish(v *version, a *arena) {
	v.readers.Store(1)
	t.mu.Lock()
	old := t.current
	t.current = v
	t.mu.Unlock()
	if old != nil {
		old.release(a)
	}
}

// release ends one use of v.
func (v *version) release(a *arena) {
	if v.readers.Add(-1) == 0 {
		a.release(v.scores)
	}
}

// grid is a layer cut into tiles.
type grid struct {
	*geometry
	strips [][]*strip // by seeds in the mover's half, then slab
	tiles  [][]*tile  // by seeds in the mover's half; then row slab by row slab
}

// newGrid lays out the layer of geo.n seeds. No scores are allocated yet.
func newGrid(geo *geometry) *grid {
	g := &grid{geometry: geo, strips: make([][]*strip, geo.n+1), tiles: make([][]*tile, geo.n+1)}
	for sum := range geo.n + 1 {
		for c := range geo.slabs[sum] {
			g.strips[sum] = append(g.strips[sum], geo.newStrip(sum, c))
		}
		for r := range geo.slabs[geo.n-sum] {
			rows := &geo.slabs[geo.n-sum][r]
			for c, strip := range g.strips[sum] {
				t := &tile{strip: strip, rowSlab: r, rows: rows.rows, cols: geo.slabs[sum][c].size}
				g.tiles[sum] = append(g.tiles[sum], t)
			}
		}
	}
	return g
}

// tile returns the tile of the given slabs, where the mover has sum seeds.
func (g *grid) tile(sum, rowSlab, colSlab int) *tile {
	return g.tiles[sum][rowSlab*len(g.slabs[sum])+colSlab]
}

// columns returns the slab of A of a strip, opponents the slab of B of a tile.
func (g *grid) columns(s *strip) *slab  { return &g.slabs[s.sum][s.index] }
func (g *grid) opponents(t *tile) *slab { return &g.slabs[g.n-t.strip.sum][t.rowSlab] }

// offersOf returns the offers of a column of a tile.
func (g *grid) offersOf(t *tile, class rowClass, col int) []int8 {
	all := len(g.rows[g.n-t.strip.sum][class])
	return t.strip.offers[class][col*all+g.opponents(t).above[class]:][:t.rows[class]]
}
