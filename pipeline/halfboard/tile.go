package halfboard

import (
	"sync"
	"sync/atomic"
)

// A tile holds the positions whose mover's half is in one slab and whose
// opponent's half is in another.
//
// Scores are stored by row: scores[row*cols + col] for the open rows. Offers,
// what captures and the end of the game are worth, are stored by column, as they
// are computed: offers[class][col*rows + row], negated, and blocked when there
// is no such move.
type tile struct {
	sum     int // seeds in the mover's half
	rowSlab int // index of the slab of B among those of its sum
	colSlab int // index of the slab of A among those of its sum
	rows    [classes]int
	cols    int
	offers  [classes][]int8
	full    []int8 // scores of the full rows, by row; set by the last stage

	mu      sync.Mutex
	current *version // scores of the open rows

	// changed is the engine's clock when current was last replaced, computed
	// the clock before it was last computed: a tile none of whose sources
	// changed since it was computed need not be computed again.
	changed  atomic.Uint64
	computed uint64
}

// A version is one immutable state of a tile's scores. It is freed when it has
// been replaced and its last reader is done.
type version struct {
	scores  []int8
	readers atomic.Int32 // plus one while current
}

// acquire returns the current version, which stays valid until release.
func (t *tile) acquire() *version {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current.readers.Add(1)
	return t.current
}

// publish makes scores the current version and releases the old one to a.
func (t *tile) publish(scores []int8, a *arena) {
	v := &version{scores: scores}
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
	tiles [][]*tile // by seeds in the mover's half; then row slab by row slab
	moves [][]slabMoves
}

// newGrid lays out the layer of geo.n seeds. No scores are allocated yet.
func newGrid(geo *geometry) *grid {
	g := &grid{geometry: geo, tiles: make([][]*tile, geo.n+1), moves: make([][]slabMoves, geo.n+1)}
	for sum := range geo.n + 1 {
		cols, rows := geo.slabs[sum], geo.slabs[geo.n-sum]
		for r := range rows {
			for c := range cols {
				t := &tile{sum: sum, rowSlab: r, colSlab: c, cols: cols[c].size}
				for class := range classes {
					t.rows[class] = len(rows[r].rowCodes(class))
				}
				g.tiles[sum] = append(g.tiles[sum], t)
			}
		}
		for c := range cols {
			g.moves[sum] = append(g.moves[sum], geo.movesOf(sum, &cols[c]))
		}
	}
	return g
}

// tile returns the tile of the given slabs, where the mover has sum seeds.
func (g *grid) tile(sum, rowSlab, colSlab int) *tile {
	return g.tiles[sum][rowSlab*len(g.slabs[sum])+colSlab]
}

// columns and opponents return the slabs of A and of B of a tile.
func (g *grid) columns(t *tile) *slab   { return &g.slabs[t.sum][t.colSlab] }
func (g *grid) opponents(t *tile) *slab { return &g.slabs[g.n-t.sum][t.rowSlab] }

// rowsOf returns which low pits the rows of one class of a tile have; a class
// may be empty.
func (g *grid) rowsOf(t *tile, class rowClass) lowRows {
	suffix := g.opponents(t).suffix
	for _, seeds := range suffix[g.lowPits():g.q] {
		if seeds == 0 {
			return lowAny // every row of the slab is open
		}
	}
	if class == openRows {
		return lowOpen
	}
	return lowFull
}

// sow returns the suffix of B', and B's low pits, after the route's move.
func (g *grid) sow(b *slab, r *route, rows lowRows) (suffix half, low lowMove) {
	suffix = b.suffix
	for pit := g.lowPits(); pit < g.q; pit++ {
		suffix[pit] += r.move.Gain(pit)
	}
	low = lowMove{laps: r.move.Laps, ones: min(r.move.Ones, int8(g.lowPits())), last: -1, rows: rows}
	low.seeds = b.low + int(low.laps)*g.lowPits() + int(low.ones)
	return suffix, low
}
