package search_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/swap/search"
)

func TestGenerate(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, shape := range [][2]int{{1, 1}, {1, 2}, {2, 2}, {3, 1}, {3, 3}, {2, 5}, {4, 4}, {1, 16}, {5, 5}, {8, 8}, {64, 1}} {
		g := mustGrid(t, shape[0], shape[1])
		m, most := heuristic.NewManhattan(g), heuristic.MaxManhattan(g)
		for _, d := range []float64{0, 0.1, 0.5, 0.77, 1} {
			s := must.Get(search.Generate(g, d, r))(t)
			if sum := m.SumList(s); math.Abs(float64(sum)-d*float64(most)) > 1 || sum > most {
				t.Errorf("%v, difficulty %v: sum %d, largest %d", shape, d, sum, most)
			}
		}
	}
	for _, d := range []float64{-0.1, 1.1, math.NaN()} {
		should.Be(t, must.Err(search.Generate(mustGrid(t, 2, 2), d, r)), search.ErrDifficulty, "%v", d)
	}
}
