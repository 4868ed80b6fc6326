package chemin

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/layers/chemin"
	"grenier/pipeline/internal/resume"
	"grenier/pipeline/internal/runs"
)

// Kind and version of a checkpoint. See docs/format/chemin-search.md.
const (
	checkpointKind    = "chemin-search"
	checkpointVersion = 2 // the first in a run directory
)

// checkpoint is the last complete layer of a sweep.
type checkpoint struct {
	Rows     int          `json:"rows"`
	Cols     int          `json:"cols"`
	Counting bool         `json:"counting"`
	Filled   int          `json:"filled"` // cells, in the layer
	Blocks   []runs.Block `json:"blocks"` // of the layer
	Order    []int        `json:"order"`  // the best so far
	States   []uint64     `json:"states"`
	Optimal  uint64       `json:"optimal"` // orders counted so far
}

// layout returns the layout of the layer's records.
func (c *checkpoint) layout() layout {
	if c.Counting {
		return layout{c.Filled, countWords}
	}
	return layout{c.Filled, orderWords}
}

// layer returns the layer.
func (c *checkpoint) layer() *run {
	l := c.layout()
	return &run{l, runs.Of(l.stride(), c.Blocks)}
}

// parseCheckpoint returns the checkpoint of a search of a board, which is at path. It fails with
// errors that match corrupt.ErrCorrupt.
func parseCheckpoint(path string, payload []byte, b *chemin.Board) (*checkpoint, error) {
	c := &checkpoint{}
	if err := json.Unmarshal(payload, c); err != nil {
		return nil, corrupt.New(path, "", "%w", err)
	}
	if c.Rows != b.Rows() || c.Cols != b.Cols() {
		return nil, corrupt.New(path, "", "a search of the %d x %d board %w the expected %d x %d", c.Rows, c.Cols, corrupt.ErrMismatch, b.Rows(), b.Cols())
	}
	if err := c.check(b); err != nil {
		return nil, corrupt.New(path, "", "%w", err)
	}
	return c, nil
}

// check fails if the checkpoint contradicts itself.
func (c *checkpoint) check(b *chemin.Board) error {
	if _, err := b.Play(c.Order); err != nil {
		return err
	}
	if c.Filled < 0 || c.Filled >= b.Cells() || c.Counting && b.Cells() > chemin.MaxCounted {
		return fmt.Errorf("a layer with %d cells filled, counting %v, on %d cells", c.Filled, c.Counting, b.Cells())
	}
	if c.Counting && c.Optimal > factorial(b.Cells()) {
		return fmt.Errorf("%d optimal orders of %d", c.Optimal, factorial(b.Cells()))
	}
	if len(c.Blocks) == 0 {
		return errors.New("a layer without blocks")
	}
	if err := runs.CheckAll(c.layout().stride(), c.Blocks); err != nil {
		return err
	}
	layers, records := len(c.States), uint64(c.layer().N)
	if layers < 1 || layers > b.Cells() || !c.Counting && (layers != c.Filled+1 || c.States[c.Filled] != records) {
		return fmt.Errorf("%d layers of states for %d records with %d cells filled", layers, records, c.Filled)
	}
	return c.checkStates(b)
}

// checkStates fails unless there is one state without filled cells, and no more states with
// one cell more than the empty cells allow.
func (c *checkpoint) checkStates(b *chemin.Board) error {
	if c.States[0] != 1 {
		return fmt.Errorf("%d states with no cell filled", c.States[0])
	}
	for filled := 1; filled < len(c.States); filled++ {
		n, before, empty := c.States[filled], c.States[filled-1], uint64(b.Cells()-filled+1)
		if n > 0 && (n-1)/empty >= before {
			return fmt.Errorf("%d states with %d cells filled, after %d", n, filled, before)
		}
	}
	return nil
}

// openDir opens the run directory of a search, for its blocks, and returns the checkpoint, nil if
// there is none.
func (s *solver) openDir() (saved *checkpoint, err error) {
	b := s.board
	search := resume.Search{Identity: manifest.GridIdentity("chemin", b.Rows(), b.Cols()), Kind: checkpointKind, Version: checkpointVersion}
	err = s.store.OpenDir(s.Dir, search, func(path string, payload []byte) ([]*runs.Run, error) {
		if saved, err = parseCheckpoint(path, payload, b); err != nil {
			return nil, err
		}
		return []*runs.Run{saved.layer().Run}, nil
	})
	return saved, err
}

// verify reads the layer of a checkpoint and fails, with errors that match corrupt.ErrCorrupt, if
// its records cannot be of such a search. Growth has the limits
// of numbers.
func verify(s *runs.Store, b *chemin.Board, saved *checkpoint, growth []uint32) error {
	total, orders := saved.Optimal, factorial(min(b.Cells(), chemin.MaxCounted))
	r := saved.layer()
	c, err := s.Open(r.Run)
	if err != nil {
		return err
	}
	var before []uint32
	for n := 0; c.Row != nil; n++ {
		err := checkRecord(b, r.layout, saved.Counting, c.Row, growth)
		if err == nil && before != nil && slices.Compare(before, c.Row[:r.key()]) >= 0 {
			err = errors.New("it is out of order")
		}
		if saved.Counting && err == nil {
			// Products and sums fit: none is more than the sum for all orders before.
			if total += count(c.Row[r.key():]) * factorial(b.Cells()-r.filled); total > orders {
				err = fmt.Errorf("with it there are more than %d orders", orders)
			}
		}
		if err != nil {
			return s.Damaged(fmt.Sprintf("record %d", n), err)
		}
		before = append(before[:0], c.Row[:r.key()]...)
		if err := c.Next(); err != nil {
			return err
		}
	}
	return nil
}

// checkRecord fails unless a record holds a canonical state and a way to it.
func checkRecord(b *chemin.Board, l layout, counting bool, row []uint32, growth []uint32) error {
	filled := row[0]
	if filled&^b.Full() != 0 || bits.OnesCount32(filled) != l.filled {
		return fmt.Errorf("filled cells %#x, %d of %d are wanted", filled, l.filled, b.Cells())
	}
	s := stateOf(b, row)
	again := make([]uint32, l.stride())
	canonical, _ := b.Canonical(&s)
	putState(b, again, &canonical)
	if !slices.Equal(again[:l.key()], row[:l.key()]) {
		return errors.New("its state is not canonical")
	}
	for alive := b.Touching(filled, b.Full()&^filled); alive != 0; alive &= alive - 1 {
		if v := s.Values[bits.TrailingZeros32(alive)]; v < 1 || v > growth[l.filled] {
			return fmt.Errorf("number %d: must be 1 to %d", v, growth[l.filled])
		}
	}
	tail := row[l.key():]
	if counting {
		if n, most := count(tail), factorial(b.Cells())/factorial(b.Cells()-l.filled); n < 1 || n > most {
			return fmt.Errorf("%d orders: must be 1 to %d", n, most)
		}
		return nil
	}
	return checkOrder(b, l, &s, tail)
}

// checkOrder fails unless the order in a tail leads to a state.
func checkOrder(b *chemin.Board, l layout, s *chemin.State, tail []uint32) error {
	var reached chemin.State
	again := make([]uint32, orderWords)
	for step := range l.filled {
		cell := cellAt(tail, step)
		if cell >= b.Cells() || reached.Filled>>cell&1 != 0 {
			return fmt.Errorf("step %d fills cell %d", step+1, cell)
		}
		reached, _ = b.Fill(&reached, cell)
		appendOrder(again, step, cell)
	}
	if reached != *s || !slices.Equal(again, tail) {
		return errors.New("its order does not lead to its state")
	}
	return nil
}
