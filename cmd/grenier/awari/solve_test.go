//go:build !quick

package awari

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/remotetest"
	"grenier/internal/testkit/should"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/tally"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/play/search"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/calibrate"
	"grenier/pipeline/solve/history"
	"grenier/pipeline/solve/plan"
)

// streamTable matches the end of the summary.
var streamTable = regexp.MustCompile(`\n\nstreams +read +written +bytes/pos\n((capture|dense|sparse|full|seal) +[0-9.]+ [KMG]?i?B +[0-9.]+ [KMG]?i?B +[0-9]+\.[0-9]{2}\n){5}$`)

// TestLongSummaryStreams: the bytes that layers in windows read and wrote have a line for each stage.
func TestLongSummaryStreams(t *testing.T) {
	streams := map[string]solve.Streams{"capture": {Read: 3 << 20}, "dense": {Read: 1 << 10, Written: 2 << 10}, "seal": {Read: 100}}
	summary := solveSummary{Layers: []layerTook{{Seeds: 9, Positions: 1000, Windows: 3, Streams: streams}, {Seeds: 8, Positions: 10, Windows: 1}}}
	var text strings.Builder
	a := &app{&cli.App{Out: cli.NewOutput(&text)}}
	a.printSummary(summary)
	should.Hold(t, streamTable.MatchString(text.String()), "summary %s", &text)
	should.Has(t, text.String(), "\ndense         1.0 KiB      2.0 KiB       3.07\n")
	text.Reset()
	summary.Layers[0].Windows = 1
	a.printSummary(summary)
	should.Lacks(t, text.String(), "streams")
}

// TestLongKept: a calibration that is kept is found again for the same processors, kernels and threads; a damaged file, or
// a user without a directory for it, is as if there were none.
func TestLongKept(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	must.Hold(t, keptCalibration(cpu.BMI2, 2) == nil, "one before anything was kept")
	want := plan.Typical(cpu.BMI2, 2)
	want.Capture = 4.5
	must.OK(t, keep(want))
	must.Same(t, "another calibration", want, keptCalibration(cpu.BMI2, 2))
	should.Hold(t, keptCalibration(cpu.Generic, 2) == nil && keptCalibration(cpu.BMI2, 3) == nil, "it serves other kernels, or threads")
	must.Write(t, filepath.Join(cache, keptIn, keptName), []byte("{}"))
	should.Hold(t, keptCalibration(cpu.BMI2, 2) == nil, "one from a damaged file")
	missing := filepath.Join(cache, "missing")
	t.Setenv("XDG_CACHE_HOME", missing)
	t.Setenv("HOME", missing)
	must.OK(t, keep(want))
	should.Be(t, must.Err(os.Stat(missing)), os.ErrNotExist, "a directory for the user was made")
}

// TestLongNext: what is next is what the last run was asked for and has not solved; how long it takes is for the solver to say, or for a plan.
func TestLongNext(t *testing.T) {
	v := runView{path: filepath.Join(t.TempDir(), "run"), manifest: &manifest.Manifest{Identity: manifest.Identity{Game: "awari", Rules: "awari", Pits: 12}}}
	asked := func(seeds int) *history.History {
		return &history.History{Runs: []history.Run{{Seeds: 30, Memory: "64GiB", Threads: 2}, {Seeds: seeds, Memory: "8GiB", Threads: 2}}}
	}
	should.Has(t, "next: "+v.next(asked(20)).String(), "next: layer 0 of those up to 20; about ")
	should.Has(t, "next: "+v.next(asked(-1)).String(), "next: nothing: all layers that were asked for are solved")
	small, large := v.next(asked(16)), v.next(asked(20))
	should.Not(t, small.Estimate != "plan" || small.Ends != nil || *small.Seconds <= 0 || *large.Seconds <= *small.Seconds,
		"%+v, %+v", small, large)
	should.Hold(t, v.next(&history.History{}) == nil, "no run")
	now := time.Now()
	v.activity = rundir.Activity{State: rundir.Running, Report: &rundir.Status{Reported: now, Positions: 1, RunTotal: 2, RunDone: 1, RunLeft: 3600, LayerLeft: 1}}
	n := v.next(asked(20))
	should.Hold(t, n.Estimate == "solver" && *n.Seconds == 3600 && n.Ends.Equal(now.Add(time.Hour)) && strings.Contains(n.String(), "; 1h0m left, until about "),
		"%+v: %s", n, n)
	v.activity.Report = nil
	n = v.next(asked(20))
	should.Hold(t, n.Seconds == nil && n.String() == "layer 0 of those up to 20", "%+v", n)
}

// TestLongSearchDetail has JSON lines tell the bounds so far.
func TestLongSearchDetail(t *testing.T) {
	r := search.Result{Value: search.Value{Lower: -2, Upper: 5, Estimate: 1}, Depth: 7, Nodes: 3000, NodesPerSecond: 1500, Line: []int{4, 0}, Elapsed: time.Second}
	const want = `{"lower":-2,"upper":5,"estimate":1,"line":[4,0],"depth":7,"nodes":3000,"nodes_per_second":1500}`
	should.Equal(t, string(must.Get(json.Marshal(r))(t)), want)
}

// TestLongLargestRowsFit: the lines of the largest layer fit a terminal, too, and keep the columns that count.
func TestLongLargestRowsFit(t *testing.T) {
	largest := manifest.Layer{
		Seeds: 48, Positions: 279_871_768_995, Win: 100_000_000_000, Draw: 79_871_768_995, Loss: 100_000_000_000,
		Bytes: 110_000_000_000, Hash: tally.Hash(1<<64 - 1),
	}
	report := solve.Report{Layer: largest, Elapsed: 999_999 * time.Second}
	var planned plan.Layer
	planned.Seeds, planned.Positions, planned.Bits, planned.Windows, planned.Passes = 48, largest.Positions, 2, 49, 12
	planned.Memory, planned.Read, planned.Written, planned.Disk = 1023<<30, 1023<<40, 1023<<40, 1023<<40
	planned.Seconds, planned.Times.Sweep = 999_999, 999_999
	for _, c := range []struct {
		width               int
		solve, stats, plans string // the heading
	}{
		{79, "seeds positions win draw loss mean seconds Mpos/s B/pos", "seeds positions win draw loss mean B/pos fnv1a64",
			"seeds positions bits windows memory read written disk seconds"},
		{49, "seeds positions seconds Mpos/s B/pos", "seeds positions win draw loss", "seeds positions memory disk seconds"},
	} {
		for _, table := range []struct{ got, want string }{
			{tableOf(c.width, reportColumns(), report), c.solve}, {tableOf(c.width, statsColumns(), largest), c.stats}, {tableOf(c.width, planColumns(), planned), c.plans},
		} {
			head, row, _ := strings.Cut(strings.TrimSuffix(table.got, "\n"), "\n")
			should.Hold(t, strings.Join(strings.Fields(head), " ") == table.want && len(head) <= c.width && len(row) == len(head),
				"width %d, want %s:\n%s", c.width, table.want, table.got)
		}
	}
}

// TestLongBenchFits: the table of a machine with many fast cores fits a narrow terminal.
func TestLongBenchFits(t *testing.T) {
	rates := calibrate.Rates{
		Kernel: "generic", One: map[int]float64{8: 999.99e6, 6: 999.99e6, 4: 999.99e6, 3: 999.99e6, 2: 999.99e6}, All: 99_999.99e6, Decoded: 9999e6,
	}
	for width, want := range map[int]string{
		79: "kernels  8 bits 6 bits 4 bits 3 bits 2 bits 128 cores decoding\ngeneric  999.99 999.99 999.99 999.99 999.99  99999.99     9999\n",
		49: "kernels  8 bits 6 bits 4 bits 3 bits 2 bits 128 cores\ngeneric  999.99 999.99 999.99 999.99 999.99  99999.99\n",
	} {
		should.Equal(t, tableOf(width, benchColumns(128), rates), want, "width %d", width)
	}
}

// tableOf returns a table of one row.
func tableOf[R any](width int, columns []cli.Column[R], row R) string {
	var text strings.Builder
	cli.NewTable(&text, width, columns).Add(row)
	return text.String()
}

// fullAfter accepts the given number of lines.
type fullAfter struct{ lines int }

func (f *fullAfter) Write(p []byte) (int, error) {
	if f.lines--; f.lines < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func (f *fullAfter) Close() error { return nil }

// TestLongLogFull: a log that cannot be written any more is worth one warning.
func TestLongLogFull(t *testing.T) {
	var errs strings.Builder
	a := &app{&cli.App{Err: &errs}}
	w := newWatch(a, solveFlags{}, cpu.Generic)
	w.readers = []func(solve.Event) error{(&terminal{app: a, shown: &cli.Progress{}}).take, (&runLog{watch: w, log: newLog(&fullAfter{1})}).take}
	w.tell(called{seeds: 1})
	should.Equal(t, errs.String(), "")
	w.tell(called{seeds: 2})
	w.tell(called{seeds: 3})
	w.tell(solve.Ended{})
	should.Equal(t, errs.String(), "grenier: warning: the log cannot be written: disk full\n")
}

func TestLongViews(t *testing.T) {
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
		should.Has(t, text, strings.Split(c.has, "|")...)
		should.Lacks(t, text, strings.Split(c.lacks, "|")...)
	}
}

// TestLongParseUntil: a time is the next moment at which clocks show it, also when they are changed in the night.
func TestLongParseUntil(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err) // no time zones on this machine
	}
	summer := time.Date(2026, 10, 24, 22, 0, 0, 0, zone) // clocks go back in this night
	for text, want := range map[string]string{
		"07:00": "2026-10-25T07:00:00+01:00", "22:00": "2026-10-25T22:00:00+01:00", "22:00:01": "2026-10-24T22:00:01+02:00",
		"23:59": "2026-10-24T23:59:00+02:00", "2026-10-26 07:00": "2026-10-26T07:00:00+01:00", "2026-10-24 22:00:30": "2026-10-24T22:00:30+02:00",
		"2026-10-24T22:30:00Z": "2026-10-25T00:30:00+02:00", "8h": "2026-10-25T05:00:00+01:00", "90m": "2026-10-24T23:30:00+02:00",
		"7am": "2026-10-25T07:00:00+01:00", "11PM": "2026-10-24T23:00:00+02:00", "7:30am": "2026-10-25T07:30:00+01:00",
	} {
		should.Equal(t, must.Get(parseUntil(text, summer))(t).In(zone).Format(time.RFC3339), want, "%s", text)
	}
	for text, why := range map[string]string{
		"2026-10-24 22:00": "must be in the future", "2020-01-01T00:00:00Z": "must be in the future", "7 o'clock": "must be a time like 07:00", "25:00": "must be a time", "": "must be a time",
	} {
		_, err := parseUntil(text, summer)
		should.Says(t, err, fault.Usage, why)
	}
}

// TestLongCauseOf: only the event that ended a run is its cause.
func TestLongCauseOf(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	end(errAtOnce)
	broken := errors.New("disk full")
	for err, want := range map[error]error{nil: nil, broken: broken, context.Canceled: errAtOnce, errAfterLayer: errAfterLayer} {
		should.Be(t, causeOf(ctx, err), want, "%v", err)
	}
	interrupted := must.Ended(t)
	for err, want := range map[error]struct {
		state  rundir.State
		status int
	}{
		nil: {"done", cli.ExitOK}, broken: {"failed", cli.ExitFailure}, errAtOnce: {"paused", cli.ExitPaused},
		context.Canceled: {"interrupted", cli.ExitInterrupted},
	} {
		state, status := stateOf(err), cli.StatusOf(interrupted, err)
		should.Hold(t, state == want.state && status == want.status, "%v: %s, %d", err, state, status)
	}
}

func TestLongPlaces(t *testing.T) {
	var layers []statusLayer
	for _, directory := range []string{"", "", "/a", "/a", "/b", "", "/a", "/b", "/b"} {
		layers = append(layers, statusLayer{Directory: directory})
	}
	directory := func(l statusLayer) string { return l.Directory }
	should.List(t, runs(layers, directory), []placed{{"/a", "2-3, 6"}, {"/b", "4, 7-8"}})
	should.List(t, runs(layers[:2], directory), nil)
}

// TestLongFullDisk: the error of a full disk says what is missing where, and that the run resumes; others are left as they are.
func TestLongFullDisk(t *testing.T) {
	dir, other := t.TempDir(), errors.New("other")
	f := &solveFlags{dir: filepath.Join(dir, "run")}
	game := must.Get(awari.New(12, awari.Awari))(t)
	o := &solve.Options{Seeds: 48, Job: job.Job{Workers: 2, Memory: 64 << 30}}
	should.Hold(t, f.explain(nil, game, o) == nil && f.explain(other, game, o) == other, "another error")
	full := fmt.Errorf("solving layer 21: %w", &os.PathError{Op: "write", Path: "x.tmp", Err: syscall.ENOSPC})
	got := f.explain(full, game, o)
	should.Says(t, got, syscall.ENOSPC,
		"solving layer 21: write x.tmp: ", "; about ", "iB more needed on the disk of "+f.dir, "; the same command resumes when there is room")
}

// TestLongMetrics: Prometheus is told over HTTP and in the file the figures that the run tells.
func TestLongMetrics(t *testing.T) {
	var errs strings.Builder
	a := &app{&cli.App{Err: &errs}}
	shown := must.Get(a.NewProgress("none", false))(t)
	w := newWatch(a, solveFlags{dir: t.TempDir()}, cpu.Generic)
	w.start, w.flags.rules, w.flags.pits, w.flags.seeds = time.Unix(1000, 0), "strict", 8, 24
	file := filepath.Join(t.TempDir(), "run.prom")
	m := newMetrics(w, file)
	w.readers = []func(solve.Event) error{(&terminal{app: a, shown: shown, quiet: true}).take, m.take}
	w.tell(solve.Locked{Manifest: &manifest.Manifest{Layers: []manifest.Layer{{File: "layer-00.gl", Positions: 10, Bytes: 100}}}})
	w.tell(solve.Progress{
		Seeds: 16, Positions: 500_000, Stage: "dense", Sweep: 3, RunDone: 250_000, RunTotal: 1_000_000, Share: 0.5, Rate: 25_000, LayerLeft: 10, RunLeft: 30,
		Streams: map[string]solve.Streams{"capture": {Read: 7}},
	}.Step())
	w.tell(solve.Sealed{Report: solve.Report{Layer: manifest.Layer{Seeds: 1, File: "layer-01.gl", Positions: 20, Bytes: 200}}})
	address, stop, err := m.serve(t.Context(), "127.0.0.1:0")
	must.OK(t, err)
	for _, text := range []string{remotetest.Fetch(t, "http://"+address+"/metrics"), string(must.Read(t, file))} {
		for _, line := range []string{
			`grenier_run_state{state="running"} 1`, `grenier_run_state{state="failed"} 0`, `grenier_run_start_time_seconds 1000`,
			`grenier_run_last_layer 24`, `grenier_run_positions 1e+06`, `grenier_run_positions_done 250000`, `grenier_run_positions_per_second 25000`,
			`grenier_run_remaining_seconds 30`, `grenier_layer_seeds 16`, `grenier_layer_positions 500000`, `grenier_layer_share 0.5`,
			`grenier_layer_stage{stage="dense"} 1`, `grenier_layer_stage{stage="seal"} 0`, `grenier_layer_sweeps 3`,
			`grenier_layer_remaining_seconds 10`, `grenier_layer_streams_read_bytes{stage="capture"} 7`, `grenier_sealed_layers 2`,
			`grenier_sealed_positions 30`, `grenier_sealed_bytes 300`,
		} {
			should.Has(t, text, "\n"+line+"\n")
		}
		should.Has(t, text, `rules="strict"`, "\ngo_goroutines ")
	}
	stop()
	w.tell(solve.Ended{Err: errors.New("disk full")})
	written := string(must.Read(t, file))
	should.Has(t, written, "\ngrenier_run_state{state=\"failed\"} 1\n")
	should.Lacks(t, written, "grenier_layer_seeds")
	m.file = filepath.Join(t.TempDir(), "none", "run.prom")
	w.tell(tick(1))
	should.Equal(t, errs.String(), "")
	w.tell(tick(metricsCadence))
	w.tell(tick(2 * metricsCadence))
	should.Equal(t, strings.Count(errs.String(), "grenier: warning: the metrics cannot be written: "), 1, "%s", &errs)
}
