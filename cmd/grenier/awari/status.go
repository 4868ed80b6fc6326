package awari

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables/catalog"
)

// statusReport is the JSON of status.
type statusReport struct {
	Rules     string        `json:"rules"`
	Pits      int           `json:"pits"`
	State     rundir.State  `json:"state"`
	Locked    bool          `json:"locked"`
	PID       int           `json:"pid"`
	Alive     bool          `json:"alive"`
	Layers    []statusLayer `json:"layers"`
	Positions uint64        `json:"positions"`
	Bytes     int64         `json:"bytes_on_disk"`            // of the layer files
	Distances int64         `json:"distance_bytes,omitempty"` // of the files of distances
	Report    *lastReport   `json:"report"`
	NoReport  string        `json:"no_report,omitempty"`
	Stop      rundir.Stop   `json:"stop,omitempty"`
	// Steps is what there is of the layer that is solved in steps, if one is.
	Steps *solve.StepsMade `json:"steps,omitempty"`
}

type statusLayer struct {
	Seeds     int     `json:"seeds"`
	Positions uint64  `json:"positions"`
	Bytes     int64   `json:"bytes"`
	Seconds   float64 `json:"seconds"`
	Directory string  `json:"directory,omitempty"`        // empty for the run directory
	Distances int64   `json:"distance_bytes,omitempty"`   // of the file of its distances
	MadeFrom  []int   `json:"made_from_others,omitempty"` // layers below that are others now
	LeftOut   bool    `json:"left_out,omitempty"`         // not solved: no layer above leads to it
}

// lastReport is the last report of the solver. The ETAs are nil if not known, or if no solver
// runs.
type lastReport struct {
	rundir.Status
	Age    float64  `json:"age_seconds"`
	ETA    *float64 `json:"eta_seconds"`
	RunETA *float64 `json:"run_eta_seconds"`
}

// statusFlags are the flags of status as given.
type statusFlags struct {
	dir         string
	json, watch bool
}

func (a *app) status() *cobra.Command {
	var f statusFlags
	cmd := &cobra.Command{
		Use:   "status --dir DIR",
		Short: "Show the progress of a run, from another terminal",
		Long: `Shows whether a solver runs in DIR and which process it is, the sealed layers,
the progress of the layer at hand and of the run, the time that they still take
at the speed of the newest layers, and the memory of the solver. If no solver
runs, it shows how the last run ended: done, paused (stopped on request),
interrupted (by a signal), killed or failed. This is not an error.

All this is read from DIR and does not disturb the solver, which reports once a
second. Without a recent report only the lock and the manifest are shown. A
solver on another machine is found too if the file system shares locks.

Of a layer that is solved in steps ("grenier awari step") it shows how many of
them are done.

The newest five sealed layers are listed, with --json all of them, and those
that were made from other layers than the ones below them now.
`,
		Example: `  grenier awari status --dir data/awari
  grenier awari status --dir data/awari --watch
  grenier awari status --dir data/awari --json`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error {
			if f.watch {
				return a.watchStatus(cmd.Context(), f)
			}
			v, err := newRunView(f.dir)
			if err != nil {
				return err
			}
			return a.showStatus(f, v)
		}),
	}
	needDir(cmd, &f.dir)
	cmd.Flags().BoolVar(&f.watch, "watch", false, "wait for a run to begin, and print again every second until it has ended")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object, with --watch one each second")
	return cmd
}

// watchStatus waits for a solver, and prints the status once a second until it has ended.
func (a *app) watchStatus(ctx context.Context, f statusFlags) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for began, shown := false, false; ; shown = true {
		v, err := newRunView(f.dir)
		absent := errors.Is(err, rundir.ErrMissing) && !began
		if err != nil && !absent {
			return err
		}
		running := v.activity.State == rundir.Running
		began = began || running
		if began || !shown {
			if err := a.showWatched(f, v, absent, !began, shown); err != nil {
				return err
			}
		}
		if a.Out.Broken() || began && !running {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// showWatched shows a status of several. There is none if the directory is absent.
func (a *app) showWatched(f statusFlags, v runView, absent, waits, again bool) error {
	switch {
	case f.json && absent:
		return nil
	case f.json:
		return a.showStatus(f, v)
	case cli.HasCursor(a.Out):
		fmt.Fprint(a.Out, "\x1b[H\x1b[2J") // clears the screen
	case again:
		fmt.Fprintln(a.Out)
	}
	if !absent {
		if err := a.showStatus(f, v); err != nil {
			return err
		}
	}
	if waits {
		a.Printf(0, "%s: waiting for a run to begin; Ctrl-C stops", f.dir)
	}
	return nil
}

// showStatus shows a status.
func (a *app) showStatus(f statusFlags, v runView) error {
	if f.json {
		return a.PrintJSON(v.report())
	}
	_, err := fmt.Fprint(a.Out, cli.WrapLines(v.String(), cli.WidthOf(a.Out), statusIndent))
	return err
}

// statusIndent is the width of the names before the lines of a status.
const statusIndent = 9

// runView is the visible state of a run.
type runView struct {
	path     string
	manifest *manifest.Manifest
	activity rundir.Activity
	stop     rundir.Stop // requested of the running solver
	stale    []error     // layers that were made from others than those below them
	steps    *solve.StepsMade
	now      time.Time
}

func newRunView(path string) (v runView, err error) {
	dir, err := rundir.Open(path)
	if err != nil {
		return v, err
	}
	v = runView{path: path, now: time.Now()}
	if v.activity, err = dir.Activity(v.now); err != nil {
		return v, err
	}
	if v.activity.State == rundir.Running {
		v.stop = dir.Asked(v.activity.PID)
	}
	if v.manifest, err = catalog.Manifest(dir); err != nil {
		return v, err
	}
	if v.steps, err = solve.MadeOf(dir, v.manifest); err != nil {
		return v, err
	}
	v.stale, err = catalog.Stale(path, v.manifest)
	return v, err
}

// progressOf returns the part of a report that is about progress.
func progressOf(s *rundir.Status) solve.Progress {
	return solve.Progress{
		Seeds: s.Seeds, Positions: s.Positions, Stage: s.Stage, Sweep: s.Sweep, Changed: s.Changed,
		RunDone: s.RunDone, RunTotal: s.RunTotal, Share: s.Share, Rate: s.Rate,
		LayerLeft: s.LayerLeft, RunLeft: s.RunLeft, Spread: s.Spread,
	}
}

// report returns v for JSON.
func (v runView) report() statusReport {
	act := v.activity
	r := statusReport{
		Rules: v.manifest.Rules, Pits: v.manifest.Pits, State: act.State, Locked: act.Held, PID: act.PID,
		Alive: act.Alive, Stop: v.stop, Steps: v.steps, Layers: make([]statusLayer, 0, len(v.manifest.Layers)),
	}
	for _, l := range v.manifest.Layers {
		r.Layers = append(r.Layers, statusLayer{l.Seeds, l.Positions, l.Bytes, l.Seconds, l.Directory, l.Distances.Bytes, nil, l.LeftOut()})
		r.Positions += l.Positions
		r.Bytes += l.Bytes
		r.Distances += l.Distances.Bytes
	}
	for _, err := range v.stale {
		if stale, ok := errors.AsType[*manifest.StaleError](err); ok {
			r.Layers[stale.Seeds].MadeFrom = stale.From
		}
	}
	if act.Report == nil {
		r.NoReport = reason(act.NoReport)
		return r
	}
	r.Report = &lastReport{Status: *act.Report, Age: v.age().Seconds()}
	if p := progressOf(act.Report); act.State == rundir.Running && p.RunLeft > 0 {
		r.Report.ETA, r.Report.RunETA = cli.SecondsOf(p.LayerETA()), cli.SecondsOf(p.RunETA())
	}
	return r
}

// reason says why there is no report.
func reason(err error) string {
	return strings.TrimPrefix(cli.OneLine(err), rundir.ErrNoReport.Error()+": ")
}

// age returns how old the report is.
func (v runView) age() time.Duration { return max(0, v.now.Sub(v.activity.Report.Reported)) }

// String returns v as text.
func (v runView) String() string {
	var text strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&text, "%-8s %s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(&text, "%s: %s\n", v.path, v.manifest.Identity)
	line("solver", "%s", v.solver())
	switch v.stop {
	case rundir.AfterLayer:
		line("", "will stop when this layer is sealed")
	case rundir.AtOnce:
		line("", "will stop now, with a checkpoint")
	}
	v.sealed(line)
	if s := v.steps; s != nil {
		line("steps", "layer %d, %d bits: %d of %s of capture values, %d of %s, %d of %s to seal", s.Plan.Seeds, s.Plan.Bits,
			s.Segments, cli.Count(s.Plan.Segments, "segment"), s.Windows, cli.Count(s.Plan.Windows, "window"), s.Pieces, cli.Count(s.Plan.Pieces, "piece"))
	}
	v.progress(line)
	return text.String()
}

// solver describes the running solver, or how the last run ended.
func (v runView) solver() string {
	act := v.activity
	s := act.Report
	switch act.State {
	case rundir.Running:
		return v.worker()
	case rundir.None:
		return "none"
	case rundir.Failed:
		return fmt.Sprintf("none; the last run %s at %s: %s", act.State, clockTime(s.Reported), s.Error)
	case rundir.Killed:
		if s == nil {
			return fmt.Sprintf("none; process %d was %s", act.PID, act.State)
		}
		return fmt.Sprintf("none; process %d was %s after %s; the same command resumes",
			s.PID, act.State, clockTime(s.Reported))
	}
	again := "; the same command resumes"
	if act.State == rundir.Done {
		again = ""
	}
	return fmt.Sprintf("none; the last run was %s at %s, after %s%s",
		act.State, clockTime(s.Reported), cli.Brief(max(0, s.Reported.Sub(s.Started))), again)
}

// worker describes the running solver.
func (v runView) worker() string {
	who := "a process of unknown id"
	if act := v.activity; act.PID > 0 {
		who = fmt.Sprintf("process %d", act.PID)
		if !act.Alive {
			who += ", not visible here: on another machine or in a container"
		}
	}
	if s := v.activity.Report; s != nil {
		who += fmt.Sprintf(", running for %s; threads %d, kernels %s", cli.Brief(max(0, v.now.Sub(s.Started))), s.Threads, s.Kernel)
	}
	return who
}

// clockTime returns the local time, with its zone.
func clockTime(t time.Time) string { return t.Local().Format(time.DateTime + " MST") }

// newest is the number of sealed layers that are listed.
const newest = 5

// sealed lists the sealed layers.
func (v runView) sealed(line func(name, format string, args ...any)) {
	r := v.report()
	n := len(r.Layers)
	if n == 0 {
		line("sealed", "no layer")
		return
	}
	line("sealed", "%s: %s, %s", solvedText(v.manifest), cli.Count(r.Positions, "position"), humanize.IBytes(uint64(r.Bytes)))
	for _, l := range r.Layers[max(0, n-newest):] {
		if l.LeftOut {
			line("", "layer %2d: left out; solve --seeds %d without --skip solves it", l.Seeds, n-1)
			continue
		}
		line("", "layer %2d: %s, %s, %.2f s", l.Seeds, cli.Count(l.Positions, "position"), humanize.IBytes(uint64(l.Bytes)), l.Seconds)
	}
	for _, p := range runs(r.Layers, func(l statusLayer) string { return l.Directory }) {
		line("", "layers %s in %s", p.layers, p.what)
	}
	for _, p := range runs(r.Layers, statusLayer.distances) {
		line("", "layers %s have %s: %s", p.layers, p.what, humanize.IBytes(uint64(r.Distances)))
	}
	for _, err := range v.stale {
		line("stale", "%s; %s", cli.OneLine(err), cli.StaleRemedy(v.path))
	}
}

// progress shows the progress of the run, or what it was when the run stopped.
func (v runView) progress(line func(name, format string, args ...any)) {
	act := v.activity
	if act.Report == nil {
		line("report", "none: %s", reason(act.NoReport))
		return
	}
	if act.State == rundir.Done {
		return
	}
	v.works(line)
	if act.Report.RSS > 0 {
		line("memory", "%s, %s at most", humanize.IBytes(act.Report.RSS), humanize.IBytes(act.Report.PeakRSS))
	}
	line("report", "%s, %s ago", clockTime(act.Report.Reported), cli.Brief(v.age()))
}

// works shows the progress of the layer at hand and of the run.
func (v runView) works(line func(name, format string, args ...any)) {
	s := progressOf(v.activity.Report)
	if s.Positions == 0 || s.RunTotal == 0 {
		return // the run had not begun with a layer
	}
	layerETA, runETA, changed := "", "", ""
	if v.activity.State == rundir.Running {
		pace := s.Step().Pace
		layerETA = ", ETA " + cli.Brief(pace.Layer)
		runETA = ", ETA " + cli.RunETA(pace, v.activity.Report.Reported)
		if speed := cli.Speed(s.Rate); speed != "" {
			runETA = ", " + speed + runETA
		}
	}
	if s.Changed > 0 {
		changed = fmt.Sprintf(", %s changed in this sweep", cli.Count(s.Changed, "score"))
	}
	line("doing", "%s: %.1f%% of %s%s%s",
		s.Doing(), 100*s.Share, cli.Count(s.Positions, "position"), layerETA, changed)
	line("run", "%.1f%% of the work up to layer %d%s", 100*s.RunDone/s.RunTotal, v.activity.Report.Last, runETA)
}

// distances says whether the layer has distances.
func (l statusLayer) distances() string {
	if l.Distances == 0 {
		return ""
	}
	return "distances"
}

// placed is which layers something is true of.
type placed struct{ what, layers string }

// runs returns which layers have each text that of returns but "", in the order of the first one.
func runs(layers []statusLayer, of func(statusLayer) string) (all []placed) {
	ranges := map[string]string{}
	for i := 0; i < len(layers); {
		first, what := i, of(layers[i])
		for i < len(layers) && of(layers[i]) == what {
			i++
		}
		text := fmt.Sprint(first)
		if i-1 > first {
			text = fmt.Sprintf("%d-%d", first, i-1)
		}
		if before, ok := ranges[what]; ok {
			ranges[what] = before + ", " + text
			continue
		}
		ranges[what] = text
		all = append(all, placed{what: what})
	}
	for i := range all {
		all[i].layers = ranges[all[i].what]
	}
	return slices.DeleteFunc(all, func(p placed) bool { return p.what == "" })
}
