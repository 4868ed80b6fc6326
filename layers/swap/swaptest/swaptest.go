// Package swaptest has what tests of several packages need of the swap puzzle.
package swaptest

import (
	"grenier/kernels/perm"
	"grenier/layers/swap"
)

// Distances returns the distance of every state by rank, from a plain
// breadth-first search.
func Distances(g *swap.Grid) []uint8 {
	n := g.Cells()
	depth := make([]uint8, perm.Factorial(n))
	for i := range depth {
		depth[i] = 0xff
	}
	queue := []swap.State{g.Goal()}
	depth[g.Goal().Rank(n)] = 0
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, m := range g.Swaps() {
			if r := g.Apply(s, m).Rank(n); depth[r] == 0xff {
				depth[r] = depth[s.Rank(n)] + 1
				queue = append(queue, g.Apply(s, m))
			}
		}
	}
	return depth
}
