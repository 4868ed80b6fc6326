package prove_test

import (
	"math"
	"testing"

	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
)

// graph is a layer as the theorem sees it, written out: the brute force that the
// package is compared with. It only knows successors.
type graph struct {
	seeds   int
	outside []int   // by rank: best value of leaving the layer, or the end of the game
	quiet   [][]int // by rank: ranks of the quiet children
	before  [][]int // by rank: the positions of which it is a quiet child
}

// newGraph returns layer n of a game with the given scores of lower layers.
func newGraph(t testing.TB, game awari.Game, lower [][]int8, n int) *graph {
	space := testrun.Space(t, game, n)
	size := int(space.Size(n))
	g := &graph{seeds: n, outside: make([]int, size), quiet: make([][]int, size), before: make([][]int, size)}
	for p := range size {
		b := space.Unrank(n, uint64(p))
		moves := game.Successors(nil, b)
		g.outside[p] = math.MinInt
		if len(moves) == 0 {
			g.outside[p] = game.Terminal(b)
		}
		for _, m := range moves {
			seeds, rank := space.Rank(m.To)
			if seeds < n {
				g.outside[p] = max(g.outside[p], m.Reward-int(lower[seeds][rank]))
				continue
			}
			g.quiet[p] = append(g.quiet[p], int(rank))
			g.before[rank] = append(g.before[rank], p)
		}
	}
	return g
}

// value returns the score of a position by its moves.
func (g *graph) value(scores []int8, p int) int {
	best := g.outside[p]
	for _, c := range g.quiet[p] {
		best = max(best, -int(scores[c]))
	}
	return best
}

// another returns the locally optimal scores that result if position p has the
// score k and all others give in, if there are any: starting from the true ones, a
// position whose moves give something else takes that.
func (g *graph) another(truth []int8, p int, k int8) (scores []int8, ok bool) {
	scores = append([]int8(nil), truth...)
	scores[p] = k
	queue := append([]int(nil), g.before[p]...)
	for steps := 0; len(queue) > 0; steps++ {
		q := queue[0]
		queue = queue[1:]
		v := g.value(scores, q)
		if steps > 20*len(scores) || v != int(int8(v)) {
			return nil, false
		}
		if v != int(scores[q]) && q != p {
			scores[q] = int8(v)
			queue = append(queue, g.before[q]...)
		}
	}
	return scores, g.value(scores, p) == int(k)
}

// grounded returns the grounded positions by the words of the theorem.
func (g *graph) grounded(scores []int8) []bool {
	in := make([]bool, len(scores))
	for changed := true; changed; {
		changed = false
		for p := range scores {
			if !in[p] && g.groundable(scores, in, p) {
				in[p], changed = true, true
			}
		}
	}
	return in
}

// groundable reports whether p is grounded if those in the set are.
func (g *graph) groundable(scores []int8, in []bool, p int) bool {
	k := int(scores[p])
	switch {
	case k > 0:
		for _, c := range g.quiet[p] {
			if in[c] && int(scores[c]) == -k {
				return true
			}
		}
		return g.outside[p] == k
	case k < 0:
		for _, c := range g.quiet[p] {
			if int(scores[c]) == -k && !in[c] {
				return false
			}
		}
		return true
	}
	return false
}
