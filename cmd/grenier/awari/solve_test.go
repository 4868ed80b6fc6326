package awari

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/tally"
	"grenier/kernels/cpu"
	"grenier/pipeline/play/search"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/calibrate"
	"grenier/pipeline/solve/history"
	"grenier/pipeline/solve/plan"
)

// streamTable matches the end of the summary.
var streamTable = regexp.MustCompile(`\n\nstreams +read +written +bytes/pos\n((capture|dense|sparse|full|seal) +[0-9.]+ [KMG]?i?B +[0-9.]+ [KMG]?i?B +[0-9]+\.[0-9]{2}\n){5}$`)

// TestSummaryStreams: the bytes that layers in windows read and wrote have a line for each stage.
func TestSummaryStreams(t *testing.T) {
	streams := map[string]solve.Streams{"capture": {Read: 3 << 20}, "dense": {Read: 1 << 10, Written: 2 << 10}, "seal": {Read: 100}}
	summary := solveSummary{Layers: []layerTook{{Seeds: 9, Positions: 1000, Windows: 3, Streams: streams}, {Seeds: 8, Positions: 10, Windows: 1}}}
	var text strings.Builder
	a := &app{&cli.App{Out: cli.NewOutput(&text)}}
	a.printSummary(summary)
	should.Hold(t, streamTable.MatchString(text.String()) && strings.Contains(text.String(), "\ndense         1.0 KiB      2.0 KiB       3.07\n"),
		"summary %s", text.String())
	text.Reset()
	summary.Layers[0].Windows = 1
	a.printSummary(summary)
	should.Not(t, strings.Contains(text.String(), "streams"), "summary without windows %s", text.String())
}

// TestKept: a calibration that is kept is found again for the same processors, kernels and threads; a damaged file, or
// a user without a directory for it, is as if there were none.
func TestKept(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	c := keptCalibration(cpu.BMI2, 2)
	must.Hold(t, c == nil, "%+v before anything was kept", c)
	want := plan.Typical(cpu.BMI2, 2)
	want.Capture = 4.5
	must.OK(t, keep(want))
	must.Same(t, "another calibration", want, keptCalibration(cpu.BMI2, 2))
	should.Hold(t, keptCalibration(cpu.Generic, 2) == nil && keptCalibration(cpu.BMI2, 3) == nil, "it serves other kernels, or threads")
	must.OK(t, os.WriteFile(filepath.Join(cache, keptIn, keptName), []byte("{}"), 0o600))
	c = keptCalibration(cpu.BMI2, 2)
	should.Hold(t, c == nil, "%+v from a damaged file", c)
	missing := filepath.Join(cache, "missing")
	t.Setenv("XDG_CACHE_HOME", missing)
	t.Setenv("HOME", missing)
	must.OK(t, keep(want))
	_, err := os.Stat(missing)
	should.Hold(t, os.IsNotExist(err), "a directory for the user was made: %v", err)
}

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

// TestSearchDetail has JSON lines tell the bounds so far.
func TestSearchDetail(t *testing.T) {
	r := search.Result{Value: search.Value{Lower: -2, Upper: 5, Estimate: 1}, Depth: 7, Nodes: 3000, NodesPerSecond: 1500, Line: []int{4, 0}, Elapsed: time.Second}
	got, err := json.Marshal(r)
	const want = `{"lower":-2,"upper":5,"estimate":1,"line":[4,0],"depth":7,"nodes":3000,"nodes_per_second":1500}`
	should.Hold(t, err == nil && string(got) == want, "%s, %v, want %s", got, err, want)
}

// TestLargestRowsFit: the lines of the largest layer fit a terminal, too, and keep the columns that count.
func TestLargestRowsFit(t *testing.T) {
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

// TestBenchFits: the table of a machine with many fast cores fits a narrow terminal.
func TestBenchFits(t *testing.T) {
	rates := calibrate.Rates{
		Kernel: "generic", One: map[int]float64{8: 999.99e6, 6: 999.99e6, 4: 999.99e6, 3: 999.99e6, 2: 999.99e6}, All: 99_999.99e6, Decoded: 9999e6,
	}
	for width, want := range map[int]string{
		79: "kernels  8 bits 6 bits 4 bits 3 bits 2 bits 128 cores decoding\ngeneric  999.99 999.99 999.99 999.99 999.99  99999.99     9999\n",
		49: "kernels  8 bits 6 bits 4 bits 3 bits 2 bits 128 cores\ngeneric  999.99 999.99 999.99 999.99 999.99  99999.99\n",
	} {
		got := tableOf(width, benchColumns(128), rates)
		should.Hold(t, got == want, "width %d:\n%swant\n%s", width, got, want)
	}
}

// tableOf returns a table of one row.
func tableOf[R any](width int, columns []cli.Column[R], row R) string {
	var text strings.Builder
	cli.NewTable(&text, width, columns).Add(row)
	return text.String()
}
