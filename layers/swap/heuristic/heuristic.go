// Package heuristic has lower bounds on the number of swaps that solve a grid of
// the swap puzzle, for A* and its relatives (document 004, "Heuristiques", read
// with ERRATA).
//
// A grid of m rows and n columns is a slice of mn tiles, row by row: grid[c] is the
// tile in cell c, and tile t is at home in cell t. A swap exchanges the tiles of two
// cells that share a side. Every bound here is for the way home, the identity.
//
// A bound is admissible if it never exceeds the distance, and consistent if a swap
// changes it by at most 1. A* finds shortest solutions with an admissible bound; if
// the bound is not consistent it must reopen nodes that it has closed. Flags say
// which of the two holds; tests try every grid and every swap of small shapes.
//
//   - Manhattan, Inversions and Walking need little or no preparation.
//   - Static adds up pattern databases of disjoint sets of tiles, which Pattern
//     describes and package pipeline/patterns builds.
//   - Dynamic covers the tiles of each grid anew by small sets, from a table of all
//     sets of up to k tiles.
//   - Lift raises a bound to the parity of the permutation, Max takes the largest
//     of several, Inverse looks at the inverse, which is as far from home.
package heuristic

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// MaxCells is the largest number of cells of a grid.
const MaxCells = 64

// ErrShape reports a shape that a bound cannot serve.
var ErrShape = errors.New("shape of the grid not supported")

// Heuristic is a lower bound on the distance from home. Implementations are safe for
// concurrent use.
type Heuristic interface {
	// Name says which bound it is, for example "manhattan".
	Name() string
	// Admissible reports whether Estimate never exceeds the distance.
	Admissible() bool
	// Consistent reports whether no swap changes Estimate by more than 1.
	Consistent() bool
	// Estimate returns the bound for a grid of the shape that the bound was made
	// for. It does not keep or change the grid.
	Estimate(grid []uint8) int
}

func checkShape(rows, cols int) error {
	if rows < 1 || cols < 1 || rows > MaxCells || cols > MaxCells || rows*cols > MaxCells {
		return fmt.Errorf("%w: %d x %d: want at least 1 x 1 and at most %d cells", ErrShape, rows, cols, MaxCells)
	}
	return nil
}

// Zero is the bound 0, which makes A* the algorithm of Dijkstra.
type Zero struct{}

// Name returns "zero".
func (Zero) Name() string { return "zero" }

// Admissible returns true.
func (Zero) Admissible() bool { return true }

// Consistent returns true.
func (Zero) Consistent() bool { return true }

// Estimate returns 0.
func (Zero) Estimate([]uint8) int { return 0 }

// Lift raises a bound to the parity of the permutation: all ways home have it
// (ERRATA, 004). The bound stays admissible if it was, and consistent too: a swap
// changes the parity, hence the raised bound by an odd number, which is at most
// 1 + 1 and thus 1.
type Lift struct{ Heuristic }

// Name returns the name of the bound with "+parity".
func (l Lift) Name() string { return l.Heuristic.Name() + "+parity" }

// Estimate returns the least number from the bound up with the parity of the grid.
func (l Lift) Estimate(grid []uint8) int {
	h := l.Heuristic.Estimate(grid)
	return h + (h^parity(grid))&1
}

// parity returns 0 for even permutations and 1 for odd ones: cells minus cycles.
func parity(grid []uint8) int {
	var seen uint64
	odd := len(grid)
	for c := range grid {
		if seen>>c&1 != 0 {
			continue
		}
		odd--
		for at := c; seen>>at&1 == 0; at = int(grid[at]) {
			seen |= 1 << at
		}
	}
	return odd & 1
}

// Max is the largest of several bounds. It is admissible or consistent if all of
// them are.
type Max []Heuristic

// Name returns the names, with commas between.
func (m Max) Name() string {
	names := make([]string, len(m))
	for i, h := range m {
		names[i] = h.Name()
	}
	return strings.Join(names, ",")
}

// Admissible reports whether all of the bounds are.
func (m Max) Admissible() bool {
	return !slices.ContainsFunc(m, func(h Heuristic) bool { return !h.Admissible() })
}

// Consistent reports whether all of the bounds are.
func (m Max) Consistent() bool {
	return !slices.ContainsFunc(m, func(h Heuristic) bool { return !h.Consistent() })
}

// Estimate returns the largest bound, 0 if there are none.
func (m Max) Estimate(grid []uint8) int {
	most := 0
	for _, h := range m {
		most = max(most, h.Estimate(grid))
	}
	return most
}

// Inverse is a bound of the inverse permutation, which is as far from home: swaps
// are their own inverses, so a solution read backwards solves the inverse. It is
// admissible if the bound is. It is not consistent in general: a swap of cells is
// one of tiles in the inverse.
type Inverse struct{ Heuristic }

// Name returns the name of the bound with "+inverse".
func (v Inverse) Name() string { return v.Heuristic.Name() + "+inverse" }

// Consistent returns false.
func (Inverse) Consistent() bool { return false }

// Estimate returns the bound for the inverse.
func (v Inverse) Estimate(grid []uint8) int {
	var inverse [MaxCells]uint8
	invert(&inverse, grid)
	return v.Heuristic.Estimate(inverse[:len(grid)])
}

// invert sets cells to the cell of each tile.
func invert(cells *[MaxCells]uint8, grid []uint8) {
	for c, t := range grid {
		cells[t&(MaxCells-1)] = uint8(c)
	}
}

// Manhattan is half the sum of the Manhattan distances of all tiles from home: a
// swap moves two tiles by 1 (document 004, theorem 3.2). The sum is even always, so
// there is nothing to round (ERRATA).
type Manhattan struct {
	cells    int
	distance []uint8 // of tile t in cell c: [t*cells+c]
}

// NewManhattan returns the bound for a shape. It fails with ErrShape.
func NewManhattan(rows, cols int) (*Manhattan, error) {
	if err := checkShape(rows, cols); err != nil {
		return nil, err
	}
	n := rows * cols
	m := &Manhattan{cells: n, distance: make([]uint8, n*n)}
	for t := range n {
		for c := range n {
			m.distance[t*n+c] = uint8(abs(t/cols-c/cols) + abs(t%cols-c%cols))
		}
	}
	return m, nil
}

// Name returns "manhattan".
func (*Manhattan) Name() string { return "manhattan" }

// Admissible returns true.
func (*Manhattan) Admissible() bool { return true }

// Consistent returns true.
func (*Manhattan) Consistent() bool { return true }

// Estimate returns half of Sum.
func (m *Manhattan) Estimate(grid []uint8) int { return m.Sum(grid) / 2 }

// Sum returns the sum of the Manhattan distances of all tiles from home.
func (m *Manhattan) Sum(grid []uint8) int {
	sum := 0
	for c, t := range grid {
		sum += int(m.distance[int(t)*m.cells+c])
	}
	return sum
}

// Change returns what is added to Sum when the tiles of cells a and b change places:
// -2, 0 or 2 if these cells share a side.
func (m *Manhattan) Change(grid []uint8, a, b int) int {
	s, t := m.distance[int(grid[a])*m.cells:], m.distance[int(grid[b])*m.cells:]
	return int(s[b]) - int(s[a]) + int(t[a]) - int(t[b])
}

// MaxManhattan returns the largest Sum of a shape: n floor(m^2/2) + m floor(n^2/2),
// reached by the grid in reverse order (conjecture 3.3 of document 004, which ERRATA
// states as a theorem).
func MaxManhattan(rows, cols int) int { return cols*(rows*rows/2) + rows*(cols*cols/2) }

// Inversions counts inversions (i < j, grid[i] > grid[j]) row by row, and the same
// column by column after reflecting cells and tiles at the main diagonal. A swap
// changes one count by 1 and the other by at most 2n-1 or 2m-1, so the sum divided
// by 2 max(m, n) and rounded up is a bound (theorem 3.5 of document 004 with ERRATA).
type Inversions struct {
	divisor   int
	reflected []uint8 // reflected[c] is cell or tile c in the numbering by columns
	order     []uint8 // the inverse: cells in the order of columns
}

// NewInversions returns the bound for a shape. It fails with ErrShape.
func NewInversions(rows, cols int) (*Inversions, error) {
	if err := checkShape(rows, cols); err != nil {
		return nil, err
	}
	v := &Inversions{divisor: 2 * max(rows, cols), reflected: make([]uint8, rows*cols), order: make([]uint8, rows*cols)}
	for c := range rows * cols {
		r := c%cols*rows + c/cols
		v.reflected[c] = uint8(r)
		v.order[r] = uint8(c)
	}
	return v, nil
}

// Name returns "inversion".
func (*Inversions) Name() string { return "inversion" }

// Admissible returns true.
func (*Inversions) Admissible() bool { return true }

// Consistent returns true.
func (*Inversions) Consistent() bool { return true }

// Estimate takes one step for each cell: the tiles seen before are a bit set, of
// which the part above the next tile is counted.
func (v *Inversions) Estimate(grid []uint8) int {
	var byRow, byColumn uint64
	count := 0
	for i, t := range grid {
		count += bits.OnesCount64(byRow >> (t & 63))
		byRow |= 1 << (t & 63)
		t = v.reflected[grid[v.order[i]]]
		count += bits.OnesCount64(byColumn >> (t & 63))
		byColumn |= 1 << (t & 63)
	}
	return (count + v.divisor - 1) / v.divisor
}

func abs(x int) int { return max(x, -x) }
