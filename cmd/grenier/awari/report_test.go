package awari

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"grenier/internal/testkit/should"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/pipeline/solve/history"
)

// TestNext: what is next is what the last run was asked for and has not solved; how long it takes is for the solver to say, or
// for a plan.
func TestNext(t *testing.T) {
	v := runView{path: filepath.Join(t.TempDir(), "run"), manifest: &manifest.Manifest{Identity: manifest.Identity{Game: "awari", Rules: "awari", Pits: 12}}}
	asked := func(seeds int) *history.History {
		return &history.History{Runs: []history.Run{{Seeds: 30, Memory: "64GiB", Threads: 2}, {Seeds: seeds, Memory: "8GiB", Threads: 2}}}
	}
	for seeds, want := range map[int]string{
		20: "layer 0 of those up to 20; about ", -1: "nothing: all layers that were asked for are solved",
	} {
		got := v.next(asked(seeds)).String()
		should.Hold(t, strings.HasPrefix(got, want), "%d seeds: %q, want %q", seeds, got, want)
	}
	small, large := v.next(asked(16)), v.next(asked(20))
	should.Not(t, small.Estimate != "plan" || small.Ends != nil || *small.Seconds <= 0 || *large.Seconds <= *small.Seconds,
		"%+v, %+v", small, large)
	if n := v.next(&history.History{}); n != nil {
		t.Errorf("no run: %+v", n)
	}
	now := time.Now()
	v.activity = rundir.Activity{State: rundir.Running, Report: &rundir.Status{Reported: now, Positions: 1, RunTotal: 2, RunDone: 1, RunLeft: 3600, LayerLeft: 1}}
	n := v.next(asked(20))
	should.Hold(t, n.Estimate == "solver" && *n.Seconds == 3600 && n.Ends.Equal(now.Add(time.Hour)) && strings.Contains(n.String(), "; 1h0m left, until about "),
		"%+v: %s", n, n)
	v.activity.Report = nil
	n = v.next(asked(20))
	should.Hold(t, n.Seconds == nil && n.String() == "layer 0 of those up to 20", "%+v", n)
}
