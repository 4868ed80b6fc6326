package chemin

import (
	"math/bits"
	"slices"

	"grenier/layers/symmetry"
)

// State has all that the rest of a game depends on.
type State struct {
	// Filled is the set of filled cells.
	Filled Cells
	// Values holds the values of the filled cells that have an empty neighbour;
	// it is 0 for all others.
	Values [MaxCells]uint32
}

// Value returns the number that is written if cell is filled next.
func (b *Board) Value(s *State, cell int) uint32 {
	if b.near[cell]&s.Filled == 0 {
		return 1
	}
	sum := uint32(0)
	for around := b.near[cell] & s.Filled; around != 0; around &= around - 1 {
		sum += s.Values[bits.TrailingZeros32(around)]
	}
	return sum
}

// Fill returns the state after filling an empty cell, and the number written.
func (b *Board) Fill(s *State, cell int) (next State, value uint32) {
	value = b.Value(s, cell)
	next = *s
	next.Filled |= 1 << cell
	next.Values[cell] = value
	for check := next.Filled & (b.near[cell] | 1<<cell); check != 0; check &= check - 1 {
		if c := bits.TrailingZeros32(check); b.near[c]&^next.Filled == 0 {
			next.Values[c] = 0
		}
	}
	return next, value
}

// Move carries a state along a symmetry.
func (s *State) Move(by *Symmetry) State {
	moved := State{Filled: symmetry.Image(by, s.Filled)}
	for rest := s.Filled; rest != 0; rest &= rest - 1 {
		cell := bits.TrailingZeros32(rest)
		moved.Values[by[cell]] = s.Values[cell]
	}
	return moved
}

// Canonical returns the smallest image of a state under the symmetries, by
// filled cells and then by values, and a symmetry that leads to it.
func (b *Board) Canonical(s *State) (State, *Symmetry) {
	var buffer [8]*Symmetry
	_, ways := b.CanonicalSet(buffer[:0], s.Filled)
	return Least(s, ways)
}

// Least returns the smallest image of a state under some symmetries that all
// carry its filled cells to the same set, and one that leads to it.
func Least(s *State, ways []*Symmetry) (State, *Symmetry) {
	best, by := s.Move(ways[0]), ways[0]
	for _, way := range ways[1:] {
		if moved := s.Move(way); slices.Compare(moved.Values[:], best.Values[:]) < 0 {
			best, by = moved, way
		}
	}
	return best, by
}
