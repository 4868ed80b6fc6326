package swap

import (
	"math/bits"

	"grenier/kernels/perm"
)

// List is a state of a grid of any size: item i is the tile in cell i.
type List []uint8

// Packs reports whether states of the grid fit a State: it has at most MaxCells cells.
func (g *Grid) Packs() bool { return g.Cells() <= MaxCells }

// Home returns the solved state as a list.
func (g *Grid) Home() List {
	l := make(List, g.Cells())
	for i := range l {
		l[i] = uint8(i)
	}
	return l
}

// List returns a state as a list.
func (g *Grid) List(s State) List {
	l := make(List, g.Cells())
	s.Unpack(l)
	return l
}

// State returns the list as a State, for a grid that Packs reports.
func (l List) State() State {
	var s State
	for i, t := range l {
		s |= State(t) << (4 * i)
	}
	return s
}

// Toward returns the state that is solved by the moves that lead from l to target, and by no
// others: target^-1 l, each tile numbered by its cell in target. Both have the same length.
func (l List) Toward(target List) List {
	cell := make([]uint8, len(l))
	for c, tile := range target {
		cell[tile] = uint8(c)
	}
	relative := make(List, len(l))
	for c, tile := range l {
		relative[c] = cell[tile]
	}
	return relative
}

// Swap does a move. The same move undoes it.
func (l List) Swap(m Swap) { l[m.A], l[m.B] = l[m.B], l[m.A] }

// Solved reports whether every tile is at home.
func (l List) Solved() bool {
	for i, t := range l {
		if int(t) != i {
			return false
		}
	}
	return true
}

// Parity returns 0 or 1: the parity of the number of swaps that solve l.
func (l List) Parity() int { return perm.Parity(l) }

// Valid reports whether l has the tiles 0 to len(l)-1, each once.
func (l List) Valid() bool {
	var seen uint64
	for _, t := range l {
		if int(t) >= len(l) {
			return false
		}
		seen |= 1 << t
	}
	return bits.OnesCount64(seen) == len(l)
}
