package halfboard

import (
	"context"
	"errors"

	"grenier/kernels/colex"
	"grenier/layers/awari"
)

// Layer is a solved layer in memory. Its scores are read in colex order.
type Layer struct {
	engine *engine
	spare  *spare // takes the memory back
}

// Seeds returns the number of seeds of the layer.
func (l *Layer) Seeds() int { return l.engine.grid.n }

// Positions returns the number of positions.
func (l *Layer) Positions() uint64 { return l.engine.grid.halves.Board().Size(l.Seeds()) }

// Stats returns what the layer took so far: reading scores may add to the traffic.
func (l *Layer) Stats() Stats {
	s := l.engine.stats
	s.Traffic = l.engine.traffic()
	return s
}

// Kept returns a function that reports whether the score of a board rests on what an earlier run kept: nil if all do,
// or none.
func (l *Layer) Kept() func(awari.Board) bool {
	e := l.engine
	if e.windows == nil || e.windows.kept == nil {
		return nil
	}
	return func(b awari.Board) bool {
		var mover half
		copy(mover[:e.grid.q], b[:])
		code := e.grid.code(&mover)
		return e.windows.kept[code/64]>>(code%64)&1 != 0
	}
}

// Close returns the memory of the layer. Errors are those of the operating system.
func (l *Layer) Close() error {
	e := l.engine
	err := e.settled() // scores or offers may be on their way to disk
	if e.windows == nil {
		return errors.Join(err, l.spare.put(e.memory))
	}
	err = errors.Join(err, e.windows.loaded.close())
	if e.memory != nil {
		err = errors.Join(err, e.memory.close())
	}
	return err
}

// Read fills dst with the scores of the positions from rank start on. It is
// safe for concurrent use. It fails with colex.ErrRange if there are fewer.
func (l *Layer) Read(start uint64, dst []int8) error {
	e := l.engine
	for size := e.grid.slabSize(); len(dst) > 0; {
		slab := start / size
		n := min(uint64(len(dst)), (slab+1)*size-start)
		parts, err := e.rowParts(start, int(n))
		if err != nil {
			return err
		}
		if e.windows == nil {
			rest := dst
			for _, p := range parts {
				lines, stride := p.matrix.row(p.at, p.skip/side)
				rest = p.copy(rest, lines, stride)
			}
		} else if err := e.readSlab(dst, int(slab), parts); err != nil {
			return err
		}
		start, dst = start+n, dst[n:]
	}
	return nil
}

// Load makes scores that are read from rank start on quick to read, and returns the rank of
// the first one behind them. Nobody may read meanwhile.
func (l *Layer) Load(ctx context.Context, start uint64) (end uint64, err error) {
	e := l.engine
	if e.windows == nil {
		return l.Positions(), nil
	}
	slab := start / e.grid.slabSize()
	return min((slab+1)*e.grid.slabSize(), l.Positions()), e.load(ctx, int(slab))
}

// LoadSample makes what Options.Sample names quick to read, instead. Nobody may read
// meanwhile.
func (l *Layer) LoadSample(ctx context.Context) error {
	if l.engine.windows == nil {
		return nil
	}
	return l.engine.load(ctx, samplePart)
}

// readSlab copies parts of rows of a slab, which is loaded if they are not in memory.
func (e *engine) readSlab(dst []int8, slab int, parts []rowPart) error {
	l := &e.windows.loaded
	l.mu.RLock()
	done := l.copy(dst, parts)
	l.mu.RUnlock()
	if done {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.copy(dst, parts) {
		return nil // somebody else has loaded it
	}
	err := e.load(context.Background(), slab)
	if err == nil && !l.copy(dst, parts) {
		panic("a slab lacks rows of its own")
	}
	return err
}

// copy copies parts of rows, unless some are not in memory.
func (l *loaded) copy(dst []int8, parts []rowPart) bool {
	for _, p := range parts {
		q := l.find(p)
		if q == nil {
			return false
		}
		dst = p.copy(dst, q.scores[q.line(p.skip/side, int(p.at.row))*side:], q.rows.size()*side)
	}
	return true
}

// rowPart is a part of a row.
type rowPart struct {
	matrix *matrix
	at     place
	skip   int // columns in front of the part
	length int
}

// copy copies the part, of which the first line is that of lines, and those of the next panels
// are stride bytes apart. It returns what is left of dst.
func (p rowPart) copy(dst, lines []int8, stride int) []int8 {
	skip := p.skip % side
	for at := 0; p.length > 0; at += stride {
		n := copy(dst[:p.length], lines[at+skip:][:side-skip])
		dst, p.length, skip = dst[n:], p.length-n, 0
	}
	return dst
}

// rowParts lists the rows that make up a number of scores, at least 1, from rank start on.
func (e *engine) rowParts(start uint64, length int) (parts []rowPart, err error) {
	g := e.grid
	board := make([]uint8, 2*g.q)
	for _, rank := range []uint64{start + uint64(length) - 1, start} {
		if err := g.halves.Board().Unrank(g.n, rank, board); err != nil {
			return nil, err
		}
	}
	// A row belongs to the opponent's half B. Rows follow each other like the
	// boards of Q+1 pits whose first pit holds all the mover's seeds.
	row := board[g.q-1:]
	row[0] = 0
	row[0] = uint8(g.n - sum(row))
	skip := int(start - g.halves.RowStart(g.n, row[1:]))
	for bv := colex.ListToBV(row); length > 0; bv = colex.NextBV(bv) {
		colex.BVToList(bv, g.n, row)
		var b half
		copy(b[:], row[1:])
		p := rowPart{matrix: g.matrices[row[0]], at: g.place(g.code(&b)), skip: skip}
		p.length = min(length, p.matrix.columns-skip)
		parts = append(parts, p)
		length -= p.length
		skip = 0
	}
	return parts, nil
}

func sum(pits []uint8) int {
	n := 0
	for _, x := range pits {
		n += int(x)
	}
	return n
}
