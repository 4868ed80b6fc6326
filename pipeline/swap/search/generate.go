package search

import (
	"fmt"
	"math/rand/v2"

	"grenier/kernels/fault"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
)

// ErrDifficulty reports a difficulty outside 0 to 1.
var ErrDifficulty = fault.New(fault.Usage, "difficulty not possible")

// Generate returns a random state whose sum of Manhattan distances is the share
// difficulty of the largest one that there is (heuristic.MaxManhattan), to the nearest even
// number, as document 004 makes grids of controlled difficulty. It fails with
// ErrDifficulty.
//
// It shuffles the tiles and then exchanges random pairs, keeping exchanges that do
// not lead away from the sum wanted, and starts over if that takes too long.
func Generate(g *swap.Grid, difficulty float64, r *rand.Rand) (swap.List, error) {
	if !(difficulty >= 0 && difficulty <= 1) {
		return nil, fmt.Errorf("%w: %v: expected 0 to 1", ErrDifficulty, difficulty)
	}
	m, n := heuristic.NewManhattan(g), g.Cells()
	want := 2 * int(difficulty*float64(heuristic.MaxManhattan(g))/2+0.5)
	l := g.Home()
	for {
		for c, t := range r.Perm(n) {
			l[c] = uint8(t)
		}
		for range 100 * n * n {
			off := m.SumList(l) - want
			if off == 0 {
				return l, nil
			}
			exchange := swap.Swap{A: r.IntN(n), B: r.IntN(n)}
			l.Swap(exchange)
			if change := m.SumList(l) - want; change*change > off*off {
				l.Swap(exchange)
			}
		}
	}
}
