package halfboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"grenier/io/workfile"
	"grenier/kernels/cpu"
	"grenier/kernels/ranks"
	"grenier/kernels/rice"
)

// paging is what a layer needs that does not fit into memory.
type paging struct {
	store *store
	close func() error // ends the store and removes nothing
	parts []panelPart
	rows  map[rowName][]*tile
	bytes int64 // of the pieces of lower layers that are kept
}

// panelPart is a run of panels of a matrix with all tiles of both classes.
type panelPart struct {
	matrix *matrix
	panels run
	tiles  []*tile
}

// feeders is how many goroutines bring in what tiles need while workers compute.
const feeders = 6

// What a unit of tiles needs should be at most this share of the memory: then others
// can be fetched meanwhile.
const shareOfTiles = 4

// leastTile is the size below which tiles are not cut any smaller.
const leastTile = 128

// page prepares a layer of which limit bytes may be in memory at once.
func (e *engine) page(path string, limit int64, family cpu.Family) error {
	least := e.least()
	if pagedLimit != nil {
		limit = pagedLimit(least, int64(len(e.memory.mapping)))
	}
	for tiles := unit; tiles > 0; tiles /= 2 {
		e.cut(tiles)
		if least = e.least(); least <= limit/shareOfTiles {
			break
		}
	}
	if least > limit {
		return fmt.Errorf("%w: its tiles need %s and %s are left for them", ErrMemory, humanize.IBytes(uint64(least)), humanize.IBytes(uint64(max(limit, 0))))
	}
	file, err := workfile.Create(workfile.OS, path)
	if err != nil {
		return err
	}
	keep := min(limit/2, limit-least) // for pieces of lower layers, at first
	s := newStore(file, limit-keep, &packing{ranks: ranks.For(family), rice: rice.For(family)}, 2*len(e.grid.tiles)+len(e.grid.full))
	s.order = int64(len(e.order))
	ctx, cancel := context.WithCancel(context.Background())
	var group errgroup.Group
	group.Go(func() error { return s.run(ctx, e.workers) })
	e.stats.Bytes = uint64(limit)
	e.paging = &paging{store: s, parts: e.panelParts(), rows: e.grid.rowTiles(), bytes: keep, close: func() error {
		cancel()
		return errors.Join(group.Wait(), file.Close())
	}}
	return nil
}

// pagedLimit, if not nil, chooses the limit in tests: between the least that works and
// all there is.
var pagedLimit func(least, all int64) int64

// least returns the least limit with which all that is needed at once fits.
func (e *engine) least() (least int64) {
	sum := func(items []*item) (n int64) {
		for _, it := range items {
			n += it.bytes
		}
		return n
	}
	for _, part := range e.panelParts() {
		least = max(least, sum(offersOf(part.tiles)))
	}
	for _, tiles := range e.units {
		least = max(least, sum(needsOf(tiles)))
	}
	for _, t := range e.grid.full {
		least = max(least, sum(t.needs))
	}
	return least + least/8
}

// needsOf lists all that tiles need.
func needsOf(tiles []*tile) (items []*item) {
	met := map[*item]bool{}
	for _, t := range tiles {
		for _, it := range t.needs {
			if !met[it] {
				met[it] = true
				items = append(items, it)
			}
		}
	}
	return items
}

// makeItems makes items of the memory of all tiles.
func (e *engine) makeItems() {
	for place, t := range e.order {
		m := t.matrix
		t.scores = newItem(rankForm, t.runs(func(panel int) []int8 { return m.linesOf(panel, t.chunks) }))
		t.offers = newItem(lz4Form, t.runs(func(panel int) []int8 { return m.blocks(openRows, panel, t.chunks) }))
		t.offers.uses = []int64{int64(place)}
	}
	for place, t := range e.order {
		t.needs = []*item{t.scores, t.offers}
		e.grid.eachRead(t, func(child *tile) {
			if child != t {
				t.needs = append(t.needs, child.scores)
			}
			child.scores.uses = append(child.scores.uses, int64(place))
		})
		t.scores.uses = append(t.scores.uses, int64(place))
	}
	for _, t := range e.order {
		slices.Sort(t.scores.uses)
	}
	for _, t := range e.grid.full {
		m := t.matrix
		t.offers = newItem(lz4Form, t.runs(func(panel int) []int8 { return m.blocks(fullRows, panel, t.chunks) }))
		t.needs = []*item{t.offers}
		e.grid.eachRead(t, func(child *tile) { t.needs = append(t.needs, child.scores) })
	}
}

// runs lists the memory of a tile, panel by panel.
func (t *tile) runs(of func(panel int) []int8) (runs [][]int8) {
	for panel := t.panels.begin; panel < t.panels.end; panel++ {
		runs = append(runs, of(panel))
	}
	return runs
}

// panelParts groups tiles by panels.
func (e *engine) panelParts() (parts []panelPart) {
	type name struct{ sum, panel int }
	index := map[name]int{}
	add := func(t *tile) {
		key := name{t.matrix.sum, t.panels.begin}
		i, known := index[key]
		if !known {
			i = len(parts)
			index[key] = i
			parts = append(parts, panelPart{matrix: t.matrix, panels: t.panels})
		}
		parts[i].tiles = append(parts[i].tiles, t)
	}
	for _, t := range e.grid.tiles {
		add(t)
	}
	for _, t := range e.grid.full {
		add(t)
	}
	// What a panel captures stands in rows of lower layers that begin like the halves of
	// the panel: neighbours read the same pieces.
	slices.SortStableFunc(parts, func(x, y panelPart) int {
		for pit := e.grid.q - 1; pit >= 0; pit-- {
			if c := cmp.Compare(y.panels.suffix[pit], x.panels.suffix[pit]); c != 0 {
				return c
			}
		}
		return 0
	})
	return parts
}

// offersOf lists the offers of tiles.
func offersOf(tiles []*tile) (items []*item) {
	for _, t := range tiles {
		items = append(items, t.offers)
	}
	return items
}

// capturePaged computes all offers, panels by panels.
func (e *engine) capturePaged(ctx context.Context, lower Lower) error {
	p := e.paging
	if err := e.sample(lower); err != nil {
		return errors.Join(err, lower.Close())
	}
	all := newPieces(e.grid, lower, p.bytes)
	var done atomic.Int64
	err := forEach(ctx, e.workers, p.parts, func(_, _ int, part panelPart) error {
		lower := &rows{pieces: all}
		defer lower.close()
		items := offersOf(part.tiles)
		if err := p.store.pin(items, 0); err != nil {
			return err
		}
		if err := e.capturePart(part, lower); err != nil {
			return err
		}
		for _, it := range items {
			it.dirty = true
		}
		p.store.unpin(items)
		e.tell(CaptureStage, float64(done.Add(1))/float64(len(p.parts)))
		return nil
	})
	p.store.resize(p.bytes) // the pieces are not needed any more
	return errors.Join(err, lower.Close())
}

// sample makes the model by which scores are packed: that of the layer below, which
// is much the same.
func (e *engine) sample(lower Lower) error {
	counts, err := ranks.NewCounts(int8(-e.grid.n), int8(e.grid.n))
	if err != nil {
		return err
	}
	const parts, length = 256, 1 << 12
	size := e.grid.halves.Board().Size(e.grid.n - 1)
	scores := make([]int8, min(length, size))
	for i := range uint64(parts) {
		if err := lower.Read(e.grid.n-1, (size-uint64(len(scores)))/parts*i, scores); err != nil {
			return err
		}
		counts.Add(scores)
	}
	e.paging.store.packing.use(counts.Model())
	return nil
}

func (e *engine) capturePart(part panelPart, lower rowReader) error {
	m := part.matrix
	for panel := part.panels.begin; panel < part.panels.end; panel++ {
		for class := range classes {
			if m.rows[class] == 0 {
				continue
			}
			err := errors.Join(e.openOffers(m, class, panel), e.capturePanel(m, class, panel, lower), e.endGames(m, class, panel))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// pinned is a run of tiles that are to be computed one after the other, with all that
// this takes in memory.
type pinned struct {
	tiles []*tile
	items []*item
}

// eachPaged calls do for the tiles of units that have something to do: feeders bring
// in what the next ones need, workers compute.
func (e *engine) eachPaged(ctx context.Context, stage Stage, units [][]*tile, do func(worker int, t *tile)) error {
	group, ctx := errgroup.WithContext(ctx)
	ready := make(chan pinned, 1)
	var next, done atomic.Int64
	var reading sync.WaitGroup
	reading.Add(feeders)
	for range feeders {
		group.Go(func() error {
			defer reading.Done()
			return e.bringIn(ctx, units, &next, ready)
		})
	}
	group.Go(func() error {
		reading.Wait()
		close(ready)
		return nil
	})
	for worker := range e.workers {
		group.Go(func() error {
			for p := range ready {
				for _, t := range p.tiles {
					do(worker, t)
				}
				e.paging.store.unpin(p.items)
				e.tell(stage, float64(done.Add(int64(len(p.tiles))))/float64(len(e.order)))
			}
			return nil
		})
	}
	return group.Wait()
}

// bringIn pins the tiles that have something to do, unit by unit.
func (e *engine) bringIn(ctx context.Context, units [][]*tile, next *atomic.Int64, ready chan<- pinned) error {
	for i := next.Add(1) - 1; i < int64(len(units)); i = next.Add(1) - 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := pinned{}
		for _, t := range units[i] {
			if t.isDue() {
				p.tiles = append(p.tiles, t)
			}
		}
		if len(p.tiles) == 0 {
			continue
		}
		p.items = needsOf(p.tiles)
		if err := e.paging.store.pin(p.items, int64(e.stats.Sweeps)*e.paging.store.order+i*int64(len(units[0]))); err != nil {
			return err
		}
		select {
		case ready <- p:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// isDue reports whether anything of a tile is out of date; full rows always are.
func (t *tile) isDue() bool {
	if t.class == fullRows || t.all.Load() {
		return true
	}
	m := t.matrix
	for panel := t.panels.begin; panel < t.panels.end; panel++ {
		marks := m.marks[panel*m.chunks[openRows]:]
		for chunk := t.chunks.begin; chunk < t.chunks.end; chunk++ {
			if marks[chunk].columns.Load() != 0 {
				return true
			}
		}
	}
	return false
}

// rowName names rows that are in the same tiles.
type rowName struct {
	sum   int
	class rowClass
	chunk int
}

// rowTiles lists the tiles that rows are in.
func (g *grid) rowTiles() map[rowName][]*tile {
	tiles := map[rowName][]*tile{}
	for _, t := range slices.Concat(g.tiles, g.full) {
		for chunk := t.chunks.begin; chunk < t.chunks.end; chunk++ {
			name := rowName{t.matrix.sum, t.class, chunk}
			tiles[name] = append(tiles[name], t)
		}
	}
	return tiles
}

// holding calls do while the scores of a row are in memory.
func (p *paging) holding(m *matrix, at place, do func()) error {
	var items []*item
	for _, t := range p.rows[rowName{m.sum, at.class, int(at.row) / side}] {
		if at.class == openRows {
			items = append(items, t.scores)
		} else {
			items = append(items, t.offers)
		}
	}
	if err := p.store.pin(items, 0); err != nil {
		return err
	}
	do()
	p.store.unpin(items)
	return nil
}
