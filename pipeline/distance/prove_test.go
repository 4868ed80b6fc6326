package distance_test

import (
	"fmt"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/layerfile"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/check/prove"
	"grenier/pipeline/job"
)

// proved returns what a proof says of all layers of a run directory.
func proved(t testing.TB, dir string) *prove.Result {
	t.Helper()
	return must.Get(prove.Run(t.Context(), dir, prove.Options{Job: job.Job{Workers: 2, Family: cpu.Best()}}))(t)
}

// TestProof: distances prove the layers that have them, without a pass, and prove the same as passes do.
func TestProof(t *testing.T) {
	for _, r := range rules {
		const top = 8
		game := testrun.Game(t, 8, r)
		dir := testrun.Write(t, game, testrun.Solve(t, game, top), layerfile.MaxBlockSize)
		want := proved(t, dir)
		o := options(2)
		o.Layers = []int{2, top - 1, top}
		compute(t, dir, o)
		got := proved(t, dir)
		if !want.OK || !got.OK {
			t.Fatal(want.Err(), got.Err())
		}
		for n, l := range got.Layers {
			by, passes := *l.Proof, *want.Layers[n].Proof
			there := n == 2 || n >= top-1
			should.Not(t, n > 0 && there != (by.Passes == 0), "layer %d: %d passes", n, by.Passes) // layer 0 needs none
			by.Passes, passes.Passes = 0, 0
			must.Same(t, fmt.Sprintf("layer %d", n), fmt.Sprintf("%+v", passes), fmt.Sprintf("%+v", by))
		}
	}
}

// TestLongNoProof: scores that back each other in a circle are locally optimal, and no distances follow from them: those of the true ones do not, nor
// do any others. Short tests try fewer.
func TestLongNoProof(t *testing.T) {
	game, rng := testrun.Game(t, 4, awari.Awari), tries.Rand(t)
	layers := testrun.Solve(t, game, 2)
	layers[2] = []int8{-2, -2, 2, -2, -2, 2, 2, 2, -2, 2} // docs/proof.md
	dir := testrun.Write(t, game, layers, layerfile.MaxBlockSize)
	if r := proved(t, dir); r.OK || r.Layers[2].Proof.Ungrounded == 0 {
		t.Fatalf("%+v is proved", r.Layers[2])
	}
	o := options(1)
	o.Layers = []int{0, 1}
	compute(t, dir, o)
	for range tries.Runs(300) {
		plies := make([]int8, len(layers[2]))
		for i := range plies {
			plies[i] = int8(rng.IntN([]int{3, 8, 256}[rng.IntN(3)]))
		}
		newDistances(t, dir, 2, plies)
		if r := proved(t, dir); r.OK || r.Layers[2].Proof != nil {
			t.Fatalf("%+v is proved by %v", r.Layers[2], plies)
		}
	}
}
