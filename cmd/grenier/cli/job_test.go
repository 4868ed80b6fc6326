package cli

import (
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/pipeline/job"
)

// TestSteps: the text of a step depends on its unit, and on the pace that the job estimates.
func TestSteps(t *testing.T) {
	const after = 10 * time.Second
	base := State{Doing: "layer 3", Done: 50, Total: 200, Elapsed: after, Rate: 5, LayerETA: job.NoLayer, RunETA: 30 * time.Second}
	with := func(change func(*State)) State {
		s := base
		change(&s)
		return s
	}
	s := job.Step{Doing: "layer 3", Done: 50, Total: 200}
	bytes, items, shares, paced, begun := s, s, s, s, s
	bytes.Unit, items.Unit, shares.Unit, begun.Begun = job.Bytes, job.Items, job.Shares, 25
	paced.Pace, paced.Detail = &job.Pace{Rate: 7, Layer: time.Second, Run: job.Unknown}, 1
	for _, c := range []struct {
		step job.Step
		want State
	}{
		{s, base},
		{begun, with(func(s *State) { s.Rate, s.RunETA = 2.5, time.Minute })},
		{bytes, with(func(s *State) { s.Rate, s.Doing = job.NoRate, "layer 3, 5 B/s" })},
		{items, with(func(s *State) { s.Rate = job.NoRate })},
		{shares, with(func(s *State) { s.Rate = 0 })},
		{paced, with(func(s *State) { s.Rate, s.LayerETA, s.RunETA, s.Detail = 7, time.Second, job.Unknown, 1 })},
		{job.Step{Doing: "layer 3", Total: 200}, with(func(s *State) { s.Done, s.Rate, s.RunETA = 0, 0, job.Unknown })},
	} {
		must.Same(t, "another result", c.want, step(c.step).State(after))
	}
}
