package heuristic

import (
	"context"
	"errors"
	"fmt"
	"math"

	"grenier/kernels/fault"
	"grenier/kernels/perm"
	"grenier/layers/swap"
)

// ErrTooLarge reports a grid for which a bound would need too large a table.
var ErrTooLarge = fault.New(fault.Usage, "table too large")

// Walking is the walking distance of Ken'ichiro Takahashi: the swaps between rows
// that bring every tile to its row, when tiles of one row are free to change places,
// plus the same for columns (document 004, "Walking Distance"; the sum that is printed
// there counts the columns twice, which is not admissible: docs/sources.md). In a grid of one
// row or one column this is the number of inversions, and exact.
type Walking struct {
	consistent
	rows, cols      int
	row, column     []uint32   // key of the home row and column of a tile
	byRow, byColumn *walkTable // nil if there is one row or one column
}

// WalkingMemory is how many bytes of tables NewWalking makes at most: enough for all
// grids of up to 16 cells but 2 x 8, and for 5 x 5.
const WalkingMemory = 32 << 20

// NewWalking prepares the bound for a grid as BuildWalking does, within WalkingMemory.
func NewWalking(g *swap.Grid) (*Walking, error) {
	return BuildWalking(context.Background(), g.Rows(), g.Cols(), WalkingMemory)
}

// BuildWalking prepares the bound for any grid of up to swap.MaxListed cells, with tables
// of at most memory bytes, 0 for no limit. It fails with ErrTooLarge if that is not
// enough or there are more cells, with swap.ErrSize if there are none, and with the error
// of ctx.
func BuildWalking(ctx context.Context, rows, cols int, memory uint64) (*Walking, error) {
	w := &Walking{rows: rows, cols: cols}
	switch {
	case rows < 1 || cols < 1:
		return nil, fmt.Errorf("%w: %d x %d", swap.ErrSize, rows, cols)
	case rows > swap.MaxListed/cols:
		return nil, fmt.Errorf("walking distance: %w: %d x %d (at most %d cells)", ErrTooLarge, rows, cols, swap.MaxListed)
	case w.line():
		return w, nil
	}
	if memory == 0 {
		memory = math.MaxInt64
	}
	switch err := w.prepare(ctx, memory); {
	case errors.Is(err, ErrTooLarge):
		return nil, fmt.Errorf("walking distance: %w for %d bytes: %d x %d (manhattan and inversion need no table)", err, memory, rows, cols)
	case err != nil:
		return nil, err
	}
	return w, nil
}

// line reports whether the grid is one row or one column.
func (w *Walking) line() bool { return w.rows == 1 || w.cols == 1 }

// prepare makes the tables. A square needs only one.
func (w *Walking) prepare(ctx context.Context, memory uint64) (err error) {
	if w.byRow, err = newWalkTable(ctx, w.rows, w.cols, memory); err != nil {
		return err
	}
	w.byColumn = w.byRow
	if w.rows != w.cols {
		if w.byColumn, err = newWalkTable(ctx, w.cols, w.rows, memory-w.byRow.bytes()); err != nil {
			return err
		}
	}
	for tile := range w.rows * w.cols {
		w.row = append(w.row, w.byRow.place[tile/w.cols])
		w.column = append(w.column, w.byColumn.place[tile%w.cols])
	}
	return nil
}

// Name returns "walking".
func (*Walking) Name() string { return "walking" }

// Entries returns the number of values in the tables of rows and of columns; a square has one
// table, which counts as both.
func (w *Walking) Entries() int {
	if w.line() {
		return 0
	}
	return len(w.byRow.depths) + len(w.byColumn.depths)
}

// Estimate is Distance for the tiles of a state, of a grid that has states.
func (w *Walking) Estimate(s swap.State) int {
	var tiles [swap.MaxCells]uint8
	s.Unpack(tiles[:w.rows*w.cols])
	return w.Distance(tiles[:w.rows*w.cols])
}

// Distance returns the bound for the tiles of all cells, row by row, both numbered from
// 0.
func (w *Walking) Distance(tiles []uint8) int {
	if w.line() {
		return perm.Inversions(tiles)
	}
	rows, columns := w.keys(tiles)
	return w.byRow.distance(rows[:w.rows]) + w.byColumn.distance(columns[:w.cols])
}

// keys returns the keys of all rows and columns.
func (w *Walking) keys(tiles []uint8) (rows, columns [maxLines]uint32) {
	cell := 0
	for i := range w.rows {
		for j := range w.cols {
			tile := tiles[cell]
			rows[i] += w.row[tile]
			columns[j] += w.column[tile]
			cell++
		}
	}
	return rows, columns
}
