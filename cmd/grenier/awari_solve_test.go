package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/solve"
)

// TestStates compares what commands say of their progress.
func TestStates(t *testing.T) {
	middle := solve.Progress{
		Seeds: 16, Positions: 500_000, Stage: "dense", Sweep: 3, RunDone: 250_000, RunTotal: 1_000_000, Share: 0.5, Rate: 25_000,
	}
	first := solve.Progress{Seeds: 1, Positions: 12, Stage: "capture", RunTotal: 100}
	for _, c := range []struct{ got, want cli.State }{
		{solving(middle).State(20 * time.Second), cli.State{
			Doing: "layer 16, sweep 3", Done: 250_000, Total: 1_000_000, Elapsed: 20 * time.Second,
			Rate: 25_000, LayerETA: 10 * time.Second, RunETA: 30 * time.Second, Detail: middle,
		}},
		{solving(first).State(time.Second), cli.State{
			Doing: "layer 1, capture", Total: 100, Elapsed: time.Second, LayerETA: cli.Unknown, RunETA: cli.Unknown, Detail: first,
		}},
		{verifying(verify.Progress{Seeds: 3, Done: 50, Total: 200}).State(10 * time.Second), cli.State{
			Doing: "layer 3", Done: 50, Total: 200, Elapsed: 10 * time.Second, Rate: 5, LayerETA: cli.NoLayer, RunETA: 30 * time.Second,
		}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Error(diff)
		}
	}
}
