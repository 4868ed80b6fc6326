// Package reach searches a layers.Space forward: it finds the states that play
// can lead to from a start, and the number of moves each needs at least.
//
// The search is breadth first and keeps bits, not states: one bit by rank for
// each state that was reached, and two for the states of the current and the
// next depth. Bits are only allocated for the layers that play enters, so a
// search takes 3/8 of a byte for each state of these layers.
//
// Document 001 counts the configurations of awari "accessible during normal
// play" in this way; package access does so faster, and its tests
// compare the two.
package reach

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"grenier/layers"
)

// Set is the result of a search: the states that at least one move leads to.
// The start is in the set only if play can return to it.
type Set[S comparable] struct {
	space  layers.Space[S]
	seen   []bitset // by layer, nil where nothing was reached
	counts []uint64
	depths []uint64
}

// Contains reports whether a state of the space was reached.
func (s *Set[S]) Contains(state S) bool {
	layer, rank := s.space.Rank(state)
	return s.seen[layer] != nil && s.seen[layer].has(rank)
}

// Counts returns the number of states reached in each layer of the space.
func (s *Set[S]) Counts() []uint64 { return slices.Clone(s.counts) }

// Depths returns how many states are first reached by 0, 1, 2, ... moves. No
// state is reached by 0 moves: the start counts when play returns to it.
func (s *Set[S]) Depths() []uint64 { return slices.Clone(s.depths) }

// From returns the states of the space that one move or more leads to from
// start, which must be a state of the space. It fails only with the error of
// ctx.
func From[S comparable](ctx context.Context, space layers.Space[S], start S) (*Set[S], error) {
	s := newSearch(ctx, space)
	layer, rank := space.Rank(start)
	s.allocate(layer)
	s.next[layer].add(rank)
	for found := uint64(0); ; {
		s.set.depths = append(s.set.depths, found)
		s.now, s.next = s.next, s.now
		var err error
		if found, err = s.expand(); err != nil {
			return nil, fmt.Errorf("reach: %s: %w", space.Name(), err)
		}
		if found == 0 {
			return s.set, nil
		}
	}
}

// bitset is a set of ranks.
type bitset []uint64

func (b bitset) has(rank uint64) bool { return b[rank/64]>>(rank%64)&1 != 0 }

func (b bitset) add(rank uint64) { b[rank/64] |= 1 << (rank % 64) }

// search is a search in progress.
type search[S comparable] struct {
	ctx   context.Context
	set   *Set[S]
	now   []bitset // by layer, the states of the current depth
	next  []bitset // by layer, those of the next one
	moves []layers.Move[S]
	// found counts the states first reached at the next depth.
	found uint64
	// ticks counts states between two checks of ctx.
	ticks int
}

func newSearch[S comparable](ctx context.Context, space layers.Space[S]) *search[S] {
	n := space.Layers()
	return &search[S]{
		ctx:  ctx,
		set:  &Set[S]{space: space, seen: make([]bitset, n), counts: make([]uint64, n)},
		now:  make([]bitset, n),
		next: make([]bitset, n),
	}
}

// allocate makes room for the bits of a layer.
func (s *search[S]) allocate(layer int) {
	words := (s.set.space.Size(layer) + 63) / 64
	s.set.seen[layer] = make(bitset, words)
	s.now[layer] = make(bitset, words)
	s.next[layer] = make(bitset, words)
}

// expand plays every move from the states of the current depth, removes them,
// and returns the number of states found.
func (s *search[S]) expand() (found uint64, err error) {
	s.found = 0
	for layer, states := range s.now {
		for w := range states {
			for ; states[w] != 0; states[w] &= states[w] - 1 {
				rank := uint64(w)*64 + uint64(bits.TrailingZeros64(states[w]))
				if err := s.play(s.set.space.Unrank(layer, rank)); err != nil {
					return 0, err
				}
			}
		}
	}
	return s.found, nil
}

// play visits the successors of one state.
func (s *search[S]) play(state S) error {
	if s.ticks++; s.ticks%4096 == 0 && s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	s.moves = s.set.space.Successors(s.moves[:0], state)
	for _, m := range s.moves {
		layer, rank := s.set.space.Rank(m.To)
		if s.set.seen[layer] == nil {
			s.allocate(layer)
		}
		if s.set.seen[layer].has(rank) {
			continue
		}
		s.set.seen[layer].add(rank)
		s.next[layer].add(rank)
		s.set.counts[layer]++
		s.found++
	}
	return nil
}
