package swap

import (
	"fmt"

	"grenier/kernels/perm"
	"grenier/layers"
)

// Space is a grid as a state space of one layer, the package comment says why.
// There is no score: Terminal returns 0.
type Space struct{ *Grid }

var _ layers.Space[State] = Space{}

// Name returns "swap, 3 x 4".
func (s Space) Name() string { return fmt.Sprintf("swap, %d x %d", s.rows, s.cols) }

// Layers returns 1.
func (s Space) Layers() int { return 1 }

// Size returns the number of states, Cells factorial.
func (s Space) Size(int) uint64 { return perm.Factorial(s.Cells()) }

// Rank returns layer 0 and the lexicographic rank of the list of tiles.
func (s Space) Rank(state State) (layer int, rank uint64) { return 0, state.Rank(s.Cells()) }

// Unrank returns the state with this rank.
func (s Space) Unrank(_ int, rank uint64) State { return perm.UnrankPacked(s.Cells(), rank) }

// Successors appends the states after one swap, in the order of Swaps.
func (s Space) Successors(dst []layers.Move[State], state State) []layers.Move[State] {
	for _, m := range s.swaps {
		dst = append(dst, layers.Move[State]{To: s.Apply(state, m)})
	}
	return dst
}

// Predecessors appends the same states: a swap undoes itself.
func (s Space) Predecessors(dst []State, state State) []State {
	for _, m := range s.swaps {
		dst = append(dst, s.Apply(state, m))
	}
	return dst
}

// Terminal returns 0.
func (s Space) Terminal(State) int { return 0 }
