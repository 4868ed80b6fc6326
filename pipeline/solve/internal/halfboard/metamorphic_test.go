package halfboard

import (
	"slices"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
)

// TestLongAnyOptionsGiveTheSame solves layers of random games in random ways: they
// equal those of the document's algorithm, byte by byte.
func TestLongAnyOptionsGiveTheSame(t *testing.T) {
	configs := tries.Pick(20, 500, 20_000)
	rng := tries.Rand(t)
	for range configs {
		c := randomConfig(t, rng)
		c.options.often = true
		e := must.Get(New(c.game, c.options))(t)
		// A second layer finds the patterns of the first.
		for _, n := range []int{rng.IntN(c.seeds + 1), c.seeds} {
			c.seeds = n
			c.solveWith(t, e)
		}
		must.OK(t, e.Close())
	}
}

// solveWith solves the layer of c and compares it with the oracle's.
func (c config) solveWith(t *testing.T, e *Engine) {
	t.Helper()
	l, err := e.Solve(t.Context(), c.seeds, testBelow, c.lower(t))
	must.Hold(t, err == nil, "%+v: %v", c, err)
	scores := make([]int8, l.Positions())
	must.Be(t, l.Read(0, scores), nil, "%+v", c)
	must.Be(t, l.Close(), nil, "%+v", c)
	must.Hold(t, slices.Equal(scores, awaritest.Oracle(t, c.game, c.seeds)[c.seeds]), "%+v: not the scores of the oracle", c)
}
