// Package heuristic has lower bounds on the number of swaps that solve a grid of
// the swap puzzle, for A* and its relatives (document 004, "Heuristiques", read
// with docs/sources.md).
//
// Grids, states and swaps are from package swap. Every bound here is for the way
// to the solved state, where each tile is at home.
//
// All bounds are admissible: they never exceed the distance. A bound is consistent if a swap
// changes it by at most 1. A* finds shortest solutions with an admissible bound; if
// the bound is not consistent it must reopen nodes that it has closed. Tests try every
// grid and every swap of small shapes.
//
//   - Manhattan, Inversions and Walking need little or no preparation.
//   - Static adds up pattern databases of disjoint sets of tiles, which Pattern
//     describes and package pipeline/swap/patterns builds.
//   - Dynamic covers the tiles of each grid by small sets of its own, from a table of all
//     sets of up to k tiles.
//   - Follow keeps a bound up to date from swap to swap, for grids of more cells than a
//     State has as well, which Estimate cannot take.
//   - Lift raises a bound to the parity of the permutation, Max takes the largest
//     of several, Inverse looks at the inverse, which is as far from home.
package heuristic

import (
	"slices"
	"strings"

	"grenier/kernels/perm"
	"grenier/layers/swap"
)

// Heuristic is an admissible lower bound on the distance from home. Implementations are safe for
// concurrent use.
type Heuristic interface {
	// Name says which bound it is, for example "manhattan".
	Name() string
	// Consistent reports whether no swap changes Estimate by more than 1.
	Consistent() bool
	// Estimate returns the bound for a state of the grid that the bound was made
	// for.
	Estimate(s swap.State) int
}

// consistent is part of bounds that are.
type consistent struct{}

// Consistent returns true.
func (consistent) Consistent() bool { return true }

// Zero is the bound 0, which makes A* the algorithm of Dijkstra.
type Zero struct{ consistent }

// Name returns "zero".
func (Zero) Name() string { return "zero" }

// Estimate returns 0.
func (Zero) Estimate(swap.State) int { return 0 }

// Lift raises a bound to the parity of the permutation: all ways home have it
// (docs/sources.md, 004). The bound stays consistent if it was: a swap changes the parity, hence the raised bound by an odd number, which is at most
// 1 + 1 and thus 1.
type Lift struct {
	Heuristic
	Grid *swap.Grid
}

// Name returns the name of the bound with "+parity".
func (l Lift) Name() string { return l.Heuristic.Name() + "+parity" }

// Estimate returns the least number from the bound up with the parity of the state.
func (l Lift) Estimate(s swap.State) int {
	return lifted(l.Heuristic.Estimate(s), l.Grid.Parity(s))
}

// Max is the largest of several bounds. It is consistent if all of them are.
type Max []Heuristic

// Name returns the names, with commas between.
func (m Max) Name() string {
	names := make([]string, len(m))
	for i, h := range m {
		names[i] = h.Name()
	}
	return strings.Join(names, ",")
}

// Consistent reports whether all of the bounds are.
func (m Max) Consistent() bool {
	return !slices.ContainsFunc(m, func(h Heuristic) bool { return !h.Consistent() })
}

// Estimate returns the largest bound, 0 if there are none.
func (m Max) Estimate(s swap.State) int {
	most := 0
	for _, h := range m {
		most = max(most, h.Estimate(s))
	}
	return most
}

// Inverse is a bound for the inverse, which is as far from home. It is not consistent in general: a swap of cells is one of tiles in
// the inverse.
type Inverse struct {
	Heuristic
	Grid *swap.Grid
}

// Name returns the name of the bound with "+inverse".
func (v Inverse) Name() string { return v.Heuristic.Name() + "+inverse" }

// Consistent returns false.
func (Inverse) Consistent() bool { return false }

// Estimate returns the bound for the inverse.
func (v Inverse) Estimate(s swap.State) int { return v.Heuristic.Estimate(v.Grid.Inverse(s)) }

// Manhattan is half the sum of the Manhattan distances of all tiles from home: a
// swap moves two tiles by 1 (document 004, theorem 3.2). The sum is even always, so
// there is nothing to round (docs/sources.md).
type Manhattan struct {
	consistent
	cells    int
	distance [swap.MaxListed][swap.MaxListed]uint8 // from cell to cell
}

// NewManhattan returns the bound for a grid, which Follow takes of any size.
func NewManhattan(g *swap.Grid) *Manhattan {
	m := &Manhattan{cells: g.Cells()}
	for a := range m.cells {
		for b := range m.cells {
			down, right := a/g.Cols()-b/g.Cols(), a%g.Cols()-b%g.Cols()
			m.distance[a][b] = uint8(max(down, -down) + max(right, -right))
		}
	}
	return m
}

// Name returns "manhattan".
func (*Manhattan) Name() string { return "manhattan" }

// Estimate returns half of Sum.
func (m *Manhattan) Estimate(s swap.State) int { return m.Sum(s) / 2 }

// Sum returns the sum of the Manhattan distances of all tiles from home.
func (m *Manhattan) Sum(s swap.State) int {
	sum := 0
	for c := range m.cells {
		sum += int(m.distance[c&15][s&15])
		s >>= 4
	}
	return sum
}

// SumList is Sum for a state of a grid of any size.
func (m *Manhattan) SumList(l swap.List) int {
	sum := 0
	for c, t := range l {
		sum += int(m.distance[c][t])
	}
	return sum
}

// Change returns the change of Sum by a move: -2, 0 or 2.
func (m *Manhattan) Change(s swap.State, move swap.Swap) int {
	a, b := s.At(move.A), s.At(move.B)
	return int(m.distance[move.B][a]) + int(m.distance[move.A][b]) - int(m.distance[move.A][a]) - int(m.distance[move.B][b])
}

// MaxManhattan returns the largest Sum of a grid: n floor(m^2/2) + m floor(n^2/2),
// reached by the tiles in reverse order (conjecture 3.3 of document 004; the proof
// is in docs/sources.md).
func MaxManhattan(g *swap.Grid) int {
	m, n := g.Rows(), g.Cols()
	return n*(m*m/2) + m*(n*n/2)
}

// Inversions counts inversions (i < j, tile in i > tile in j) row by row, and the same
// column by column, after a reflection of cells and tiles at the main diagonal. A swap
// changes one count by 1 and the other by at most 2n-1 or 2m-1, so the sum divided
// by 2 max(m, n) and rounded up is a bound (theorem 3.5 of document 004, read with docs/sources.md).
type Inversions struct {
	consistent
	cells, divisor   int
	reflect, restore perm.Packed // cells in the numbering by columns, and back
}

// NewInversions returns the bound for a grid, which Follow takes of any size.
func NewInversions(g *swap.Grid) *Inversions {
	v := &Inversions{cells: g.Cells(), divisor: 2 * max(g.Rows(), g.Cols())}
	if !g.Packs() {
		return v
	}
	for c := range v.cells {
		v.reflect |= perm.Packed(c%g.Cols()*g.Rows()+c/g.Cols()) << (4 * c)
	}
	v.restore = v.reflect.Inverse(v.cells)
	return v
}

// Name returns "inversion".
func (*Inversions) Name() string { return "inversion" }

// Estimate takes a fixed number of steps for each cell (perm.Packed.Inversions).
func (v *Inversions) Estimate(s swap.State) int {
	byColumn := v.reflect.Compose(s, v.cells).Compose(v.restore, v.cells)
	count := s.Inversions(v.cells) + byColumn.Inversions(v.cells)
	return (count + v.divisor - 1) / v.divisor
}
