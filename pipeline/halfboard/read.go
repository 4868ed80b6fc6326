package halfboard

import (
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

// Stats returns what the layer took.
func (l *Layer) Stats() Stats {
	s := l.engine.stats
	s.Paging = l.engine.paged()
	return s
}

// Close returns the memory of the layer, and closes its work file if it has one. Errors
// are those of the operating system.
func (l *Layer) Close() error {
	if p := l.engine.paging; p != nil {
		return errors.Join(p.close(), l.engine.memory.close())
	}
	return errors.Join(l.engine.settled(), l.spare.put(l.engine.memory)) // offers may be on their way to disk
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
	if l.engine.paging != nil {
		return l.engine.readPaged(dst, parts)
	}
	for _, p := range parts {
		dst = dst[l.engine.copyRow(dst[:p.length], p):]
	}
	return nil
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
		copied += copy(dst[copied:], p.matrix.line(p.at, panel)[skip:])
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
