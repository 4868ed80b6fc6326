// Package reach searches a layers.Space forward, breadth first: it finds the states that play
// can lead to from a start.
//
// Document 001 counts the configurations of awari "accessible during normal
// play" in this way; package access does so faster, and its tests
// compare the two.
package reach

import (
	"context"
	"fmt"
	"slices"

	"grenier/layers"
)

// Set is the result of a search: the states that at least one move leads to.
// The start is in the set only if play can return to it.
type Set[S comparable] struct {
	space  layers.Space[S]
	seen   [][]bool // by layer and rank, nil where nothing was reached
	counts []uint64
}

// Contains reports whether a state of the space was reached.
func (s *Set[S]) Contains(state S) bool {
	layer, rank := s.space.Rank(state)
	return s.seen[layer] != nil && s.seen[layer][rank]
}

// Counts returns the number of states reached in each layer of the space.
func (s *Set[S]) Counts() []uint64 { return slices.Clone(s.counts) }

// From returns the states of the space that one move or more leads to from
// start, which must be a state of the space. It fails only with the error of
// ctx.
func From[S comparable](ctx context.Context, space layers.Space[S], start S) (*Set[S], error) {
	n := space.Layers()
	s := &Set[S]{space: space, seen: make([][]bool, n), counts: make([]uint64, n)}
	var moves []layers.Move[S]
	for now, next := []S{start}, []S(nil); len(now) > 0; now, next = next, now[:0] {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("reach: %s: %w", space.Name(), err)
		}
		for _, state := range now {
			moves = space.Successors(moves[:0], state)
			for _, m := range moves {
				if s.add(m.To) {
					next = append(next, m.To)
				}
			}
		}
	}
	return s, nil
}

// add adds a state and reports whether it is new.
func (s *Set[S]) add(state S) bool {
	layer, rank := s.space.Rank(state)
	if s.seen[layer] == nil {
		s.seen[layer] = make([]bool, s.space.Size(layer))
	}
	if s.seen[layer][rank] {
		return false
	}
	s.seen[layer][rank] = true
	s.counts[layer]++
	return true
}
