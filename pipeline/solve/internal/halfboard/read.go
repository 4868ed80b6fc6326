package halfboard

import (
	"context"
	"errors"

	"grenier/kernels/colex"
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

// Close returns the memory of the layer. Errors are those of the operating system.
func (l *Layer) Close() error {
	e := l.engine
	if e.windows == nil {
		return errors.Join(e.settled(), l.spare.put(e.memory)) // offers may be on their way to disk
	}
	err := e.windows.loaded.close()
	if e.memory != nil {
		err = errors.Join(err, e.memory.close())
	}
	return err
}

// Read fills dst with the scores of the positions from rank start on. It is
// safe for concurrent use. It fails with colex.ErrRange if there are fewer.
func (l *Layer) Read(start uint64, dst []int8) error {
	if len(dst) == 0 {
		return nil
	}
	g := l.engine.grid
	board := make([]uint8, 2*g.q)
	if err := g.halves.Board().Unrank(g.n, start+uint64(len(dst))-1, board); err != nil {
		return err
	}
	if err := g.halves.Board().Unrank(g.n, start, board); err != nil {
		return err
	}
	parts := l.engine.rowParts(start, len(dst), board)
	if l.engine.windows != nil {
		return l.engine.readLoaded(dst, start, parts)
	}
	for _, p := range parts {
		dst = dst[l.engine.copyRow(dst[:p.length], p):]
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
	size := e.grid.slabSize()
	begin := start / size * size
	end = min(begin+size, l.Positions())
	return end, e.load(ctx, []rankRange{{begin, end}})
}

// LoadPieces makes pieces of the given length, which begin at starts, quick to read: those
// of a sample. Nobody may read meanwhile.
func (l *Layer) LoadPieces(ctx context.Context, starts []uint64, length uint64) error {
	e := l.engine
	if e.windows == nil {
		return nil
	}
	ranges := make([]rankRange, len(starts))
	for i, start := range starts {
		ranges[i] = rankRange{start, min(start+length, l.Positions())}
	}
	return e.load(ctx, ranges)
}

// readLoaded copies the rows of parts, the first of which begins at start. What is not in
// memory is loaded, slab by slab.
func (e *engine) readLoaded(dst []int8, start uint64, parts []rowPart) error {
	l := &e.windows.loaded
	for len(parts) > 0 {
		l.mu.RLock()
		n := e.copyLoaded(dst, parts)
		l.mu.RUnlock()
		if n == 0 {
			l.mu.Lock()
			begin := start / e.grid.slabSize() * e.grid.slabSize()
			err := e.load(context.Background(), []rankRange{{begin, begin + e.grid.slabSize()}})
			n = e.copyLoaded(dst, parts)
			l.mu.Unlock()
			if err != nil {
				return err
			}
		}
		for _, p := range parts[:n] {
			dst = dst[p.length:]
			start += uint64(p.length)
		}
		parts = parts[n:]
	}
	return nil
}

// copyLoaded copies those of parts that are in memory, up to the first one that is not, and
// returns their number.
func (e *engine) copyLoaded(dst []int8, parts []rowPart) (n int) {
	for _, p := range parts {
		rows := e.windows.loaded.find(p.matrix.sum, p.at.class, int(p.at.row))
		if rows == nil {
			break
		}
		rows.copy(dst[:p.length], p)
		dst = dst[p.length:]
		n++
	}
	return n
}

// copy copies a part of a row.
func (l *loadedRows) copy(dst []int8, p rowPart) {
	height, row := l.end-l.begin, int(p.at.row)-l.begin
	for panel, skip := p.skip/side, p.skip%side; len(dst) > 0; panel, skip = panel+1, 0 {
		n := min(p.matrix.width(panel)-skip, len(dst))
		copy(dst[:n], l.lines[(panel*height+row)*side+skip:])
		dst = dst[n:]
	}
}

// rowPart is a part of a row.
type rowPart struct {
	matrix *matrix
	at     place
	skip   int // columns in front of the part
	length int
}

// rowParts lists the rows that make up a number of scores from rank start on, which is
// that of board.
func (e *engine) rowParts(start uint64, length int, board []uint8) (parts []rowPart) {
	// A row belongs to the opponent's half B. Rows follow each other like the
	// boards of Q+1 pits whose first pit holds all the mover's seeds.
	g := e.grid
	row := board[g.q-1:]
	row[0] = 0
	row[0] = uint8(g.n - sum(row))
	skip := int(start - g.halves.RowStart(g.n, row[1:]))
	for bv := colex.ListToBV(row); length > 0; bv = colex.NextBV(bv) {
		colex.BVToList(bv, g.n, row)
		var b half
		copy(b[:], row[1:])
		p := rowPart{matrix: g.matrices[row[0]], at: g.places[g.code(&b)], skip: skip}
		p.length = min(length, p.matrix.columns-skip)
		parts = append(parts, p)
		length -= p.length
		skip = 0
	}
	return parts
}

// copyRow copies a part of a row and returns its length.
func (e *engine) copyRow(dst []int8, p rowPart) (copied int) {
	for panel, skip := p.skip/side, p.skip%side; copied < len(dst); panel, skip = panel+1, 0 {
		copied += copy(dst[copied:], p.matrix.row(p.at, panel)[skip:])
	}
	return copied
}

func sum(pits []uint8) int {
	n := 0
	for _, x := range pits {
		n += int(x)
	}
	return n
}
