// Package solitairetest has peg solitaire as a state space, for the oracles of tests.
package solitairetest

import (
	"math/bits"

	"grenier/kernels/colex"
	"grenier/layers"
	"grenier/layers/solitaire"
)

// Space is all positions of a board as a layered state space: layer k has those with k pegs, in
// their order as numbers. No jump stays in its layer and there is no score: rewards and
// Terminal are 0.
type Space struct {
	*solitaire.Board
	choose [solitaire.MaxHoles + 1][solitaire.MaxHoles + 1]uint64 // k of n
}

var _ layers.Space[solitaire.Position] = (*Space)(nil)

// NewSpace returns the space of a board.
func NewSpace(b *solitaire.Board) (*Space, error) {
	s := &Space{Board: b}
	for n := range b.Holes() + 1 {
		for k := range n + 1 {
			var err error
			if s.choose[n][k], err = colex.Binomial(n, k); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// Name returns "solitaire, english".
func (s *Space) Name() string { return "solitaire, " + s.Board.Name() }

// Layers returns one more than the number of holes.
func (s *Space) Layers() int { return s.Holes() + 1 }

// Size returns the number of ways to choose layer of the holes.
func (s *Space) Size(layer int) uint64 { return s.choose[s.Holes()][layer] }

// Rank returns the number of pegs, and the colex rank of the holes that they stand in.
func (s *Space) Rank(p solitaire.Position) (layer int, rank uint64) {
	for rest := p; rest != 0; rest &= rest - 1 {
		layer++
		rank += s.choose[bits.TrailingZeros64(rest)][layer]
	}
	return layer, rank
}

// Unrank returns the position with this rank.
func (s *Space) Unrank(layer int, rank uint64) solitaire.Position {
	p := solitaire.Position(0)
	for hole := s.Holes() - 1; layer > 0; hole-- {
		if n := s.choose[hole][layer]; rank >= n {
			rank -= n
			p |= 1 << hole
			layer--
		}
	}
	return p
}

// Successors appends the positions after one jump.
func (s *Space) Successors(dst []layers.Move[solitaire.Position], p solitaire.Position) []layers.Move[solitaire.Position] {
	var buffer [4 * solitaire.MaxHoles]uint8
	for _, number := range s.Legal(buffer[:0], p) {
		dst = append(dst, layers.Move[solitaire.Position]{To: p ^ s.Jumps()[number].Pegs()})
	}
	return dst
}

// Predecessors returns dst: no jump stays in its layer.
func (s *Space) Predecessors(dst []solitaire.Position, _ solitaire.Position) []solitaire.Position {
	return dst
}

// Terminal returns 0.
func (s *Space) Terminal(solitaire.Position) int { return 0 }
