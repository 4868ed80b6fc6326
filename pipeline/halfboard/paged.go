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
	"grenier/kernels/ranks"
	"grenier/kernels/rice"
)

// paging is what a layer needs besides that does not fit into memory.
type paging struct {
	store   *store // of all scores, and of the offers of full rows
	shelf   shelf  // the offers of open rows
	parts   []panelPart
	rows    map[rowName][]*tile
	buffers sync.Pool // of *[]int8: for the offers of a tile
	pieces  int64     // bytes for pieces of lower layers
	close   func() error
}

// What a tile needs should be at most this share of the memory: many of them then fit
// together.
const shareOfTiles = 4

// leastTile is the size below which tiles are not cut any smaller.
const leastTile = 128

// feeders is how many goroutines fetch at the same time.
const feeders = 4

// page prepares a layer of which limit bytes may be in memory at once.
func (e *engine) page(o *Options, limit int64) error {
	e.cut(1)
	least := e.least()
	if o.limit != nil {
		limit = o.limit(least, int64(len(e.memory.mapping)))
	}
	if least > limit {
		return fmt.Errorf("%w: tiles need %s and %s are left for them", ErrMemory,
			humanize.IBytes(uint64(least)), humanize.IBytes(uint64(max(limit, 0))))
	}
	file, err := workfile.Create(workfile.OS, o.Work)
	if err != nil {
		return err
	}
	e.stats.Bytes = uint64(limit)
	e.paging = &paging{
		shelf: shelf{file: file}, parts: e.panelParts(), rows: e.grid.rowTiles(),
		pieces: min(limit/2, limit-least), buffers: sync.Pool{New: e.newBuffer},
	}
	packing := &packing{ranks: ranks.For(o.Family), rice: rice.For(o.Family)}
	e.paging.start(newStore(file, limit-e.paging.pieces, packing, 2*len(e.grid.tiles)+len(e.grid.full)), e.workers)
	return nil
}

// start lets a store work until paging is closed.
func (p *paging) start(s *store, workers int) {
	ctx, cancel := context.WithCancel(context.Background())
	var group errgroup.Group
	group.Go(func() error { return s.run(ctx, workers) })
	p.store = s
	p.close = func() error {
		cancel()
		return errors.Join(group.Wait(), s.file.Close())
	}
}

// newBuffer returns memory for the offers of any tile.
func (e *engine) newBuffer() any {
	largest := int64(0)
	for _, t := range e.order {
		largest = max(largest, t.offers.bytes)
	}
	buffer := make([]int8, largest)
	return &buffer
}

// least returns the least limit with which all that is needed at once fits, with some
// room to move.
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
	for _, t := range e.order {
		least = max(least, sum(t.needs)+t.offers.bytes)
	}
	for _, t := range e.grid.full {
		least = max(least, sum(t.needs))
	}
	return least + least/8
}

// needsOf lists all that tiles need, once.
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

// offersOf lists the offers of tiles.
func offersOf(tiles []*tile) (items []*item) {
	for _, t := range tiles {
		items = append(items, t.offers)
	}
	return items
}

// makeItems makes items of the memory of all tiles and notes when sweeps need them.
func (e *engine) makeItems() {
	for _, t := range slices.Concat(e.order, e.grid.full) {
		m := t.matrix
		t.offers = newItem(lz4Form, t.runs(func(panel int) []int8 { return m.blocks(t.class, panel, t.chunks) }))
		if t.class == openRows {
			t.scores = newItem(rankForm, t.runs(func(panel int) []int8 { return m.linesOf(panel, t.chunks) }))
		}
	}
	for place, t := range e.order {
		t.needs = []*item{t.scores}
		t.scores.uses = append(t.scores.uses, int64(place))
		e.grid.eachRead(t, func(child *tile) {
			if child != t {
				t.needs = append(t.needs, child.scores)
				child.scores.uses = append(child.scores.uses, int64(place))
			}
		})
	}
	for _, t := range e.order {
		slices.Sort(t.scores.uses)
	}
	for _, t := range e.grid.full {
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

// panelPart is a run of panels of a matrix with all tiles of both classes.
type panelPart struct {
	matrix *matrix
	panels run
	tiles  []*tile
}

// panelParts groups tiles by panels. What a panel captures stands in rows of lower
// layers that begin like the halves of the panel, so those that agree in their last
// pits follow each other: they read the same pieces.
func (e *engine) panelParts() (parts []panelPart) {
	type name struct{ sum, panel int }
	index := map[name]int{}
	for _, t := range slices.Concat(e.grid.tiles, e.grid.full) {
		key := name{t.matrix.sum, t.panels.begin}
		i, known := index[key]
		if !known {
			i = len(parts)
			index[key] = i
			parts = append(parts, panelPart{matrix: t.matrix, panels: t.panels})
		}
		parts[i].tiles = append(parts[i].tiles, t)
	}
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

// capturePaged computes all offers, some panels at a time.
func (e *engine) capturePaged(ctx context.Context, lower Lower) error {
	err := e.sample(lower)
	if err == nil {
		err = e.captureParts(ctx, newPieces(e.grid, lower, e.paging.pieces))
	}
	if err = errors.Join(err, lower.Close()); err != nil {
		return err
	}
	return e.putOffersAway()
}

func (e *engine) captureParts(ctx context.Context, all *pieces) error {
	p := e.paging
	var done atomic.Int64
	return forEach(ctx, e.workers, p.parts, func(_, _ int, part panelPart) error {
		err := p.store.holding(offersOf(part.tiles), 0, func() error { return e.capturePart(part, all) })
		if err != nil {
			return err
		}
		e.tell(CaptureStage, float64(done.Add(1))/float64(len(p.parts)))
		return nil
	})
}

func (e *engine) capturePart(part panelPart, all *pieces) error {
	lower := &rows{pieces: all}
	defer lower.close()
	for _, t := range part.tiles {
		t.offers.dirty = true
	}
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

// putOffersAway makes room for scores. A sweep reads the offers of a tile once, packed:
// from memory as far as there is room beside all scores, or from the shelf.
func (e *engine) putOffersAway() error {
	p, s := e.paging, e.paging.store
	if err := s.putAway(offersOf(slices.Concat(e.order, e.grid.full))); err != nil {
		return err
	}
	s.resize(p.pieces) // these are not needed any more
	all := int64(0) // scores, and buffers for offers
	for _, t := range e.order {
		all += t.scores.bytes + t.offers.bytes/8
	}
	room := s.limit - max(all, e.least())
	kept := 0
	for ; kept < len(e.order) && room >= int64(e.order[kept].offers.stored.Length); kept++ {
		packed, err := e.takeOffers(e.order[kept])
		if err != nil {
			return err
		}
		e.order[kept].packed = packed
		room -= int64(len(packed))
		s.resize(-int64(len(packed)))
	}
	rest := e.order[kept:]
	places, err := p.shelf.fill(len(rest), func(i int) ([]byte, error) { return e.takeOffers(rest[i]) })
	if err != nil {
		return err
	}
	for i, t := range rest {
		t.place = places[i]
	}
	s.order = int64(len(e.order))
	return nil
}

// takeOffers takes the packed offers of a tile out of the store.
func (e *engine) takeOffers(t *tile) ([]byte, error) {
	file := e.paging.store.file
	packed, err := file.Get(t.offers.stored, nil)
	file.Drop(t.offers.stored)
	t.offers.stored = workfile.Extent{}
	return packed, err
}

// open unpacks the offers of a tile.
func (e *engine) open(t *tile) error {
	if t.class == fullRows {
		return nil // they are among what it needs
	}
	packed := t.packed
	if packed == nil {
		var err error
		if packed, err = e.paging.shelf.get(t.place); err != nil {
			return err
		}
	}
	t.buffer = (*e.paging.buffers.Get().(*[]int8))[:t.offers.bytes]
	run := (t.chunks.end - t.chunks.begin) * side * side
	return e.paging.store.unpack(packed, slices.Collect(slices.Chunk(t.buffer, run)))
}

// shut ends the use of the offers of a tile.
func (e *engine) shut(t *tile) {
	if t.buffer != nil {
		buffer := t.buffer[:cap(t.buffer)]
		e.paging.buffers.Put(&buffer)
		t.buffer = nil
	}
}

// eachPaged calls do for the tiles of units that have something to do, some units at a
// time: what these need is fetched, and they are gone through again as long as that
// changes much, which costs little compared with fetching.
func (e *engine) eachPaged(ctx context.Context, stage Stage, units [][]*tile, do func(worker int, t *tile)) error {
	for at := 0; at < len(units); {
		group, next := e.group(units, at)
		if len(group) == 0 {
			break // nothing to do in the rest
		}
		if err := e.eachPinned(ctx, group, e.placeOf(at, units), do); err != nil {
			return err
		}
		at = next
		if at < len(units) {
			e.tell(stage, float64(at)/float64(len(units)))
		}
	}
	e.tell(stage, 1)
	return nil
}

// group returns tiles that have something to do, those of units from a place on as far
// as all that they need fits in memory, and where the next group begins.
func (e *engine) group(units [][]*tile, at int) (tiles []*tile, next int) {
	met := map[*item]bool{}
	room := e.paging.store.limit * 7 / 8
	for next = at; next < len(units); next++ {
		due := slices.DeleteFunc(slices.Clone(units[next]), func(t *tile) bool { return !t.isDue() })
		for _, it := range needsOf(due) {
			if !met[it] {
				room -= it.bytes
			}
		}
		for _, t := range due {
			if t.class == openRows {
				room -= t.offers.bytes
			}
		}
		if room < 0 && len(tiles) > 0 {
			break
		}
		for _, it := range needsOf(due) {
			met[it] = true
		}
		tiles = append(tiles, due...)
	}
	return tiles, next
}

// placeOf returns the place of a unit in the order of all sweeps so far.
func (e *engine) placeOf(i int, units [][]*tile) int64 {
	return int64(e.stats.Sweeps)*int64(len(e.order)) + int64(i*len(units[0]))
}

// enough is the share of its scores that going through a group must change to be worth
// another time.
const enough = 0.001

// eachPinned calls do for tiles while all that they need is in memory, and again for
// those that have something to do then.
func (e *engine) eachPinned(ctx context.Context, tiles []*tile, place int64, do func(worker int, t *tile)) error {
	buffers := int64(0)
	for _, t := range tiles {
		if t.class == openRows {
			buffers += t.offers.bytes
		}
	}
	s := e.paging.store
	s.resize(-buffers)
	defer s.resize(buffers)
	return s.holding(needsOf(tiles), place, func() error { return e.goThrough(ctx, tiles, do) })
}

// goThrough calls do for tiles as long as that changes much.
func (e *engine) goThrough(ctx context.Context, tiles []*tile, do func(worker int, t *tile)) error {
	if err := forEach(ctx, feeders, tiles, func(_, _ int, t *tile) error { return e.open(t) }); err != nil {
		return err
	}
	scores := int64(0)
	for _, t := range tiles {
		defer e.shut(t)
		scores += t.offers.bytes
	}
	for {
		before := e.changed.Load()
		units := slices.Collect(slices.Chunk(tiles, max(1, min(unit, len(tiles)/(4*e.workers)))))
		err := forEach(ctx, e.workers, units, func(worker, _ int, tiles []*tile) error {
			for _, t := range tiles {
				do(worker, t)
			}
			return nil
		})
		if err != nil || float64(e.changed.Load()-before) <= enough*float64(scores) {
			return err
		}
	}
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
	return p.store.holding(items, 0, func() error {
		do()
		return nil
	})
}
