package halfboard

import (
	"math"
	"math/rand/v2"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// config is one layer of one game and a way to solve it.
type config struct {
	game    awari.Game
	seeds   int
	options Options
}

// randomConfig draws a configuration. Half of them have the smallest tiles there are.
func randomConfig(t testing.TB, rng *rand.Rand) config {
	t.Helper()
	game, seeds := awaritest.Layer(t, rng)
	families := cpu.Available()
	return config{
		game:  game,
		seeds: seeds,
		options: Options{
			Workers:  1 + rng.IntN(5),
			Family:   families[rng.IntN(len(families))],
			TileSize: int(math.Exp(rng.Float64() * math.Log(2000))),
		},
	}
}

// lower gives the layers below that of c, by the oracle.
func (c config) lower(t testing.TB) *awaritest.Lower { return awaritest.LowerOf(t, c.game, c.seeds) }

// begin lays the layer of c out.
func (c config) begin(t testing.TB) *engine {
	t.Helper()
	c.options.often = true
	e := must.Get(New(c.game, c.options))(t)
	w := must.Get(e.begin(c.seeds, testBelow))(t)
	must.OK(t, w.prepare(t.Context()))
	t.Cleanup(func() {
		must.OK(t, e.spare.Put(w.memory))
		must.OK(t, e.Close())
	})
	return w
}
