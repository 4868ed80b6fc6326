package halfboard

import (
	"slices"

	"grenier/kernels/compress"
)

// stripe is the number of columns computed before they are transposed.
const stripe = 64

// A source is a row slab and column slab where the quiet children of a route
// stand: an image of its pattern, and the tile that the image is in.
type source struct {
	tile    *tile
	cols    int
	mask    *compress.Mask
	version *version // while the tile is computed
	scores  []int8   // of the version
}

// bench is a worker's scratch memory.
type bench struct {
	// The sources of the tile being computed: those of route r are
	// sources[first[r]:first[r+1]].
	sources []source
	first   []int
	stripe  []int8            // columns of a tile, each with room behind
	columns []compress.Column // those of the stripe to be computed
	picks   []compress.Pick   // of these columns
	scratch []int8            // for the kernel
}

// newBench returns scratch memory for tiles of up to rows rows.
func newBench(rows int) *bench {
	return &bench{
		stripe:  make([]int8, stripe*benchStride(rows)),
		scratch: make([]int8, compress.Scratch(rows, maxHalf)),
	}
}

// benchStride leaves room behind a column and is an odd number of cache lines,
// so that the columns of a stripe do not fall into the same cache sets when they
// are transposed.
func benchStride(rows int) int { return ((rows+63)/64 | 1) * 64 }

// find lists the sources of the rows of one class of a tile.
func (b *bench) find(e *engine, t *tile, class rowClass) {
	g, sum := e.grid, e.grid.n-t.strip.sum
	b.sources, b.first = b.sources[:0], append(b.first[:0], 0)
	for i := range t.strip.routes {
		r := &t.strip.routes[i]
		if sown := sum + r.seeds; sown > 0 { // else it leaves the opponent without seeds
			for _, image := range e.patterns.get(g.geometry, sum, r.move).images[class][t.rowSlab] {
				t := g.tile(sown, r.rows, image.slab)
				b.sources = append(b.sources, source{tile: t, cols: t.cols, mask: image.mask})
			}
		}
		b.first = append(b.first, len(b.sources))
	}
}

// of returns the sources of a route.
func (b *bench) of(route uint16) []source { return b.sources[b.first[route]:b.first[route+1]] }

// hold acquires the versions of the sources; drop releases them.
func (b *bench) hold() {
	for i := range b.sources {
		s := &b.sources[i]
		s.version = s.tile.acquire()
		s.scores = s.version.scores
	}
}

func (b *bench) drop(a *arena) {
	for i := range b.sources {
		b.sources[i].version.release(a)
	}
}

// stale reports whether a source changed since the clock showed then.
func (b *bench) stale(then uint32) bool {
	for i := range b.sources {
		if b.sources[i].tile.changed.Load() > then {
			return true
		}
	}
	return false
}

// staleColumn reports whether a child of the column of edges changed since the
// clock showed then.
func (b *bench) staleColumn(edges []edge, then uint32) bool {
	for _, edge := range edges {
		for i := range b.of(edge.route) {
			if b.of(edge.route)[i].version.changedSince(edge.row, then) {
				return true
			}
		}
	}
	return false
}

// addColumn puts column c of a tile on the list of those to be computed to dst,
// negated: the least that its moves leave the opponent with.
func (b *bench) addColumn(g *grid, t *tile, class rowClass, c int, dst []int8) {
	picks := b.picks
	for _, edge := range t.strip.moves(c) {
		first := true
		for i := b.first[edge.route]; i < b.first[edge.route+1]; i++ {
			s := &b.sources[i]
			row := s.scores[int(edge.row)*s.cols:][:s.cols]
			picks = append(picks, compress.Pick{Src: row, Mask: s.mask, First: first})
			first = false
		}
	}
	b.columns = append(b.columns, compress.Column{
		Dst: dst, Offers: g.offersOf(t, class, c), Picks: len(picks) - len(b.picks),
	})
	b.picks = picks
}

// computeStripe writes a stripe of columns of a tile to dst, which holds scores
// by row. Columns are computed if a child changed since the clock showed then;
// the others are taken from old, which may be nil if then is 0.
func (e *engine) computeStripe(b *bench, t *tile, class rowClass, start int, then uint32, dst, old []int8) {
	rows, stride := t.rows[class], benchStride(t.rows[class])
	width := min(stripe, t.cols-start)
	b.columns, b.picks = b.columns[:0], b.picks[:0]
	for i := range width {
		if then == 0 || b.staleColumn(t.strip.moves(start+i), then) {
			b.addColumn(e.grid, t, class, start+i, b.stripe[i*stride:][:rows])
		}
	}
	if len(b.columns) == 0 {
		copyBlock(dst[start:], old[start:], t.cols, rows, width)
		return
	}
	if len(b.columns) < width {
		e.kernels.negateTranspose(b.stripe, stride, old[start:], t.cols, rows, width)
	}
	e.kernels.least(b.columns, b.picks, b.scratch)
	e.kernels.negateTranspose(dst[start:], t.cols, b.stripe, stride, width, rows)
}

// copyBlock copies the first width scores of rows that are stride apart.
func copyBlock(dst, src []int8, stride, rows, width int) {
	for at := 0; at < rows*stride; at += stride {
		copy(dst[at:at+width], src[at:at+width])
	}
}

// sweepTile brings the open rows of a tile up to date with its sources and
// returns the number of scores that changed. The changed positions are handed to
// note, if it is not nil, with their old scores.
func (e *engine) sweepTile(b *bench, t *tile, note func(t *tile, old, scores []int8)) (int, error) {
	if t.rows[openRows] == 0 {
		return 0, nil
	}
	b.find(e, t, openRows)
	then := t.computed
	if then > 0 && !b.stale(then) {
		return 0, nil
	}
	t.computed = e.clock.Load()
	scores, err := e.arena.alloc(t.rows[openRows] * t.cols)
	if err != nil {
		return 0, err
	}
	b.hold()
	for start := 0; start < t.cols; start += stripe {
		e.computeStripe(b, t, openRows, start, then, scores, t.current.scores)
	}
	b.drop(&e.arena)
	return e.replace(t, scores, note), nil
}

// replace publishes scores if they differ from the current version. Only the
// worker that computes a tile replaces its version.
func (e *engine) replace(t *tile, scores []int8, note func(t *tile, old, scores []int8)) int {
	next := &version{scores: scores, stamps: t.current.aged()}
	changes := 0
	for row := range next.stamps {
		at, end := row*t.cols, (row+1)*t.cols
		if n := e.kernels.countDiff(t.current.scores[at:end], scores[at:end]); n > 0 {
			next.stamps[row] = newborn
			changes += n
		}
	}
	if changes == 0 {
		e.arena.release(scores)
		return 0
	}
	if note != nil {
		note(t, t.current.scores, scores)
	}
	t.publish(next, &e.arena)
	now := e.clock.Add(1)
	next.born.Store(now)
	t.changed.Store(now)
	return changes
}

// aged returns the stamps of v for its successor.
func (v *version) aged() []uint32 {
	stamps, born := slices.Clone(v.stamps), v.born.Load()
	for i, stamp := range stamps {
		if stamp == newborn {
			stamps[i] = born
		}
	}
	return stamps
}

// fillFull computes the full rows of a tile, which no sweep reads.
func (e *engine) fillFull(b *bench, t *tile) error {
	if t.rows[fullRows] == 0 {
		return nil
	}
	var err error
	if t.full, err = e.arena.keep(t.rows[fullRows] * t.cols); err != nil {
		return err
	}
	b.find(e, t, fullRows)
	b.hold()
	for start := 0; start < t.cols; start += stripe {
		e.computeStripe(b, t, fullRows, start, 0, t.full, nil)
	}
	b.drop(&e.arena)
	return nil
}
