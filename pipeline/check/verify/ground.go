package verify

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"

	"grenier/io/crew"
	"grenier/io/vfs"
	"grenier/kernels/bitset"
	"grenier/layers/awari"
	"grenier/pipeline/internal/marks"
	"grenier/pipeline/tables"
)

// Grounding finds, in passes over a layer whose scores are locally optimal, the positions whose
// scores can be traced down to seeds that are taken: those that are grounded, see package prove.
//
// Which quiet moves keep the score of their position is found out once (traces.go). A pass then handles the positions
// of a column 64 at a time: a positive one is grounded if one of these moves leads to a grounded child, a negative one if
// all of them do. What a pass has marked counts in the rest of it. A move that leads to a grounded child, or is of a position
// that is grounded, is not looked at again; so late passes have little to do.
type Grounding struct {
	run      *run
	seeds    int
	marks    *marks.Set
	frame    *frame
	traces   *traces
	tiles    []tile
	sweepers []*sweeper
	passes   int // that are complete
}

// NewGrounding prepares passes over the layer of n seeds, whose grounded positions are marked. Of
// the options it looks at Workers, Family, MemoryBytes, and Progress, which counts the positions of a pass, or of this
// preparation. MemoryBytes bounds what it has besides GroundingBytes; what does not fit is in a file of the directory that work opens.
// It fails as Run and package vfs do.
func NewGrounding(ctx context.Context, t *tables.Tables, n int, o Options, m *marks.Set, work func() (vfs.Dir, error)) (*Grounding, error) {
	o.Layers = []int{n}
	r, err := newRun(ctx, t, o)
	if err != nil {
		return nil, err
	}
	g := &Grounding{run: r, seeds: n, marks: m}
	if g.frame, err = newFrame(r.sowings, r.space, n); err != nil {
		return nil, err
	}
	if err := g.divide(work); err != nil {
		return nil, err
	}
	if err := g.trace(ctx); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	r.best, g.traces.panel, g.tiles = nil, nil, g.frame.tiles()
	for range r.options.Workers {
		g.sweepers = append(g.sweepers, &sweeper{Grounding: g, view: g.marks.View(), extract: bitset.ExtractFor(o.Family)})
	}
	return g, nil
}

// Close removes what is on disk.
func (g *Grounding) Close() error { return g.traces.close() }

// tilesEach is how many tiles a goroutine takes at a time.
const tilesEach = 16

// Pass marks positions that are grounded because others are that were marked before, and returns how many. If it
// marks none there are no more. It fails like Run.
func (g *Grounding) Pass(ctx context.Context) (uint64, error) {
	var fresh atomic.Uint64
	units := (len(g.tiles) + tilesEach - 1) / tilesEach
	p := &panelMeter{meter: &g.run.meter, seeds: g.seeds, positions: g.run.space.Size(g.seeds), total: uint64(units)}
	err := crew.Each(ctx, len(g.sweepers), units, func(worker, i int) error {
		for at := tilesEach * i; at < min(len(g.tiles), tilesEach*(i+1)); at++ {
			n, err := g.sweepers[worker].sweep(&g.tiles[at])
			if fresh.Add(uint64(n)); err != nil {
				return err
			}
		}
		p.step()
		return nil
	})
	if err == nil {
		g.passes++
	}
	return fresh.Load(), err
}

// tile is up to tileColumns columns with as many seeds that follow each other, as far as a chunk of the opponent's halves
// goes. One goroutine at a time marks its positions.
type tile struct {
	mover int     // seeds of the mover's half
	from  uint64  // rank of the first column
	first int     // word of the chunk, of a bit for each of the opponent's halves
	words int     // that the chunk has
	alive []uint8 // by column: a bit for each pit by which a position may be grounded that is not yet
}

const (
	tileColumns = 64
	chunkWords  = 8
)

// tiles divides the layer.
func (f *frame) tiles() (all []tile) {
	for a, halves := range f.halves {
		for from := 0; from < len(halves); from += tileColumns {
			for first, words := 0, f.words(f.seeds-a); first < words; first += chunkWords {
				alive := bytes.Repeat([]byte{0xff}, min(tileColumns, len(halves)-from))
				all = append(all, tile{a, uint64(from), first, min(chunkWords, words-first), alive})
			}
		}
	}
	return all
}

// sweeper goes through tiles; it belongs to one goroutine.
type sweeper struct {
	*Grounding
	view      *marks.View
	extract   bitset.ExtractFunc
	strip     []uint64 // traces of columns from the word first on, if they are on disk
	first     uint64
	bytes     []byte // a piece of them
	now, next plan
	row       []uint64 // marks of a row
	children  []uint64 // marks of the children of a column by one pit, in the order of their parents

	fresh [tileColumns][chunkWords]uint64 // positions of the tile that are grounded and were not, perhaps
	// Positions of a column that have a move to a grounded child, that have one to another child, that had one when the pass began.
	won, open, had [chunkWords]uint64
}

// plan says what to look at for a column of a tile.
type plan struct {
	pits  int
	steps [awari.MaxPits / 2]look
}

// look is about playing one pit.
type look struct {
	pit   int
	line  int    // how many lines of the traces come before that of the pit
	start uint64 // rank of the first mark that is read
	gain  *gain
}

// sweep marks positions of a tile, and returns how many.
func (k *sweeper) sweep(t *tile) (int, error) {
	found, columns := false, len(t.alive)
	next := k.plan(t, 0)
	if next < columns {
		clear(k.fresh[:])
	}
	for i := next; i < columns; i = next {
		k.now = k.next
		next = k.plan(t, i+1)
		some, err := k.column(t, i)
		if err != nil {
			return 0, err
		}
		found = found || some
	}
	if !found {
		return 0, nil
	}
	return k.mark(t)
}

// plan makes the next plan that of the first column from i on that is alive, and returns which one that is.
func (k *sweeper) plan(t *tile, i int) int {
	for ; i < len(t.alive); i++ {
		if t.alive[i] != 0 {
			k.planColumn(t, i)
			return i
		}
	}
	return i
}

// planColumn makes the next plan that of a column, and has the processor fetch what it will read.
func (k *sweeper) planColumn(t *tile, i int) {
	f, p := k.frame, &k.next
	h, opponent, line := f.halves[t.mover][t.from+uint64(i)], k.seeds-t.mover, 0
	p.pits = 0
	for pit, moves := range k.run.sowings.byPit {
		seeds := h.pit(pit)
		if seeds == 0 {
			continue
		}
		line++
		if t.alive[i]>>pit&1 == 0 {
			continue
		}
		w := &moves[seeds-1]
		after := h - half(seeds)<<(8*pit) + w.own
		gain := &f.gains[w.effect][opponent][t.first/chunkWords]
		start := f.starts[t.mover-seeds+w.kept][f.rank(after)] + 64*gain.first
		k.view.Fetch(start)
		p.steps[p.pits] = look{pit, line, start, gain}
		p.pits++
	}
}

// column finds the grounded positions of a column in a tile, and reports whether there are any that were not before, perhaps.
func (k *sweeper) column(t *tile, i int) (bool, error) {
	traced, err := k.traces.read(k, t, i)
	if err != nil {
		return false, err
	}
	k.begin()
	won, open, had := k.won[:t.words], k.open[:t.words], k.had[:t.words]
	for _, s := range k.now.steps[:k.now.pits] {
		children, err := k.after(&s)
		if err != nil {
			return false, err
		}
		take(traced[s.line*t.words:][:t.words], children[:t.words], won, open, had)
	}
	fresh, some := k.fresh[i][:len(won)], uint64(0)
	for j, negative := range traced[:len(won)] {
		won[j] &^= negative
		fresh[j] = won[j] | negative&had[j]&^open[j]
		some |= fresh[j]
	}
	t.alive[i] = k.end(traced, won)
	return some != 0, nil
}

// take takes the moves to children that are grounded out of a line of traces, and adds to the positions that have one, that have
// another, that had any.
func take(line, children, won, open, had []uint64) {
	children, won, open, had = children[:len(line)], won[:len(line)], open[:len(line)], had[:len(line)]
	for j, moves := range line {
		won[j] |= moves & children[j]
		had[j] |= moves
		line[j] = moves &^ children[j]
		open[j] |= line[j]
	}
}

// begin begins with a column. The first pass looks at all negative positions, even those without a move that keeps the score.
func (k *sweeper) begin() {
	k.won, k.open, k.had = [chunkWords]uint64{}, [chunkWords]uint64{}, [chunkWords]uint64{}
	if k.passes == 0 {
		for j := range k.had {
			k.had[j]--
		}
	}
}

// end takes the moves of positions that are won out of the traces of a column, and returns for which pits others are left.
func (k *sweeper) end(traced, won []uint64) (alive uint8) {
	for _, s := range k.now.steps[:k.now.pits] {
		line, some := traced[s.line*len(won):][:len(won)], uint64(0)
		for j, w := range won {
			line[j] &^= w
			some |= line[j]
		}
		if some != 0 {
			alive |= 1 << s.pit
		}
	}
	return alive
}

// after returns which children of a column by a move are grounded, in the order of their parents. Where the move
// captures, the bit means nothing: the child is elsewhere, and the move is not in the traces.
func (k *sweeper) after(s *look) ([]uint64, error) {
	if uint64(len(k.row)) < s.gain.words {
		k.row = make([]uint64, s.gain.words)
	}
	row := k.row[:s.gain.words]
	if err := k.view.Bits(row, s.start); err != nil || s.gain.all {
		return row, err
	}
	if n := s.gain.mask.Extracted(); len(k.children) < n {
		k.children = make([]uint64, n)
	}
	k.extract(k.children, row, &s.gain.mask)
	return k.children, nil
}

// mark marks what was found in a tile.
func (k *sweeper) mark(t *tile) (fresh int, err error) {
	starts := k.frame.starts[k.seeds-t.mover]
	for w := range t.words {
		var square [64]uint64
		some := uint64(0)
		for i := range t.alive {
			square[i] = k.fresh[i][w]
			some |= square[i]
		}
		if some == 0 {
			continue
		}
		bitset.Transpose(&square)
		first := 64 * (t.first + w)
		for i, start := range starts[first:min(len(starts), first+64)] {
			n, err := k.view.Mark(square[i:][:1], start+t.from)
			if fresh += n; err != nil {
				return fresh, err
			}
		}
	}
	return fresh, nil
}
