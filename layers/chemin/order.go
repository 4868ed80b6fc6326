package chemin

import (
	"fmt"
	"math/bits"

	"grenier/kernels/fault"
	"grenier/layers/symmetry"
)

// ErrOrder reports a list that is no order of the cells of a board.
var ErrOrder = fault.New(fault.Usage, "bad order")

// Play fills the board in an order, each cell once, and returns the number in each
// cell. It fails with ErrOrder.
func (b *Board) Play(order []int) ([]uint32, error) {
	if len(order) != b.Cells() {
		return nil, fmt.Errorf("%w: expected %d cells, got %d", ErrOrder, b.Cells(), len(order))
	}
	grid := make([]uint32, b.Cells())
	var s State
	for i, cell := range order {
		if cell < 0 || cell >= b.Cells() {
			return nil, fmt.Errorf("%w: step %d fills cell %d: must be 0 to %d", ErrOrder, i+1, cell, b.Cells()-1)
		}
		if s.Filled>>cell&1 != 0 {
			return nil, fmt.Errorf("%w: step %d fills cell %d again", ErrOrder, i+1, cell)
		}
		s, grid[cell] = b.Fill(&s, cell)
	}
	return grid, nil
}

// Orientation is an acyclic orientation of the king graph: which of the neighbours
// of each cell come before it. Orders are equivalent when theirs are equal.
type Orientation [MaxCells]Cells

// Orient returns the orientation of an order of all cells.
func (b *Board) Orient(order []int) Orientation {
	var o Orientation
	var filled Cells
	for _, cell := range order {
		o[cell] = b.near[cell] & filled
		filled |= 1 << cell
	}
	return o
}

// Move carries an orientation along a symmetry.
func (o *Orientation) Move(b *Board, by *Symmetry) Orientation {
	var moved Orientation
	for cell := range b.Cells() {
		moved[by[cell]] = symmetry.Image(by, o[cell])
	}
	return moved
}

// Order returns the least order, cell by cell, that has the orientation.
func (o *Orientation) Order(b *Board) []int {
	order := make([]int, 0, b.Cells())
	for filled := Cells(0); filled != b.full; {
		for rest := b.full &^ filled; rest != 0; rest &= rest - 1 {
			if cell := bits.TrailingZeros32(rest); o[cell]&^filled == 0 {
				order = append(order, cell)
				filled |= 1 << cell
				break
			}
		}
	}
	return order
}

// Extensions returns the number of orders that have an orientation, and of those that end in
// a cell of last. It counts them over the sets of cells that may be filled first, at most limit of
// these; ok is false if there are more.
func (o *Orientation) Extensions(b *Board, last Cells, limit int) (orders, ending uint64, ok bool) {
	ways := map[Cells]uint64{0: 1}
	for range b.Cells() {
		next := make(map[Cells]uint64, len(ways))
		for filled, n := range ways {
			for rest := b.full &^ filled; rest != 0; rest &= rest - 1 {
				if cell := bits.TrailingZeros32(rest); o[cell]&^filled == 0 {
					next[filled|1<<cell] += n
					if filled|1<<cell == b.full && last>>cell&1 != 0 {
						ending += n
					}
				}
			}
		}
		if len(next) > limit {
			return 0, 0, false
		}
		ways = next
	}
	return ways[b.full], ending, true
}
