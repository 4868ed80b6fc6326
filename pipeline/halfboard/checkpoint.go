package halfboard

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pierrec/lz4/v4"

	"grenier/io/corrupt"
	"grenier/io/rundir"
	"grenier/io/workfile"
)

// A checkpoint says where in the work file the tiles of a layer are, and what is out of
// date. By the fixpoint theorem any mixture of versions of tiles will do, as long as what
// they lack is marked: a tile that is stored in an older version than that in memory
// counts as out of date as a whole, and so do those that read it.
// docs/format/work-file.md describes the document.
const (
	checkpointKind    = "layer"
	checkpointVersion = 2 // since then with a history

	workName       = rundir.TilesName
	checkpointName = workName + "." + rundir.CheckpointName
)

// phase says how far a layer is.
type phase uint8

const (
	capturing phase = iota // offers are missing
	sweeping
	filling // the open rows are done
)

// identity is what must agree for a checkpoint to be of use.
type identity struct {
	Rules, Pits, Seeds uint8
	Phase              phase
	TileSize           uint32
	Tiles, Full        uint32
	Sweeps             uint32
	Marks              uint32 // extents with marks
}

// pagedHistory is the history in a checkpoint.
type pagedHistory struct {
	history
	Paging Paging
}

// pagedHistory returns that of the layer up to now.
func (e *engine) pagedHistory() pagedHistory { return pagedHistory{e.history(), e.paged()} }

// possible reports whether a history makes sense.
func (h *pagedHistory) possible() bool {
	p := &h.Paging
	return h.history.possible() && min(p.Reading, p.Unpacking, p.Computing, p.Packing, p.Writing) >= 0
}

// rememberPaged goes on from the history of the runs before.
func (e *engine) rememberPaged(h *pagedHistory) {
	e.remember(&h.history)
	e.paging.store.before = h.Paging
}

// entry is what a checkpoint says of a tile.
type entry struct {
	Offers, Scores workfile.Extent
	OutOfDate, Pad uint8
}

// marksOfExtent is the number of blocks whose marks are stored together.
const marksOfExtent = 1 << 17

// commit stores what has changed and makes it durable. With flush, it first stores
// all tiles of which memory is newer.
func (e *engine) commit(flush bool) error {
	p, s := e.paging, e.paging.store
	if flush {
		if err := s.save(context.Background(), s.present); err != nil {
			return err
		}
	}
	marks, err := e.putMarks()
	if err != nil {
		return err
	}
	for _, x := range p.marks {
		s.file.Drop(x)
	}
	p.marks = marks
	if err := s.file.Commit(checkpointName, workfile.Seal(checkpointKind, checkpointVersion, e.encode())); err != nil {
		return err
	}
	s.dropped, p.committed = 0, time.Now()
	return nil
}

// keep commits when it is time for it.
func (e *engine) keep() error {
	p, s := e.paging, e.paging.store
	late := time.Since(p.committed) >= p.interval
	if late || s.dropped > max(s.live/2, leastDropped) {
		return e.commit(late)
	}
	return nil
}

// leastDropped is how many bytes must have been dropped for it to be worth a commit to
// use their space again.
const leastDropped = 64 << 20

func (e *engine) identity() identity {
	return identity{
		Rules: uint8(e.game.Rules()), Pits: uint8(e.game.Pits()), Seeds: uint8(e.grid.n), Phase: e.paging.phase,
		TileSize: uint32(e.paging.tileSize), Tiles: uint32(len(e.grid.tiles)), Full: uint32(len(e.grid.full)),
		Sweeps: uint32(e.stats.Sweeps), Marks: uint32(len(e.paging.marks)),
	}
}

func (e *engine) encode() []byte {
	b := appendLittle(appendLittle(nil, e.identity()), e.pagedHistory())
	older := e.older()
	for _, t := range slices.Concat(e.grid.tiles, e.grid.full) {
		x := entry{Offers: t.offers, Scores: t.scores}
		if t.all.Load() || older[t] {
			x.OutOfDate = 1
		}
		b = appendLittle(b, x)
	}
	for _, x := range e.paging.marks {
		b = appendLittle(b, x)
	}
	return b
}

// older returns the tiles that are stored in an older version than that in memory, and
// those that read them: after a resumption a tile can know less for a while than before,
// and whoever has read that would not be told when it knows again what is stored.
func (e *engine) older() map[*tile]bool {
	older := map[*tile]bool{}
	for _, t := range e.paging.store.present {
		if t.dirty {
			older[t] = true
			for _, parent := range t.parents {
				older[e.grid.tiles[parent]] = true
			}
		}
	}
	return older
}

func appendLittle(b []byte, x any) []byte {
	b, err := binary.Append(b, binary.LittleEndian, x)
	if err != nil {
		panic(err) // of fixed size
	}
	return b
}

// putMarks stores the columns that are marked, all of them or none.
func (e *engine) putMarks() (extents []workfile.Extent, err error) {
	if e.paging.phase != sweeping {
		return nil, nil
	}
	defer func() {
		if err != nil {
			for _, x := range extents {
				e.paging.store.file.Drop(x)
			}
			extents = nil
		}
	}()
	var words []byte
	var packed []byte
	put := func() error {
		packed = slices.Grow(packed[:0], lz4.CompressBlockBound(len(words)))
		n, err := lz4.CompressBlock(words, packed[:cap(packed)], nil)
		if err != nil {
			return err
		}
		x, err := e.paging.store.file.Put(packed[:n])
		if err != nil {
			return err
		}
		extents = append(extents, x)
		words = words[:0]
		return nil
	}
	for _, m := range e.grid.matrices {
		for i := range m.marks {
			words = binary.LittleEndian.AppendUint64(words, m.marks[i].columns.Load())
			if len(words) == 8*marksOfExtent {
				if err := put(); err != nil {
					return extents, err
				}
			}
		}
	}
	if len(words) > 0 {
		err = put()
	}
	return extents, err
}

// errOtherWork reports a checkpoint of other work.
var errOtherWork = errors.New("of other work")

// Checkpointed returns the seeds of the layer that is gone on with if it is solved next,
// -1 if there is none.
func (e *Engine) Checkpointed() (seeds int) {
	if id, ok := e.readIdentity(); ok {
		return int(id.Seeds)
	}
	return e.kept()
}

// checkpointed returns the size of the tiles in the checkpoint of the layer of n seeds, 0
// if there is none.
func (e *Engine) checkpointed(n int) (tileSize int) {
	id, ok := e.readIdentity()
	if !ok || int(id.Seeds) != n {
		return 0
	}
	return int(id.TileSize)
}

// readIdentity returns what the checkpoint is of, if it is of this game.
func (e *Engine) readIdentity() (id identity, ok bool) {
	if e.options.Work == nil {
		return id, false
	}
	data, err := workfile.ReadSealed(e.options.Work, checkpointName)
	if err != nil {
		return id, false
	}
	_, b, err := workfile.Unseal(e.options.Work.Path(checkpointName), checkpointKind, checkpointVersion, data)
	if err != nil {
		return id, false
	}
	_, err = binary.Decode(b, binary.LittleEndian, &id)
	return id, err == nil && int(id.Rules) == int(e.game.Rules()) && int(id.Pits) == e.game.Pits()
}

// resume goes on from the checkpoint of an earlier run. It returns no error, and does
// nothing, if there is none that is of use: note is told then.
func (e *engine) resume(o *Options) (resumed bool, err error) {
	data, err := workfile.ReadSealed(o.Work, checkpointName)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var extents []workfile.Extent
	if err == nil {
		extents, err = e.decode(data)
	}
	var file *workfile.File
	if err == nil {
		file, err = workfile.Open(o.Work, workName, extents)
	}
	if err != nil {
		if !errors.Is(err, corrupt.ErrCorrupt) && !errors.Is(err, errOtherWork) && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		o.note("layer %d begins anew: the checkpoint is of no use: %v", e.grid.n, err)
		e.forget()
		return false, nil
	}
	e.paging.store.file = file
	return true, nil
}

// forget makes all tiles as if nothing had been stored.
func (e *engine) forget() {
	e.paging.phase, e.paging.marks, e.stats.Sweeps = capturing, nil, 0
	e.rememberPaged(&pagedHistory{})
	for _, t := range slices.Concat(e.grid.tiles, e.grid.full) {
		t.offers, t.scores = workfile.Extent{}, workfile.Extent{}
		t.all.Store(true)
	}
}

// decode sets tiles as a checkpoint says and returns all extents.
func (e *engine) decode(data []byte) (extents []workfile.Extent, err error) {
	p := e.paging
	version, b, err := workfile.Unseal(p.checkpoint, checkpointKind, checkpointVersion, data)
	if err != nil {
		return nil, err
	}
	id, want := identity{}, e.identity()
	n, err := binary.Decode(b, binary.LittleEndian, &id)
	if err != nil {
		return nil, corrupt.New(p.checkpoint, "", "%d bytes are too few", len(b))
	}
	b = b[n:]
	want.Phase, want.Sweeps, want.Marks = id.Phase, id.Sweeps, id.Marks
	if id != want {
		return nil, fmt.Errorf("%w: %+v instead of %+v", errOtherWork, id, want)
	}
	var h pagedHistory // unknown in version 1
	if version > 1 {
		n, err := binary.Decode(b, binary.LittleEndian, &h)
		if err != nil || !h.possible() {
			return nil, corrupt.New(p.checkpoint, "", "impossible times: %+v", h)
		}
		b = b[n:]
	}
	tiles := slices.Concat(e.grid.tiles, e.grid.full)
	entrySize, extentSize := binary.Size(entry{}), binary.Size(workfile.Extent{})
	if id.Phase > filling || len(b) != entrySize*len(tiles)+extentSize*int(id.Marks) {
		return nil, corrupt.New(p.checkpoint, "", "%d bytes for %d tiles and %d extents of marks", len(b), len(tiles), id.Marks)
	}
	for _, t := range tiles {
		var x entry
		if _, err := binary.Decode(b, binary.LittleEndian, &x); err != nil {
			return nil, err
		}
		b = b[entrySize:]
		t.offers, t.scores = x.Offers, x.Scores
		t.all.Store(x.OutOfDate != 0)
		if id.Phase > capturing && t.offers.IsZero() {
			return nil, corrupt.New(p.checkpoint, "", "offers are missing, and nothing says so")
		}
		extents = append(extents, t.offers, t.scores)
	}
	p.marks = make([]workfile.Extent, id.Marks)
	if _, err := binary.Decode(b, binary.LittleEndian, p.marks); err != nil {
		return nil, err
	}
	p.phase, e.stats.Sweeps = id.Phase, int(id.Sweeps)
	e.rememberPaged(&h)
	return append(extents, p.marks...), nil
}

// check reads all that is stored. What is damaged will be computed again.
func (e *engine) check(ctx context.Context, o *Options) error {
	p := e.paging
	tiles := slices.Concat(e.grid.tiles, e.grid.full)
	var damaged atomic.Int64
	err := forEach(ctx, p.store.feeders, slices.Collect(slices.Chunk(tiles, tilesChecked)), func(_, _ int, tiles []*tile) error {
		for _, t := range tiles {
			for _, x := range []*workfile.Extent{&t.offers, &t.scores} {
				_, err := p.store.file.Get(*x, nil)
				if err == nil {
					continue
				}
				if !errors.Is(err, corrupt.ErrCorrupt) {
					return err
				}
				o.note("layer %d: %v is computed again: %v", e.grid.n, t, err)
				p.store.file.Drop(*x)
				*x = workfile.Extent{}
				damaged.Add(1)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	marked := e.getMarks()
	switch {
	case marked == nil:
	case !errors.Is(marked, corrupt.ErrCorrupt) && !errors.Is(marked, errPacked):
		return marked
	default:
		o.note("layer %d: all tiles are swept again: %v", e.grid.n, marked)
	}
	if damaged.Load() == 0 && marked == nil {
		return nil
	}
	p.phase = min(p.phase, sweeping)
	for _, t := range tiles {
		t.all.Store(true)
		p.phase = min(p.phase, t.phase())
	}
	return nil
}

// tilesChecked is the number of tiles that are checked by one goroutine at a time.
const tilesChecked = 64

// phase is the first in which there is something to do for t.
func (t *tile) phase() phase {
	if t.offers.IsZero() {
		return capturing
	}
	return filling
}

// getMarks reads the marks.
func (e *engine) getMarks() error {
	p := e.paging
	if p.phase != sweeping {
		return nil
	}
	var words []byte
	for _, x := range p.marks {
		packed, err := p.store.file.Get(x, nil)
		if err != nil {
			return err
		}
		part := make([]byte, 8*marksOfExtent)
		n, err := lz4.UncompressBlock(packed, part)
		if err != nil {
			return fmt.Errorf("%w: marks: %w", errPacked, err)
		}
		words = append(words, part[:n]...)
	}
	for _, m := range e.grid.matrices {
		if len(words) < 8*len(m.marks) {
			return fmt.Errorf("%w: marks are missing", errPacked)
		}
		for i := range m.marks {
			if columns := binary.LittleEndian.Uint64(words[8*i:]); columns != 0 {
				m.marks[i].add(columns, ^uint64(0))
			}
		}
		words = words[8*len(m.marks):]
	}
	return nil
}

// String names a tile.
func (t *tile) String() string {
	class := "open"
	if t.class == fullRows {
		class = "full"
	}
	return fmt.Sprintf("the tile of %d seeds of the mover, panels %d-%d, %s chunks %d-%d",
		t.matrix.sum, t.panels.begin, t.panels.end-1, class, t.chunks.begin, t.chunks.end-1)
}
