package verify

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"grenier/io/rundir"
	"grenier/io/vfs"
)

// traces say which quiet moves keep the score of their position, if that is not 0. A column has lines of a bit for each half of the opponent:
// whether the score is negative, then, for each pit with seeds, whether playing it keeps the score. The lines of a chunk follow each other, so do the chunks of a
// column, and the columns.
type traces struct {
	frame *frame
	words []uint64     // nil if they are on disk
	file  *vfs.Pending // nil if they are in memory
	panel []uint64     // room for those of a panel, if they go to disk
	bytes []byte
}

// pieceWords is how many words are read and written at a time.
const pieceWords = 1 << 13

// divide makes traces, in memory if there is room for them and a panel of verify, and leaves the rest to panels.
func (g *Grounding) divide(work func() (vfs.Dir, error)) error {
	o, bytes := &g.run.options, 8*g.frame.total()
	g.traces = &traces{frame: g.frame}
	if bytes+Least(g.run.space.Game, g.seeds) <= uint64(max(0, o.MemoryBytes)) {
		g.traces.words = make([]uint64, g.frame.total())
		o.MemoryBytes -= int64(bytes)
		return nil
	}
	size := float64(g.run.space.Size(g.seeds)) // a panel has its traces beside it
	o.MemoryBytes = int64(float64(o.MemoryBytes) * size / (size + float64(bytes)))
	dir, err := work()
	if err != nil {
		return err
	}
	g.traces.file, err = vfs.BeginIn(dir, rundir.MarksName)
	return err
}

// close removes the file.
func (t *traces) close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Abort()
}

// trace finds the traces of the layer, panel by panel.
func (g *Grounding) trace(ctx context.Context) error {
	r, done := g.run, uint64(0)
	own, count := uint64(chunks(r.space.Size(g.seeds))), r.panels(g.seeds)
	for i := range count {
		p := r.part(g.seeds, i, count)
		positions := uint64(len(p.best))
		p.meter = &panelMeter{meter: &r.meter, seeds: g.seeds, before: done, positions: positions, total: 2 * own}
		p.traces = g.traces.begin(p.panel)
		if err := p.trace(ctx); err != nil {
			return err
		}
		if err := g.traces.end(p.traces, p.panel); err != nil {
			return err
		}
		done += positions
	}
	return nil
}

// panelTraces are the traces of the columns of a panel.
type panelTraces struct {
	*frame
	words []uint64
	base  []uint64 // by the seeds of the mover's half: of frame.at, where words begins
}

// begin returns the place for the traces of a panel.
func (t *traces) begin(p *panel) *panelTraces {
	l := &panelTraces{frame: t.frame, words: t.words, base: make([]uint64, len(p.columns))}
	if t.words != nil {
		return l
	}
	size := uint64(0)
	for a, at := range t.frame.at {
		from, to := at[p.columns[a].from], at[p.columns[a].to]
		l.base[a] = from - size
		size += to - from
	}
	t.panel = slices.Grow(t.panel[:0], int(size))[:size]
	clear(t.panel)
	l.words = t.panel
	return l
}

// end takes over the traces of a panel.
func (t *traces) end(l *panelTraces, p *panel) error {
	if t.words != nil {
		return nil
	}
	for a, at := range t.frame.at {
		from, to := at[p.columns[a].from], at[p.columns[a].to]
		if err := t.write(l.words[from-l.base[a]:to-l.base[a]], from); err != nil {
			return err
		}
	}
	return nil
}

// write writes words to the file.
func (t *traces) write(words []uint64, at uint64) error {
	for some := range slices.Chunk(words, pieceWords) {
		t.bytes = t.bytes[:0]
		for _, x := range some {
			t.bytes = binary.LittleEndian.AppendUint64(t.bytes, x)
		}
		if _, err := t.file.WriteAt(t.bytes, int64(8*at)); err != nil {
			return fmt.Errorf("moves of a proof: %w", err)
		}
		at += uint64(len(some))
	}
	return nil
}

// put sets a line of a column, the first one for the signs.
func (l *panelTraces) put(mover int, rank uint64, line int, bits []uint64) {
	at, n := l.at[mover][rank]-l.base[mover], l.halves[mover][rank].lines()
	for first := 0; first < len(bits); first += chunkWords {
		some := bits[first:min(len(bits), first+chunkWords)]
		copy(l.words[at+uint64(first*n+len(some)*line):], some)
	}
}

// trace finds the traces of the panel. That none is missing is seen from their number.
func (p *part) trace(ctx context.Context) error {
	if _, err := p.walkLines(ctx, (*visitor).fill); err != nil {
		return err
	}
	all, err := p.walk(ctx, p.seeds, (*visitor).trace)
	if err != nil {
		return err
	}
	traced := uint64(0)
	for _, v := range all {
		traced += v.moves
	}
	if moves := p.signs(); traced != moves {
		return fmt.Errorf("internal error: layer %d: %d moves of columns were traced, not %d", p.seeds, traced, moves)
	}
	return nil
}

// drawn stands for a score of 0 as a value: no child has its opposite, so no move keeps it.
const drawn = math.MaxInt8

// fill makes the values of a line its scores.
func (v *visitor) fill(l line) error {
	for _, score := range l.scores {
		if score == 0 {
			score = drawn
		}
		v.best[l.at] = score
		l.at += l.width
	}
	return nil
}

// trace traces the moves that lead to a row.
func (v *visitor) trace(rs *rows) error {
	row, err := v.reached(rs)
	if err != nil || len(v.steps) == 0 {
		return err
	}
	for _, s := range v.steps {
		at, end, _ := v.column(s.column, s.rank)
		before := v.traces.halves[s.column][s.rank] & (1<<(8*s.pit) - 1)
		words := v.traces.frame.words(v.seeds - s.column)
		v.bits = slices.Grow(v.bits[:0], words)[:words]
		trace(v.bits, v.best[at:end], row, s.spans)
		v.traces.put(s.column, s.rank, before.lines(), v.bits)
		v.moves++
	}
	return nil
}

// trace sets the bits of moves from a column to a row that keep the score of their position, if that is not 0.
func trace(bits []uint64, column, row []int8, spans []span) {
	clear(bits)
	for _, r := range spans {
		n, at := r.n(), r.from()
		parents, children := column[at:][:n], row[r.to():][:n]
		word := uint64(0)
		for i, score := range parents {
			other := uint64(uint8(score + children[i])) // 0 if the move keeps the score
			word |= (other - 1) >> 63 << (at % 64)
			if at++; at%64 == 0 {
				bits[at/64-1] |= word
				word = 0
			}
		}
		if word != 0 {
			bits[at/64] |= word
		}
	}
}

// signs sets the lines of negative scores, and returns by how many pits of columns there are quiet moves.
func (p *part) signs() (moves uint64) {
	var bits []uint64
	for a := range p.columns {
		c, words := &p.columns[a], p.traces.frame.words(p.seeds-a)
		bits = slices.Grow(bits[:0], words)[:words]
		for rank := c.from; rank < c.to; rank++ {
			clear(bits)
			at, end, _ := p.column(a, rank)
			for i, score := range p.best[at:end] {
				bits[i/64] |= uint64(uint8(score)) >> 7 << (i % 64)
			}
			p.traces.put(a, rank, 0, bits)
			moves += p.run.sowings.quiet(p.traces.halves[a][rank], p.seeds-a)
		}
	}
	return moves
}

// quiet returns how many pits of a half can be played without a capture, if the opponent has some seeds.
func (s *sowings) quiet(h half, opponent int) (pits uint64) {
	for pit, all := range s.byPit {
		if seeds := h.pit(pit); seeds > 0 && s.spans(&all[seeds-1], opponent, 0) != nil {
			pits++
		}
	}
	return pits
}

// read returns the traces of a column of a tile. Those that are on disk do not change there.
func (t *traces) read(k *sweeper, at *tile, column int) ([]uint64, error) {
	starts, rank := t.frame.at[at.mover], at.from+uint64(column)
	n := t.frame.halves[at.mover][rank].lines()
	start, words := starts[rank]+uint64(at.first*n), at.words*n
	if t.words != nil {
		return t.words[start:][:words], nil
	}
	first, end := starts[at.from], starts[at.from+uint64(len(at.alive))]
	if k.first != first || len(k.strip) == 0 {
		if err := t.load(k, first, int(end-first)); err != nil {
			return nil, err
		}
	}
	return k.strip[start-first:][:words], nil
}

// load reads the traces of the columns of a tile, for all tiles with these columns.
func (t *traces) load(k *sweeper, first uint64, words int) error {
	k.first, k.strip = first, k.strip[:0]
	k.bytes = slices.Grow(k.bytes[:0], pieceWords*8)[:pieceWords*8]
	for len(k.strip) < words {
		some := k.bytes[:8*min(pieceWords, words-len(k.strip))]
		if _, err := t.file.ReadAt(some, 8*int64(first)+8*int64(len(k.strip))); err != nil {
			return fmt.Errorf("moves of a proof: %w", err)
		}
		for ; len(some) > 0; some = some[8:] {
			k.strip = append(k.strip, binary.LittleEndian.Uint64(some))
		}
	}
	return nil
}
