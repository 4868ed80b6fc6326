package halfboard

import "grenier/layers/awari/halves"

// stripe is the number of columns computed before they are transposed.
const stripe = 64

// A source is where the quiet children of one route of a tile stand: the rows
// of another tile. mask is nil when the route has no quiet move.
type source struct {
	tile *tile
	mask *mask
	// While the tile is computed:
	version *version
	cols    int
}

// sources resolves the routes of a tile's columns for the rows of class.
func (e *engine) sources(t *tile, class rowClass) ([]source, error) {
	moves := &e.grid.moves[t.sum][t.colSlab]
	sources := make([]source, len(moves.routes))
	for i := range moves.routes {
		var err error
		if sources[i], err = e.source(t, &moves.routes[i], class); err != nil {
			return nil, err
		}
	}
	return sources, nil
}

func (e *engine) source(t *tile, r *route, class rowClass) (source, error) {
	g := e.grid
	sown := g.n - t.sum + r.seeds
	if sown == 0 {
		return source{}, nil // it leaves the opponent without seeds
	}
	suffix, low := g.sow(g.opponents(t), r, g.rowsOf(t, class))
	if last := int(r.move.Last); last >= g.lowPits() {
		if halves.Capturable(suffix[last]) {
			return source{}, nil
		}
	} else {
		low.last = r.move.Last
	}
	m, err := e.patterns.mask(low)
	if err != nil {
		return source{}, err
	}
	child := g.tile(sown, r.rows, g.slabOf(sown, suffix))
	return source{tile: child, mask: m, cols: child.cols}, nil
}

// bench is a worker's scratch memory.
type bench struct {
	stripe []int8 // stripe columns of a tile, each with room behind
	picked []int8 // one compressed row
}

// newBench returns scratch memory for tiles of up to rows rows.
func newBench(rows int) *bench {
	return &bench{stripe: make([]int8, stripe*benchStride(rows)), picked: make([]int8, benchStride(rows))}
}

// benchStride leaves at least 64 scores behind a column, so that kernels may
// store whole vectors, and is an odd number of cache lines, so that the columns
// of a stripe do not fall into the same cache sets when they are transposed.
func benchStride(rows int) int { return ((rows+127)/64 | 1) * 64 }

// computeTile writes the scores of the rows of class to dst, by row.
func (e *engine) computeTile(b *bench, t *tile, class rowClass, sources []source, dst []int8) {
	rows, stride := t.rows[class], benchStride(t.rows[class])
	for c := 0; c < t.cols; c += stripe {
		width := min(stripe, t.cols-c)
		for i := range width {
			e.computeColumn(b, t, class, sources, c+i, b.stripe[i*stride:][:stride])
		}
		e.kernels.negateTranspose(dst[c:], t.cols, b.stripe, stride, width, rows)
	}
}

// computeColumn writes to dst the negated scores of one column: the least that
// the opponent can be left with.
func (e *engine) computeColumn(b *bench, t *tile, class rowClass, sources []source, c int, dst []int8) {
	rows := t.rows[class]
	copy(dst, t.offers[class][c*rows:(c+1)*rows])
	for _, edge := range e.grid.moves[t.sum][t.colSlab].of(c) {
		s := &sources[edge.route]
		if s.mask == nil {
			continue
		}
		src := s.version.scores[int(edge.row)*s.cols:][:s.cols]
		e.kernels.compress(b.picked, src, s.mask.reach, s.mask.quiet)
		e.kernels.min(dst[:rows], b.picked)
	}
}

// hold acquires the versions of the sources; drop releases them.
func hold(sources []source) {
	for i := range sources {
		if sources[i].mask != nil {
			sources[i].version = sources[i].tile.acquire()
		}
	}
}

func (e *engine) drop(sources []source) {
	for i := range sources {
		if sources[i].mask != nil {
			sources[i].version.release(&e.arena)
		}
	}
}

// stale reports whether a source changed since t was computed.
func (t *tile) stale(sources []source) bool {
	for i := range sources {
		if sources[i].mask != nil && sources[i].tile.changed.Load() > t.computed {
			return true
		}
	}
	return false
}

// sweepTile brings the open rows of a tile up to date with its sources and
// returns the number of scores that changed. Changed positions are handed to
// note, if it is not nil, with their old scores.
func (e *engine) sweepTile(b *bench, t *tile, note func(t *tile, old, scores []int8)) (int, error) {
	sources, err := e.sources(t, openRows)
	if err != nil || t.rows[openRows] == 0 {
		return 0, err
	}
	if t.computed > 0 && !t.stale(sources) {
		return 0, nil
	}
	t.computed = e.clock.Load()
	scores, err := e.arena.alloc(t.rows[openRows] * t.cols)
	if err != nil {
		return 0, err
	}
	hold(sources)
	e.computeTile(b, t, openRows, sources, scores)
	e.drop(sources)
	return e.replace(t, scores, note), nil
}

// replace publishes scores if they differ from the current version. Only the
// worker that computes a tile replaces its version.
func (e *engine) replace(t *tile, scores []int8, note func(t *tile, old, scores []int8)) int {
	old := t.current.scores
	changes := e.kernels.countDiff(old, scores)
	if changes == 0 {
		e.arena.release(scores)
		return 0
	}
	if note != nil {
		note(t, old, scores)
	}
	t.publish(scores, &e.arena)
	t.changed.Store(e.clock.Add(1))
	return changes
}

// fillFull computes the full rows of a tile, which no sweep reads.
func (e *engine) fillFull(b *bench, t *tile) error {
	if t.rows[fullRows] == 0 {
		return nil
	}
	sources, err := e.sources(t, fullRows)
	if err != nil {
		return err
	}
	if t.full, err = e.arena.keep(t.rows[fullRows] * t.cols); err != nil {
		return err
	}
	hold(sources)
	e.computeTile(b, t, fullRows, sources, t.full)
	e.drop(sources)
	return nil
}
