package halfboard

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

// benchFirst to benchLast are the layers that BenchmarkSolve solves.
const benchFirst, benchLast = 16, 20

// benchGeneric is the last of them for the generic kernels, which take minutes for the
// others.
const benchGeneric = 18

// below are the layers below those that benchmarks solve, for all of them
// together.
var below struct {
	mu    sync.Mutex
	tower *tower
}

// lowerOf returns the layers that captures of the layer of n seeds lead to, solved by the
// fastest kernels.
func lowerOf(b *testing.B, n int) *tower {
	below.mu.Lock()
	defer below.mu.Unlock()
	if below.tower == nil {
		below.tower = newTower(b, awari.MaxPits, awari.Awari, Options{Workers: 1, Family: cpu.Best()})
	}
	for len(below.tower.Layers) < n-1 { // a capture takes 2 seeds at least
		below.tower.next(b)
	}
	must.OK(b, below.tower.engine.Close())
	return below.tower
}

// BenchmarkSolve solves layers with one worker and reports the positions per second
// and, for each stage, the time for a position of the layer.
func BenchmarkSolve(b *testing.B) {
	for _, family := range cpu.Available() {
		for n := benchFirst; n <= benchLast; n++ {
			if family == cpu.Generic && n > benchGeneric {
				continue
			}
			b.Run(fmt.Sprintf("%v/%d", family, n), func(b *testing.B) { benchSolve(b, n, Options{Workers: 1, Family: family}) })
		}
	}
}

// warm builds the patterns of the layer of n seeds: those of most of its moves are known
// from the layers before, when one is solved after the other.
func (e *Engine) warm(b *testing.B, n int) {
	w := must.Get(e.begin(n, testBelow))(b)
	must.OK(b, w.prepare(b.Context()))
	must.OK(b, e.spare.Put(w.memory))
}

func benchSolve(b *testing.B, n int, o Options) {
	lower := lowerOf(b, n)
	e := newTower(b, awari.MaxPits, awari.Awari, o).engine
	e.warm(b, n)
	var stages [fixpoint.Stages]time.Duration
	for b.Loop() {
		l := must.Get(e.Solve(b.Context(), n, testBelow, lower))(b)
		for stage, took := range l.Stats().Stages {
			stages[stage] += took
		}
		must.OK(b, l.Close())
	}
	must.OK(b, e.Close())
	positions := float64(b.N) * float64(Positions(e.game, n))
	b.ReportMetric(positions/b.Elapsed().Seconds()/1e6, "Mpos/s")
	for stage, took := range stages {
		b.ReportMetric(float64(took.Nanoseconds())/positions, fixpoint.Stage(stage).String()+"-ns/pos")
	}
}
