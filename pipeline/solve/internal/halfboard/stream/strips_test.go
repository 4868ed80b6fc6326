package stream

import (
	"testing"

	"grenier/internal/testkit/tries"
	"grenier/pipeline/solve/internal/halfboard/board"
)

// eachGrid lays out layers of random configurations, with segments of random sizes.
func eachGrid(t *testing.T, n int, check func(g *board.Layer, segments [][]board.PanelOf)) {
	rng := tries.Rand(t)
	for range tries.Runs(n) {
		g := randomLayer(t, rng)
		check(g, segmentsOf(g, 1+rng.Uint64N(50_000)))
	}
}
