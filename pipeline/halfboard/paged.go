package halfboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"grenier/io/crew"
	"grenier/io/vfs"
	"grenier/io/workfile"
	"grenier/kernels/planes"
)

// paging is what a layer needs besides that does not fit into memory.
type paging struct {
	store   *store
	limit   int64   // bytes for all that follows
	pieces  int64   // for pieces of lower layers
	arena   *region // for packed offers: all, or those of a group
	reading sync.Mutex
	parts   []panelPart
	shelves shelves

	tileSize   int
	phase      phase
	marks      []workfile.Extent // of the last checkpoint
	checkpoint string            // path
	interval   time.Duration     // between checkpoints
	committed  time.Time         // the last one

	// Of the sweep: what going through groups for the first time did, and the columns
	// of their blocks.
	first   work
	columns int
}

// shareOfOffers is the part of memory that holds the offers of a group, if not all of
// them fit beside all scores: packed, they take about a fifth of what the group reads.
const shareOfOffers = 6

// shareAhead is the part of memory for what is read ahead: the page cache counts too.
const shareAhead = 8

// tileBytes is about what the description of a tile takes.
const tileBytes = 500

// mostTiles returns the most tiles for which there should be descriptions in room bytes.
// With small tiles less is fetched that is not needed, but each costs time in every sweep.
func mostTiles(room int64) int64 {
	const (
		enough   = 60000
		share    = 4  // of the room, at most
		moreThan = 64 // of the room, at least
	)
	return min(max(enough, room/moreThan/tileBytes), room/share/tileBytes)
}

// roomIn returns the bytes that memory leaves for tiles and their descriptions: all that
// a layer takes if memory is 0.
func roomIn(memory uint64, q, n int) int64 {
	if memory == 0 {
		return int64(layoutOf(q, n, true).total())
	}
	return int64(memory) - int64(tablesBytes(q, n)) - fixed
}

// leastTile is the least size of tiles.
const leastTile = side

// beginPaged lays out a layer that does not fit, with tiles of the given size; 0 chooses.
func (e *Engine) beginPaged(ctx context.Context, geo *geometry, tileSize int) (*engine, error) {
	if err := e.spare.close(); err != nil {
		return nil, err
	}
	w, err := e.layOut(ctx, geo, true)
	if err != nil {
		return nil, err
	}
	room := roomIn(e.options.Memory, geo.q, geo.n)
	size := leastTile
	for tileSize == 0 && size < geo.columns(geo.n) && int64(w.grid.tilesOf(size)) > mostTiles(room) {
		size *= 2
	}
	size = max(size, tileSize)
	w.cut(size)
	if w.memory, err = newPagedRegion(layoutOf(geo.q, geo.n, true).total()); err != nil {
		return nil, err
	}
	w.allocate(layoutOf(geo.q, geo.n, true))
	w.prepareTiles()
	limit := room - int64(len(w.order)+len(w.full))*tileBytes
	if err := w.page(ctx, &e.options, size, limit); err != nil {
		return nil, errors.Join(err, w.memory.close())
	}
	return w, nil
}

// page prepares a layer of which limit bytes may be in memory at once.
func (e *engine) page(ctx context.Context, o *Options, tileSize int, limit int64) error {
	parts := e.panelParts()
	least := e.least(parts)
	if o.limit != nil {
		limit = o.limit(least, int64(len(e.memory.mapping)))
	}
	if least > limit {
		return fmt.Errorf("%w: tiles need %s bytes and %s are left for them", ErrMemory,
			humanize.Comma(least), humanize.Comma(max(limit, 0)))
	}
	debug.FreeOSMemory() // what making the tables has left
	e.stats.Bytes = uint64(limit)
	e.paging = &paging{
		limit: limit, parts: parts, tileSize: tileSize, pieces: limit / 2,
		shelves: shelves{open: map[shelf]*parcel{}}, checkpoint: o.Work.Path(checkpointName),
		interval: o.Interval, committed: time.Now(),
		store: newStore(limit, e.workers, planes.For(o.Family)),
	}
	for _, t := range e.grid.tiles {
		t.all.Store(true)
	}
	resumed, err := e.resume(o)
	if err != nil {
		return err
	}
	if resumed {
		if err := e.check(ctx, o); err != nil {
			return errors.Join(err, e.paging.close())
		}
	} else if e.paging.store.file, err = createWork(o.Work); err != nil {
		return err
	}
	for _, t := range slices.Concat(e.grid.tiles, e.grid.full) {
		e.paging.store.live += int64(t.offers.Length) + int64(t.scores.Length)
	}
	return nil
}

// createWork makes an empty work file, to which no checkpoint refers.
func createWork(d vfs.Dir) (*workfile.File, error) {
	if err := vfs.RemoveIfThere(d, checkpointName); err != nil {
		return nil, err
	}
	if err := d.Sync(); err != nil {
		return nil, err
	}
	return workfile.Create(d, workName)
}

func (p *paging) close() error {
	err := p.store.file.Close()
	if p.arena != nil {
		err = errors.Join(err, p.arena.close())
	}
	return err
}

// least returns the least limit with which all that is needed at once fits.
func (e *engine) least(parts []panelPart) (least int64) {
	for _, part := range parts {
		least = max(least, 2*bytesOf(part.tiles)) // beside as much of lower layers
	}
	for _, t := range slices.Concat(e.order, e.full) {
		needs := bytesOf(e.needs([]*tile{t}))
		least = max(least, needs*shareOfOffers*shareAhead/(shareOfOffers*shareAhead-shareOfOffers-shareAhead)+1, shareOfOffers*packedMost(t))
	}
	return least
}

// packedMost is the most that the offers of a tile take when they are packed.
func packedMost(t *tile) int64 { return t.bytes + int64(lengthSize*len(t.runs)) }

func bytesOf(tiles []*tile) (bytes int64) {
	for _, t := range tiles {
		bytes += t.bytes
	}
	return bytes
}

// prepareTiles finds the memory of all tiles and what they read.
func (e *engine) prepareTiles() {
	e.grid.findReads()
	for _, t := range slices.Concat(e.order, e.full) {
		t.runs = make([][]int8, 0, t.panels.end-t.panels.begin)
		for panel := t.panels.begin; panel < t.panels.end; panel++ {
			run := t.matrix.pagesOf(t.class, panel, t.chunks)
			t.runs = append(t.runs, run)
			t.bytes += int64(len(run))
		}
	}
	shelved := slices.Concat(e.grid.tiles, e.grid.full)
	last := e.grid.q - 1
	slices.SortStableFunc(shelved, func(a, b *tile) int {
		return cmp.Or(cmp.Compare(a.chunks.suffix[last], b.chunks.suffix[last]), cmp.Compare(a.panels.suffix[last], b.panels.suffix[last]))
	})
	for i, t := range shelved {
		t.place = i
	}
}

// needs lists tiles and all that they read, once.
func (e *engine) needs(tiles []*tile) (needs []*tile) {
	e.groups++
	for _, t := range tiles {
		needs, _ = e.addNeeds(needs, t)
	}
	return needs
}

// addNeeds appends what t needs and is not yet met in this group, and returns its bytes.
func (e *engine) addNeeds(needs []*tile, t *tile) (_ []*tile, bytes int64) {
	add := func(t *tile) {
		if t.met != e.groups {
			t.met = e.groups
			needs = append(needs, t)
			bytes += t.bytes
		}
	}
	add(t)
	for _, i := range t.reads {
		add(e.grid.tiles[i])
	}
	return needs, bytes
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

// capturePaged computes all offers, some panels at a time, and stores them.
func (e *engine) capturePaged(ctx context.Context, lower Lower) error {
	p := e.paging
	var err error
	if p.phase == capturing {
		err = e.captureWith(ctx, lower)
	}
	if err = errors.Join(err, lower.Close()); err != nil {
		return err
	}
	if p.phase == capturing {
		p.phase = sweeping
	}
	return e.openArena(ctx)
}

func (e *engine) captureWith(ctx context.Context, lower Lower) error {
	memory, err := newRegion(int(e.paging.pieces))
	if err != nil {
		return err
	}
	return errors.Join(e.captureParts(ctx, newPieces(e.grid, lower, memory)), memory.close())
}

func (e *engine) captureParts(ctx context.Context, all *pieces) error {
	p := e.paging
	room, largest := p.limit-p.pieces, int64(1)
	for _, part := range p.parts {
		largest = max(largest, bytesOf(part.tiles))
	}
	workers := int(max(1, min(int64(e.workers), room/largest)))
	due := slices.DeleteFunc(slices.Clone(p.parts), panelPart.isStored)
	var done atomic.Int64
	done.Store(int64(len(p.parts) - len(due)))
	for batch := range slices.Chunk(due, partsOfBatch*workers) {
		err := forEach(ctx, workers, batch, func(_, _ int, part panelPart) error {
			if err := e.capturePart(part, all); err != nil {
				return err
			}
			e.tell(CaptureStage, float64(done.Add(1))/float64(len(p.parts)))
			return nil
		})
		if err != nil {
			return err
		}
		if err := e.keep(); err != nil {
			return err
		}
	}
	return p.shelves.flush(p.store)
}

// partsOfBatch is the number of parts that a worker captures between checkpoints.
const partsOfBatch = 64

// isStored reports whether all offers of a part are stored.
func (p panelPart) isStored() bool {
	return !slices.ContainsFunc(p.tiles, func(t *tile) bool { return t.offers.IsZero() })
}

// capturePart computes the offers of some panels and stores them.
func (e *engine) capturePart(part panelPart, all *pieces) error {
	lower := &rows{pieces: all}
	defer lower.close()
	m, start := part.matrix, time.Now()
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
	lap(&e.paging.store.traffic.computing, start)
	return e.putOffers(part.tiles)
}

// putOffers stores the offers of tiles and gives their memory back.
func (e *engine) putOffers(tiles []*tile) error {
	var runs [][]int8
	for _, t := range tiles {
		offers := t.offerRuns()
		runs = append(runs, offers...)
		if err := e.paging.shelves.add(e.paging.store, t, e.grid.q, offers); err != nil {
			return err
		}
	}
	release(joined(runs))
	return nil
}

// offerRuns returns the memory in which the offers of a tile are computed.
func (t *tile) offerRuns() (runs [][]int8) {
	for panel := t.panels.begin; panel < t.panels.end; panel++ {
		runs = append(runs, t.matrix.blocks(t.class, panel, t.chunks))
	}
	return runs
}

// openArena takes memory for packed offers: for all of them if they fit beside all
// scores, and else for those of a group.
func (e *engine) openArena(ctx context.Context) error {
	p := e.paging
	offers := int64(0)
	for _, t := range e.order {
		offers += int64(t.offers.Length)
	}
	all := offers+bytesOf(e.order) <= p.limit
	size := offers
	if !all {
		size = p.limit / shareOfOffers
	}
	var err error
	if p.arena, err = newRegion(int(size)); err != nil {
		return err
	}
	p.store.limit = p.limit - size
	if !all {
		p.store.limit -= p.limit / shareAhead
	}
	p.store.free = p.store.limit
	if all {
		return e.loadOffers(ctx, e.order)
	}
	return nil
}

// loadOffers reads the offers of tiles, for which there is room in the arena.
func (e *engine) loadOffers(ctx context.Context, tiles []*tile) error {
	p := e.paging
	for _, t := range tiles {
		t.packed = asBytes(p.arena.take(int(t.offers.Length)))
	}
	return p.store.get(ctx, tiles, func(t *tile) workfile.Extent { return t.offers }, func(_ *packer, t *tile, packed []byte) error {
		copy(t.packed, packed)
		return nil
	})
}

// eachPaged calls do for those of tiles that have something to do, some at a time: what
// these need is fetched, and they are gone through again as long as that changes much,
// which costs little compared with fetching.
func (e *engine) eachPaged(ctx context.Context, stage Stage, tiles []*tile, do func(worker int, t *tile)) error {
	for at := 0; at < len(tiles); {
		group, needs, next := e.group(tiles, at)
		if len(group) == 0 {
			break // nothing to do in the rest
		}
		if err := e.withGroup(ctx, group, needs, tiles[next:], do); err != nil {
			return err
		}
		at = next
		e.tell(stage, float64(at)/float64(len(tiles)))
		if err := e.keep(); err != nil {
			return err
		}
	}
	e.tell(stage, 1)
	return nil
}

// group returns tiles that have something to do, from a place on as many as all that
// they need fits in memory, what they need, and where the next group begins.
func (e *engine) group(tiles []*tile, at int) (group, needs []*tile, next int) {
	p := e.paging
	e.groups++
	room, arena := p.store.limit, int64(len(p.arena.mapping))
	for next = at; next < len(tiles); next++ {
		t := tiles[next]
		if !t.isDue() {
			continue
		}
		before := len(needs)
		var bytes int64
		needs, bytes = e.addNeeds(needs, t)
		if t.class == openRows && t.packed == nil {
			arena -= int64(t.offers.Length)
		}
		if room -= bytes; len(group) > 0 && (room < 0 || arena < 0) {
			needs = needs[:before]
			break
		}
		group = append(group, t)
	}
	return group, needs, next
}

// withGroup brings what a group needs into memory and goes through it, while what the
// next group needs, of the tiles in rest, is read ahead.
func (e *engine) withGroup(ctx context.Context, group, needs, rest []*tile, do func(worker int, t *tile)) (err error) {
	p := e.paging
	if err := p.store.hold(ctx, needs); err != nil {
		return err
	}
	if t := group[0]; t.class == openRows && t.packed == nil {
		p.arena.reset()
		if err := e.loadOffers(ctx, group); err != nil {
			return err
		}
		defer func() {
			for _, t := range group {
				t.packed = nil
			}
		}()
	}
	reading, _ := crew.WithContext(ctx)
	if next, needs, _ := e.group(rest, 0); len(next) > 0 {
		reading.Go(func() error {
			p.store.ahead(needs, next, p.limit/shareAhead)
			return nil
		})
	}
	defer func() { err = errors.Join(err, reading.Wait()) }()
	return e.goThrough(ctx, group, do)
}

// enough is the share of its scores that going through a group must change to be worth
// another time.
const enough = 0.0005

// pagedUnit is the most tiles of a group that a worker takes at a time.
const pagedUnit = 64

// goThrough calls do for tiles as long as that changes much.
func (e *engine) goThrough(ctx context.Context, tiles []*tile, do func(worker int, t *tile)) error {
	marking := e.marking
	defer func() { e.marking = marking }()
	scores := int(bytesOf(tiles))
	units := slices.Collect(slices.Chunk(tiles, max(1, min(pagedUnit, len(tiles)/(4*e.workers)))))
	for first := true; ; first = false {
		before := e.done()
		err := forEach(ctx, e.workers, units, func(worker, _ int, tiles []*tile) error {
			start := time.Now()
			for _, t := range tiles {
				do(worker, t)
			}
			lap(&e.paging.store.traffic.computing, start)
			return nil
		})
		done := e.done().less(before)
		if first {
			e.paging.first = e.paging.first.plus(done)
			e.paging.columns += scores / side
		}
		if err != nil || float64(done.scores) <= enough*float64(scores) {
			return err
		}
		e.marking = e.ledger.with(e.costs()).worthMarking(done, scores/side)
	}
}

// isDue reports whether anything of a tile is out of date; full rows are until they are
// computed.
func (t *tile) isDue() bool {
	if t.class == fullRows {
		return t.scores.IsZero() && !t.dirty
	}
	if t.all.Load() {
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

// offersOf returns the offers of a block of t, unpacked if need be. They stay until the
// offers of the panel after the next one are asked for.
func (b *bench) offersOf(t *tile, panel, chunk int) *[side * side]int8 {
	if t.packed == nil {
		return t.matrix.block(openRows, panel, chunk)
	}
	if b.tile != t || b.panel != panel {
		b.tile, b.panel = t, panel
		b.offers[0], b.offers[1] = b.offers[1], b.offers[0]
		run := slices.Grow(b.offers[0][:0], (t.chunks.end-t.chunks.begin)*side*side)
		b.offers[0] = run[:cap(run)]
		run = run[:(t.chunks.end-t.chunks.begin)*side*side]
		if err := unpackOffer(run, t.packed, panel-t.panels.begin); err != nil {
			panic(err) // checksums were right when it was read
		}
	}
	return (*[side * side]int8)(b.offers[0][(chunk-t.chunks.begin)*side*side:])
}

// readPaged is Layer.Read: rows are brought into memory before they are copied, for one
// caller at a time.
func (e *engine) readPaged(dst []int8, parts []rowPart) error {
	p := e.paging
	p.reading.Lock()
	defer p.reading.Unlock()
	for len(parts) > 0 {
		tiles, n := e.tilesOf(parts)
		if err := p.store.hold(context.Background(), tiles); err != nil {
			return err
		}
		for _, part := range parts[:n] {
			dst = dst[e.copyRow(dst[:part.length], part):]
		}
		parts = parts[n:]
	}
	return nil
}

// tilesOf returns the tiles of the first parts, of as many as fit into memory.
func (e *engine) tilesOf(parts []rowPart) (tiles []*tile, n int) {
	e.groups++
	room := e.paging.store.limit
	for n = range parts {
		before := len(tiles)
		for _, t := range e.grid.rowTiles(parts[n].matrix.sum, parts[n].at) {
			if t.met != e.groups {
				t.met = e.groups
				tiles = append(tiles, t)
				room -= t.bytes
			}
		}
		if room < 0 && n > 0 {
			return tiles[:before], n
		}
	}
	return tiles, len(parts)
}
