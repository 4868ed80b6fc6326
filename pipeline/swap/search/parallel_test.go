package search_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/swaptest"
	"grenier/io/crew"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/job"
	"grenier/pipeline/swap/search"
)

// TestParallel: neither the solution nor the work depends on the number of workers, with a
// bound that is not consistent too.
func TestParallel(t *testing.T) {
	g := mustGrid(t, 3, 3)
	depth := swaptest.Distances(g)
	w := must.Get(heuristic.NewWalking(g))(t)
	r := rand.New(rand.NewPCG(6, 6))
	for range 5 {
		s := shuffled(g, r)
		for _, h := range []heuristic.Heuristic{heuristic.NewManhattan(g), heuristic.Inverse{Heuristic: w, Grid: g}} {
			var first search.Result
			for i, workers := range []int{1, 2, 3, 40} {
				res := run(t, "astar-parallel", g, s, search.Options{Job: job.Job{Workers: workers}, Heuristic: h})
				must.Hold(t, len(res.Swaps) == int(depth[s.Rank(9)]) && res.Optimal,
					"%s, state %x: %d swaps, optimal %v", h.Name(), s, len(res.Swaps), res.Optimal)
				if i == 0 {
					first = res
				}
				should.Hold(t, slices.Equal(res.Swaps, first.Swaps) && res.Counts == first.Counts,
					"%d workers: %v, %+v; 1 worker: %v, %+v", workers, res.Swaps, res.Counts, first.Swaps, first.Counts)
			}
		}
	}
}

// broken is a bound that panics on one state.
type broken struct {
	heuristic.Zero
	on swap.State
}

func (b broken) Estimate(s swap.State) int {
	if s == b.on {
		panic("a bug")
	}
	return 0
}

// TestParallelPanic: a panic of a worker is an error of the search.
func TestParallelPanic(t *testing.T) {
	g := mustGrid(t, 2, 3)
	start := g.Goal().Swap(0, 5)
	o := search.Options{Job: job.Job{Workers: 3}, Heuristic: broken{on: start.Swap(0, 1)}}
	_, err := search.Solve(t.Context(), "astar-parallel", g, g.List(start), o)
	_, ok := errors.AsType[*crew.PanicError](err)
	should.Hold(t, ok, "error %v", err)
}
