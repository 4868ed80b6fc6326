package solve

import (
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/pipeline/job"
	"grenier/pipeline/solve/internal/halfboard"
	"grenier/pipeline/solve/plan"
)

// TestPlaceOf: reports of the engine are places of a plan.
func TestPlaceOf(t *testing.T) {
	const sweeps = 7
	for stage, want := range map[halfboard.Stage]plan.Stage{
		halfboard.CaptureStage: plan.Capture, halfboard.DenseStage: plan.Sweep, halfboard.SparseStage: plan.Sweep,
		halfboard.FullStage: plan.Full, sealStage: plan.Seal,
	} {
		p := halfboard.Progress{Seeds: 9, Positions: 40, Done: 10, Stage: stage, Sweep: sweeps, Base: 8, Values: 3}
		place := plan.Place{Seeds: 9, Stage: want, Base: 8, Values: 3, Sweeps: sweeps, Part: 0.25}
		got := placeOf(&p)
		should.Not(t, got != place || stageNameOf(&p) == turnStage, "%v: %+v", stage, got)
		p.Turning, place.Stage = true, plan.Turn
		got = placeOf(&p)
		should.Hold(t, got == place && stageNameOf(&p) == turnStage, "%v, turning: %+v", stage, got)
	}
}

// TestStep: a step names the layer and its stage, and says how long they still take.
func TestStep(t *testing.T) {
	middle := Progress{
		Seeds: 16, Positions: 500_000, Stage: "dense", Sweep: 3, RunDone: 250_000, RunTotal: 1_000_000, Share: 0.5, Rate: 25_000,
		LayerLeft: 10, RunLeft: 30, Spread: 0.2,
	}
	first := Progress{Seeds: 1, Positions: 12, Stage: "capture", RunTotal: 100}
	for _, c := range []struct {
		of   Progress
		want job.Step
	}{
		{middle, job.Step{
			Doing: "layer 16, sweep 3", Seeds: 16, Done: 250_000, Total: 1_000_000, Detail: middle,
			Pace: &job.Pace{Rate: 25_000, Layer: 10 * time.Second, Run: 30 * time.Second, Spread: 0.2},
		}},
		{first, job.Step{Doing: "layer 1, capture", Seeds: 1, Total: 100, Detail: first, Pace: &job.Pace{Layer: job.Unknown, Run: job.Unknown}}},
	} {
		must.Same(t, "another result", c.want, c.of.Step())
	}
}
