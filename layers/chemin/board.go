// Package chemin is the game of document 002: the cells of a grid are filled one
// after the other, each with the sum of the numbers that already stand around it
// (eight neighbours, as a king moves), or with 1 if there are none. The score is
// the largest number written, in whatever cell it stands (docs/sources.md).
//
// # States
//
// The rest of a game depends on which cells are filled and on the values of
// the filled cells that still have an empty neighbour; a cell without one, a
// dead cell, is never read again. A State holds exactly that. Layer k is the set
// of states with k cells filled. Two states that a symmetry of the grid carries
// into each other have the same future; Canonical picks one of them. The best
// score so far is no part of a state: whoever needs it keeps it aside.
//
// # Orders, orientations, grids
//
// The value of a cell depends on which of its neighbours were filled before it and
// on nothing else. An order of filling therefore matters only by the direction that
// it gives to each edge of the king graph, from the earlier cell to the later one:
// an acyclic orientation. Orders with one orientation differ by exchanges of
// cells that do not touch, and fill the same grid; different orientations may
// still fill the same grid.
//
// Cells are numbered row by row from 0. A set of cells is a bit mask.
package chemin

import (
	"fmt"
	"math/bits"

	"grenier/kernels/fault"
	"grenier/layers/symmetry"
)

// MaxCells is the most cells that a board may have.
const MaxCells = 25

// ErrBoard reports a board that has no cells or too many.
var ErrBoard = fault.New(fault.Usage, "bad board")

// Cells is a set of cells: bit i stands for cell i.
type Cells = uint32

// Board is an empty grid. It does not change and is safe for concurrent use.
type Board struct {
	rows, cols int
	full       Cells
	near       [MaxCells]Cells
	symmetries []Symmetry
}

// Symmetry is a symmetry of the grid: cell i goes to cell Symmetry[i].
type Symmetry = symmetry.Map

// New returns the board with these rows and columns. It fails with ErrBoard.
func New(rows, cols int) (*Board, error) {
	if rows < 1 || cols < 1 || rows > MaxCells || cols > MaxCells || rows*cols > MaxCells {
		return nil, fmt.Errorf("%w: %d rows and %d columns: must be 1 to %d cells", ErrBoard, rows, cols, MaxCells)
	}
	b := &Board{rows: rows, cols: cols, full: 1<<(rows*cols) - 1}
	for i := range b.Cells() {
		for j := range b.Cells() {
			dr, dc := i/cols-j/cols, i%cols-j%cols
			if i != j && dr*dr <= 1 && dc*dc <= 1 {
				b.near[i] |= 1 << j
			}
		}
	}
	squares := make([]int, b.Cells())
	for i := range squares {
		squares[i] = i
	}
	b.symmetries = symmetry.OfGrid(rows, cols, squares)
	return b, nil
}

// Rows returns the number of rows.
func (b *Board) Rows() int { return b.rows }

// Cols returns the number of columns.
func (b *Board) Cols() int { return b.cols }

// Cells returns the number of cells.
func (b *Board) Cells() int { return b.rows * b.cols }

// Full returns the set of all cells.
func (b *Board) Full() Cells { return b.full }

// Near returns the neighbours of a cell.
func (b *Board) Near(cell int) Cells { return b.near[cell] }

// Symmetries returns the symmetries of the grid, the identity first. The slice
// must not be changed.
func (b *Board) Symmetries() []Symmetry { return b.symmetries }

// CanonicalSet returns the smallest image of a set under the symmetries, and
// appends to dst those that lead to it.
func (b *Board) CanonicalSet(dst []*Symmetry, set Cells) (Cells, []*Symmetry) {
	return symmetry.Least(dst, b.symmetries, set)
}

// Touching returns the cells of a set that have a neighbour in another set.
func (b *Board) Touching(set, other Cells) Cells {
	touching := Cells(0)
	for rest := set; rest != 0; rest &= rest - 1 {
		if cell := bits.TrailingZeros32(rest); b.near[cell]&other != 0 {
			touching |= 1 << cell
		}
	}
	return touching
}

// Component returns the cells of a set that kings' moves inside the set connect
// with its lowest cell; 0 for the empty set.
func (b *Board) Component(set Cells) Cells {
	reached := set & -set
	for fresh := reached; fresh != 0; {
		var around Cells
		for ; fresh != 0; fresh &= fresh - 1 {
			around |= b.near[bits.TrailingZeros32(fresh)]
		}
		fresh = around & set &^ reached
		reached |= fresh
	}
	return reached
}
