package board

import (
	"math/rand/v2"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/layers/awari"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// eachGeometry calls check for halves of all sizes with a few hundred to a few
// thousand of them: of most sums there are several panels.
func eachGeometry(t *testing.T, check func(t *testing.T, g *Geometry)) {
	for q, n := range map[int]int{1: 5, 2: 20, 3: 18, 4: 14, 5: 11, 6: 10} {
		check(t, must.Get(NewGeometry(q, n))(t))
	}
}

// config is one layer of one game, and how many workers lay it out.
type config struct {
	game           awari.Game
	seeds, workers int
}

func randomConfig(t testing.TB, rng *rand.Rand) config {
	t.Helper()
	game, seeds := awaritest.Layer(t, rng)
	return config{game, seeds, 1 + rng.IntN(5)}
}

// layer lays the layer of c out, in memory.
func (c config) layer(t testing.TB) *Layer {
	t.Helper()
	l, _ := c.begin(t)
	return l
}

// begin lays the layer of c out, and returns the memory of its scores too.
func (c config) begin(t testing.TB) (l *Layer, scores []int8) {
	t.Helper()
	l = NewLayer(must.Get(NewGeometry(c.game.Half(), c.seeds))(t), Side)
	must.OK(t, l.ListMoves(t.Context(), c.workers, NewPatterns(c.game.Rules())))
	size := LayoutOf(c.game.Half(), c.seeds)
	memory := must.Get(NewRegion(size.Total()))(t)
	t.Cleanup(func() { must.OK(t, memory.Close()) })
	_, scores = l.Allocate(memory, size)
	l.Aim()
	return l, scores
}

// prepare lays the layer of c out and computes its offers.
func (c config) prepare(t testing.TB, lower Lower) *Layer {
	t.Helper()
	l, scores := c.begin(t)
	must.OK(t, CaptureAll(t.Context(), l, c.game, c.workers, lower, scores, func(float64) {}))
	return l
}
