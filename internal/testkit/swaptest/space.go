package swaptest

import (
	"fmt"

	"grenier/kernels/perm"
	"grenier/layers"
	"grenier/layers/swap"
)

// Space is a grid as a state space of one layer: the states by lexicographic rank, and all moves are
// quiet. Breadth-first depths would be finer layers, but there is no way to number the states of
// a depth without having searched, and half of the moves would climb. There is no score: Terminal
// returns 0.
type Space struct{ *swap.Grid }

var _ layers.Space[swap.State] = Space{}

// Name returns "swap, 3 x 4".
func (s Space) Name() string { return fmt.Sprintf("swap, %d x %d", s.Rows(), s.Cols()) }

// Layers returns 1.
func (s Space) Layers() int { return 1 }

// Size returns the number of states, Cells factorial.
func (s Space) Size(int) uint64 { return perm.Factorial(s.Cells()) }

// Rank returns layer 0 and the lexicographic rank of the list of tiles.
func (s Space) Rank(state swap.State) (layer int, rank uint64) { return 0, state.Rank(s.Cells()) }

// Unrank returns the state with this rank.
func (s Space) Unrank(_ int, rank uint64) swap.State { return perm.UnrankPacked(s.Cells(), rank) }

// Successors appends the states after one swap, in the order of Swaps.
func (s Space) Successors(dst []layers.Move[swap.State], state swap.State) []layers.Move[swap.State] {
	for _, m := range s.Swaps() {
		dst = append(dst, layers.Move[swap.State]{To: s.Apply(state, m)})
	}
	return dst
}

// Predecessors appends the same states: a swap undoes itself.
func (s Space) Predecessors(dst []swap.State, state swap.State) []swap.State {
	for _, m := range s.Swaps() {
		dst = append(dst, s.Apply(state, m))
	}
	return dst
}

// Terminal returns 0.
func (s Space) Terminal(swap.State) int { return 0 }
