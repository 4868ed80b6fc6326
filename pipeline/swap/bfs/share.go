package bfs

import (
	"math"

	"grenier/layers/swap"
)

// pace says how the time of a search is spread over its depths: like a bell. Few
// blocks are reached in the first depths, few words have states left in the last
// ones. Mean and deviation are shares of the diameter.
type pace struct {
	diameter        float64 // guessed, but for lines
	mean, deviation float64
}

// paceOf returns the pace of a grid. The processor time of each depth was measured
// (docs/swap.md): on 3 x 4 its mean is at 0.53 of the diameter, on 2 x 6 at 0.49,
// on 1 x 12 at 0.44, with deviations of 0.15 to 0.16.
func paceOf(g *swap.Grid) pace {
	p := pace{diameter: max(1, guessDiameter(g)), mean: 0.49, deviation: 0.15}
	if isLine(g) {
		p.mean, p.deviation = 0.445, 0.155
	}
	return p
}

// share returns the share of the time that has passed, 0 to 1, when a part of a
// depth is done.
func (p pace) share(depth int, part float64) float64 {
	x := min(1, (float64(depth-1)+part)/p.diameter)
	return (p.below(x) - p.below(0)) / (p.below(1) - p.below(0))
}

// below returns the share of the bell below x.
func (p pace) below(x float64) float64 {
	return math.Erfc((p.mean-x)/(p.deviation*math.Sqrt2)) / 2
}

func isLine(g *swap.Grid) bool { return min(g.Rows(), g.Cols()) == 1 }

// guessDiameter returns the diameter of a line, and about that of another grid:
// some 5/4 of the largest half Manhattan distance, which is that of the reversal
// (docs/sources.md, document 004).
func guessDiameter(g *swap.Grid) float64 {
	if n := g.Cells(); isLine(g) {
		return float64(n * (n - 1) / 2)
	}
	return 5. / 4 * float64(leastDiameter(g))
}

// leastDiameter returns half of the largest Manhattan distance, rounded up.
func leastDiameter(g *swap.Grid) int {
	m, n := g.Rows(), g.Cols()
	return (n*(m*m/2) + m*(n*n/2) + 1) / 2
}
