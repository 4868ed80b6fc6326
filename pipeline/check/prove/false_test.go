package prove_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/layers/awari"
	"grenier/pipeline/check/prove"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/spaces/retro"
)

// graph is a layer as the theorem sees it, written out: the brute force that the package is compared with. It only knows successors.
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

// another returns the locally optimal scores that result if position p has the score k and all others give in, if there are any: starting
// from the true ones, a position whose moves give something else takes that.
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

// fixpoints returns locally optimal scores of a layer other than the true ones, up to limit of them, found by insisting on a score for each
// position in turn. None is beyond the number of seeds: the tables refuse these.
func (g *graph) fixpoints(truth []int8, limit int) [][]int8 {
	var found [][]int8
	most := int8(g.seeds)
	for _, k := range []int8{most, 1, 5, -2} {
		for p := range truth {
			scores, ok := g.another(truth, p, k)
			known := func(f []int8) bool { return slices.Equal(f, scores) }
			if !ok || slices.Max(scores) > most || slices.Min(scores) < -most || known(truth) || slices.ContainsFunc(found, known) {
				continue
			}
			if found = append(found, scores); len(found) == limit {
				return found
			}
		}
	}
	return found
}

// TestLongFalse proves layers whose scores are false and locally optimal everywhere. Verifying must accept them, or else they prove
// nothing; proving must say exactly which positions are not grounded.
func TestLongFalse(t *testing.T) {
	four, eight, twelve := tries.More(7, 9), tries.More(4, 6), tries.More(2, 3)
	for _, c := range []struct{ pits, seeds, most int }{{4, four, 2}, {6, 4, 2}, {8, eight, 2}, {12, twelve, 3}} {
		for _, rules := range awari.RuleSets() {
			game := testrun.Game(t, c.pits, rules)
			t.Run(game.Name(), func(t *testing.T) {
				layers, cases := testrun.Solve(t, game, c.seeds), 0
				for n, truth := range layers {
					g := newGraph(t, game, layers, n)
					for _, scores := range g.fixpoints(truth, c.most) {
						cases++
						g.checkFalse(t, game, append(layers[:n:n], scores), some(ways(len(scores)), cases))
					}
				}
				should.Not(t, cases < 3, "only %d false fixpoints to try", cases)
			})
		}
	}
}

// checkFalse proves layers of which the last one, made of g, is false.
func (g *graph) checkFalse(t *testing.T, game awari.Game, layers [][]int8, ways map[string]prove.Options) {
	n := len(layers) - 1
	dir := testrun.Write(t, game, layers, 50)
	v, err := verify.Run(t.Context(), dir, verify.Options{})
	must.Hold(t, err == nil && v.OK, "layer %d: verify found the false scores: %v, %v", n, err, v.Err())
	want := g.proof(t, game, n, layers[n])
	must.Not(t, want.Ungrounded == 0, "layer %d: false scores, and all are grounded: the theorem is wrong", n)
	for name, o := range ways {
		got := run(t, dir, o)
		proof := *got.Layers[n].Proof
		proof.Passes = 0
		diff := cmp.Diff(want, proof)
		should.Not(t, diff != "" || got.OK, "layer %d, %s: %s", n, name, diff)
		err := got.Err()
		should.Hold(t, *must.As[*prove.UngroundedError](t, err) == (prove.UngroundedError{Seeds: n, Positions: want.Ungrounded}) &&
			errors.Is(err, verify.ErrDifferences) && !errors.Is(err, corrupt.ErrCorrupt), "layer %d, %s: %v", n, name, err)
	}
}

// proof returns the proof of the layer by brute force, without passes.
func (g *graph) proof(t *testing.T, game awari.Game, n int, scores []int8) prove.Proof {
	space := testrun.Space(t, game, n)
	in := g.grounded(scores)
	p := prove.Proof{First: []prove.Position{}}
	for rank, k := range scores {
		switch {
		case k == 0:
			p.Zero++
		case !in[rank]:
			p.Ungrounded++
			if len(p.First) < prove.MaxUngrounded {
				board := game.Text(space.Unrank(n, uint64(rank)))
				p.First = append(p.First, prove.Position{Rank: uint64(rank), Board: board, Stored: int(k)})
			}
		case k > 0:
			p.Positive++
		default:
			p.Negative++
		}
	}
	return p
}

// TestAbove has true scores, false ones, and above them scores that follow from
// these: they are verified, but nothing is proved with the help of false scores.
func TestAbove(t *testing.T) {
	game := testrun.Game(t, 8, awari.Awari)
	layers := testrun.Solve(t, game, 3)
	for _, scores := range newGraph(t, game, layers, 3).fixpoints(layers[3], 100) {
		if slices.Max(scores) <= 3 {
			layers[3] = scores
		}
	}
	for n := 4; n < 6; n++ {
		scores, _, err := retro.SolveLayer(t.Context(), testrun.Space(t, game, n), layers, n, nil)
		must.OK(t, err)
		layers = append(layers, scores)
	}
	dir := testrun.Write(t, game, layers, 64)
	result := run(t, dir, prove.Options{})
	for n, l := range result.Layers {
		should.Hold(t, (l.Proof != nil) == (n <= 3) && l.Checked == l.Positions && l.Mismatches == 0, "%+v", l)
	}
	should.Hold(t, !result.OK && must.As[*prove.UngroundedError](t, result.Err()).Seeds == 3, "%v", result.Err())
	// Whoever asks for one layer takes the others for granted.
	result = run(t, dir, prove.Options{Layers: []int{5}})
	should.Hold(t, result.OK && len(result.Layers) == 1 && result.Layers[0].Proof.Ungrounded == 0, "%+v", result)
}

// TestDifferences has scores that are not locally optimal: that is all there is to say about the layer and those above.
func TestDifferences(t *testing.T) {
	game := testrun.Game(t, 4, awari.Strict)
	layers := testrun.Solve(t, game, 6)
	layers[4][7] = -layers[4][7]
	result := run(t, testrun.Write(t, game, layers, 64), prove.Options{})
	for n, l := range result.Layers {
		should.Hold(t, (l.Proof == nil) == (n >= 4), "%+v", l)
	}
	err := result.Err()
	should.Not(t, result.OK || !errors.Is(err, verify.ErrDifferences) || errors.As(err, new(*prove.UngroundedError)), "%v", err)
}
