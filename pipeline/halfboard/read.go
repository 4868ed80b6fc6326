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
func (l *Layer) Stats() Stats { return l.engine.stats }

// Close returns the memory of the layer.
func (l *Layer) Close() error {
	if p := l.engine.paging; p != nil {
		return errors.Join(p.close(), l.engine.memory.close())
	}
	return l.spare.put(l.engine.memory)
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
	// A row belongs to the opponent's half B. Rows follow each other like the
	// boards of Q+1 pits whose first pit holds all the mover's seeds.
	row := board[g.q-1:]
	row[0] = 0
	row[0] = uint8(g.n - sum(row))
	skip := int(start - g.halves.RowStart(g.n, row[1:]))
	for bv := colex.ListToBV(row); ; bv = colex.NextBV(bv) {
		colex.BVToList(bv, g.n, row)
		n, err := l.engine.copyRow(dst, row, skip)
		if err != nil {
			return err
		}
		dst = dst[n:]
		if len(dst) == 0 {
			return nil
		}
		skip = 0
	}
}

// copyRow copies the scores of the row of B, from column skip on: row holds the
// mover's seeds and then B. It returns how many it copied.
func (e *engine) copyRow(dst []int8, row []uint8, skip int) (copied int, err error) {
	var b half
	copy(b[:], row[1:])
	at, m := e.grid.places[e.grid.code(&b)], e.grid.matrices[row[0]]
	panels := func() {
		for panel := skip / side; panel < m.panels && copied < len(dst); panel++ {
			copied += copy(dst[copied:], m.line(at, panel)[skip%side:])
			skip = 0
		}
	}
	if e.paging != nil {
		err = e.paging.holding(m, at, panels)
		return copied, err
	}
	panels()
	return copied, nil
}

func sum(pits []uint8) int {
	n := 0
	for _, x := range pits {
		n += int(x)
	}
	return n
}
