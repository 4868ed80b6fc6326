package awari

import (
	"errors"
	"strings"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/should"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/pipeline/solve"
)

var errFull = errors.New("disk full")

// fullAfter accepts the given number of lines.
type fullAfter struct{ lines int }

func (f *fullAfter) Write(p []byte) (int, error) {
	if f.lines--; f.lines < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// Close does nothing.
func (f *fullAfter) Close() error { return nil }

// TestLogFull: a log that cannot be written any more is worth one warning.
func TestLogFull(t *testing.T) {
	var errs strings.Builder
	a := &app{&cli.App{Err: &errs}}
	w := newWatch(a, solveFlags{}, cpu.Generic)
	log := &runLog{watch: w, log: newLog(&fullAfter{1})}
	w.readers = []func(solve.Event) error{(&terminal{app: a, shown: &cli.Progress{}}).take, log.take}
	w.tell(called{seeds: 1})
	should.Not(t, errs.Len() > 0, "warned of nothing: %s", errs.String())
	w.tell(called{seeds: 2})
	w.tell(called{seeds: 3})
	w.tell(solve.Ended{})
	want := "grenier: warning: the log cannot be written: disk full\n"
	should.Hold(t, errs.String() == want, "%q, want %q", errs.String(), want)
}

// TestViews prints rare views.
func TestViews(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.Local)
	zone := now.Format("MST")
	report := &rundir.Status{
		PID: 42, State: rundir.Running, Started: now.Add(-time.Hour), Reported: now.Add(-time.Minute), Last: 3, Threads: 2, Kernel: "generic",
	}
	failed := *report
	failed.State, failed.Error = rundir.Failed, "disk full"
	begun := *report
	begun.Positions, begun.Seeds, begun.Stage, begun.RunTotal = 20, 3, "dense", 20
	none := errors.Join(rundir.ErrNoReport)
	held := rundir.Holder{Held: true, PID: 42, Alive: true}
	for _, c := range []struct {
		activity   rundir.Activity
		has, lacks string // separated by "|"
	}{
		{rundir.Activity{State: rundir.Running, Holder: held, Report: report},
			"process 42, running for 1h0m; threads 2, kernels generic\n|sealed   no layer\n|09:59:00 " + zone + ", 1m0s ago", "not visible|doing|memory|NaN"},
		{rundir.Activity{State: rundir.Running, Holder: held, Report: &begun},
			"doing    layer 3, sweep 0: 0.0% of 20 positions, ETA ?\n|run      0.0% of the work up to layer 3, ETA ?\n", "changed"},
		{rundir.Activity{State: rundir.Running, Holder: rundir.Holder{Held: true, PID: 42}, NoReport: none},
			"process 42, not visible here: on another machine or in a container\n|report   none", "running"},
		{rundir.Activity{State: rundir.Running, Holder: rundir.Holder{Held: true}, NoReport: none}, "process of unknown id\n", "out of sight"},
		{rundir.Activity{State: rundir.Killed, Holder: rundir.Holder{PID: 7}, NoReport: none}, "none; process 7 was killed\n", "after"},
		{rundir.Activity{State: rundir.Failed, Report: &failed}, "none; the last run failed at 2026-11-21 09:59:00 " + zone + ": disk full\n|report   2026-11-21 09:59:00 " + zone + ", 1m0s ago", "memory"},
		{rundir.Activity{State: rundir.None, NoReport: none}, "solver   none\n|report   none: ", "none;"},
	} {
		v := runView{path: "run", manifest: &manifest.Manifest{}, activity: c.activity, now: now}
		text := v.String()
		for word := range strings.SplitSeq(c.has, "|") {
			should.Hold(t, strings.Contains(text, word), "%q is not in\n%s", word, text)
		}
		for word := range strings.SplitSeq(c.lacks, "|") {
			should.Not(t, strings.Contains(text, word), "%q is in\n%s", word, text)
		}
	}
}
