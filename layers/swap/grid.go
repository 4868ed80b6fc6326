// Package swap defines the swap puzzle (document 004): a grid of m rows and n
// columns holds the tiles 0 to mn-1, one in each cell; a move exchanges the
// tiles of two cells that share a side; the puzzle is solved when every tile is
// in the cell with its number. Cells are numbered row by row from 0.
//
// # States
//
// A State is a permutation, the list of the tiles cell by cell. Swapping cells a
// and b turns s into s after the transposition (a b). The distance of s, the
// least number of swaps that solve it, is therefore the length of s as a product
// of these transpositions, and has three symmetries:
//
//   - its parity is the parity of the permutation;
//   - a state and its inverse have the same distance;
//   - a rotation or reflection of the grid, applied to cells and tiles alike
//     (conjugation), changes no distance.
//
// More generally any states s and t are as far apart as t^-1 s is from home.
//
// Grids of up to MaxCells cells have their states in a word, as searches
// of many states need. A List is a state of any grid, of up to MaxListed cells.
//
// # Text
//
// A puzzle is written as in the course of document 004: a line with m and n,
// then the rows. Tiles are numbered from 1 or from 0, the whole grid alike.
package swap

import (
	"errors"
	"fmt"

	"grenier/kernels/fault"
	"grenier/kernels/perm"
)

// The largest numbers of cells.
const (
	MaxCells  = perm.MaxPacked // of a grid with a State
	MaxListed = 64             // of any grid
)

var (
	// ErrSize reports a grid without cells, or with more than are possible.
	ErrSize = fault.New(fault.Usage, "bad grid size")
	// ErrTiles reports a list of tiles that does not fill a grid.
	ErrTiles = fault.New(fault.Usage, "bad tiles")
	// ErrDepths reports numbers of states that no search of the grid finds.
	ErrDepths = errors.New("impossible numbers of states")
)

// State is the contents of a grid: item i is the tile in cell i. States of different
// grids may be equal; the grid goes with them.
type State = perm.Packed

// Swap is a move: it exchanges the tiles of the cells A and B, A < B.
type Swap struct{ A, B int }

// Grid is a size of grid with its moves. It is immutable and safe for concurrent
// use.
type Grid struct {
	rows, cols int
	swaps      []Swap
}

// NewGrid returns the grid of that many rows and columns. It fails with ErrSize
// when a side is not positive or there are more than MaxCells cells.
func NewGrid(rows, cols int) (*Grid, error) { return newGrid(rows, cols, MaxCells) }

// NewListedGrid returns the grid of that many rows and columns, whose states are a
// List: methods that take a State are only for grids for which Packs holds. It fails with ErrSize when a side is not positive or there are more
// than MaxListed cells.
func NewListedGrid(rows, cols int) (*Grid, error) { return newGrid(rows, cols, MaxListed) }

func newGrid(rows, cols, most int) (*Grid, error) {
	if rows < 1 || cols < 1 || rows > most || cols > most || rows*cols > most {
		return nil, fmt.Errorf("%w: %d x %d: must be 1 to %d cells", ErrSize, rows, cols, most)
	}
	g := &Grid{rows: rows, cols: cols}
	for cell := range rows * cols {
		if (cell+1)%cols != 0 {
			g.swaps = append(g.swaps, Swap{cell, cell + 1})
		}
		if cell+cols < rows*cols {
			g.swaps = append(g.swaps, Swap{cell, cell + cols})
		}
	}
	return g, nil
}

// Rows returns the number of rows.
func (g *Grid) Rows() int { return g.rows }

// Cols returns the number of columns.
func (g *Grid) Cols() int { return g.cols }

// Cells returns the number of cells.
func (g *Grid) Cells() int { return g.rows * g.cols }

// Swaps returns the moves, m(n-1) horizontal and (m-1)n vertical ones, sorted by
// A, then B. The slice is shared: do not change it.
func (g *Grid) Swaps() []Swap { return g.swaps }

// Apply returns the state after a move.
func (g *Grid) Apply(s State, m Swap) State { return s.Swap(m.A, m.B) }

// Goal returns the solved state.
func (g *Grid) Goal() State { return perm.Identity(g.Cells()) }

// Parity returns 0 or 1: the parity of the number of swaps that solve s.
func (g *Grid) Parity(s State) int { return s.Parity(g.Cells()) }

// Inverse returns the state that has tile i in cell j where s has tile j in cell
// i. It has the same distance as s.
func (g *Grid) Inverse(s State) State { return s.Inverse(g.Cells()) }

// CheckDepths fails with ErrDepths unless depths may be the numbers of states at distance 0,
// 1, 2, ... from the goal, of all states if the search is done: the goal is alone, the next ones are as many as
// the swaps, no depth is empty, and each swap changes the parity, so even depths have half of all states at
// most, and odd ones the other half.
func (g *Grid) CheckDepths(depths []uint64, done bool) error {
	all := perm.Factorial(g.Cells())
	left := [2]uint64{(all + 1) / 2, all / 2} // of each parity
	for d, n := range depths {
		known := d == 0 && n != 1 || d == 1 && n != uint64(len(g.swaps))
		if known || n == 0 || n > left[d&1] {
			return fmt.Errorf("%w: %d at depth %d, of %d with this parity that are left", ErrDepths, n, d, left[d&1])
		}
		left[d&1] -= n
	}
	if done && left != [2]uint64{} {
		return fmt.Errorf("%w: %d even and %d odd ones were not found", ErrDepths, left[0], left[1])
	}
	return nil
}
