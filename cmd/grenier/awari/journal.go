package awari

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/io/crew"
	"grenier/io/layerfile"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

// journal reports a run of solve: in a status file that is replaced once a second, in a log, and
// on stderr when a signal asks for it.
type journal struct {
	app    *app
	flags  solveFlags
	family cpu.Family
	errs   io.Writer
	shown  *cli.Progress
	start  time.Time
	// metrics, if not nil, gets the same reports.
	metrics *metrics

	mu     sync.Mutex
	dir    *rundir.Locked // nil before begin
	latest solve.Progress
	warned map[string]bool

	file  io.WriteCloser
	lines *logWriter // into file
	log   *slog.Logger
	done  chan struct{}
	wait  func() // for the end of tick
}

// begin opens the log and publishes the first status. Only here is it an error that the log
// cannot be written.
func (j *journal) begin(dir *rundir.Locked) error {
	m, err := tables.Manifest(dir)
	if err != nil {
		return err
	}
	if j.file, err = dir.OpenLog(); err != nil {
		return err
	}
	j.lines = &logWriter{w: j.file}
	j.log = slog.New(slog.NewTextHandler(j.lines, nil))
	j.log.Info("start", j.circumstances(len(m.Layers))...)
	if err := j.lines.failure(); err != nil {
		return errors.Join(err, j.file.Close())
	}
	j.mu.Lock()
	j.dir = dir
	j.mu.Unlock()
	j.publish(rundir.Running, nil)
	if j.metrics != nil {
		j.metrics.begin(m.Layers)
	}
	j.done = make(chan struct{})
	j.wait = j.app.Background(j.tick)
	return nil
}

// circumstances are the attributes of the first line of a run in the log.
func (j *journal) circumstances(layers int) []any {
	host, _ := os.Hostname() // empty if unknown
	f := j.flags
	return []any{
		"version", cli.Release, "pid", os.Getpid(),
		"seeds", f.seeds, "pits", f.pits, "rules", f.rules, "memory", f.memory.String(), "threads", f.threads,
		"codec", layerfile.LZ4.String(), "engine", f.engine, "kernel", j.family.String(), "layers", layers,
		"host", host, "cpu", cpu.Name(), "cpus", runtime.NumCPU(), "system", runtime.GOOS + "/" + runtime.GOARCH,
		"go", runtime.Version(), "work", f.work, "layers_to", f.layersTo, "until", f.until,
	}
}

// metricsCadence is the number of seconds between two metrics files.
const metricsCadence = 15

// tick publishes the status until end.
func (j *journal) tick() {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for second := 1; ; second++ {
		select {
		case <-ticker.C:
			j.publish(rundir.Running, nil)
			if j.metrics != nil && second%metricsCadence == 0 {
				j.metrics.write()
			}
		case <-j.done:
			return
		}
	}
}

// update keeps the progress of the run.
func (j *journal) update(p solve.Progress) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.latest = p
}

// progress returns the progress of the run.
func (j *journal) progress() solve.Progress {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.latest
}

// status returns the report about the run.
func (j *journal) status(state rundir.State, err error) *rundir.Status {
	p := j.progress()
	s := &rundir.Status{
		PID: os.Getpid(), State: state, Started: j.start.UTC(), Reported: time.Now().UTC(),
		Last: j.flags.seeds, Threads: j.flags.threads, Kernel: j.family.String(),
		Seeds: p.Seeds, Positions: p.Positions, Stage: p.Stage, Sweep: p.Sweep, Share: p.Share, Changed: p.Changed,
		RunDone: p.RunDone, RunTotal: p.RunTotal, Rate: p.Rate, RSS: cli.CurrentRSS(), PeakRSS: cli.PeakRSS(),
	}
	if err != nil {
		s.Error = cli.OneLine(err)
	}
	return s
}

// publish replaces the status file.
func (j *journal) publish(state rundir.State, err error) {
	const failure = "the status cannot be written"
	if err := j.dir.SaveStatus(j.status(state, err)); err != nil && j.warn(failure, err) {
		j.record(slog.LevelWarn, failure, "error", cli.OneLine(err))
	}
}

// record adds a line to the log.
func (j *journal) record(level slog.Level, message string, args ...any) {
	j.log.Log(context.Background(), level, message, args...)
	if err := j.lines.failure(); err != nil {
		j.warn("the log cannot be written", err)
	}
}

// warn prints a warning about a failure that does not affect the run, once, and reports whether
// it did so now.
func (j *journal) warn(what string, err error) bool {
	j.mu.Lock()
	again := j.warned[what]
	if j.warned == nil {
		j.warned = map[string]bool{}
	}
	j.warned[what] = true
	j.mu.Unlock()
	if !again {
		j.shown.Pause(func() { fmt.Fprintf(j.errs, "grenier: warning: %s: %s\n", what, cli.OneLine(err)) })
	}
	return !again
}

// note prints and logs a note.
func (j *journal) note(text string) {
	j.shown.Pause(func() { fmt.Fprintf(j.errs, "grenier: note: %s\n", text) })
	j.record(slog.LevelWarn, text)
}

// sealed logs a layer.
func (j *journal) sealed(r solve.Report) {
	l, t := r.Layer, figuresOf(r)
	if j.metrics != nil {
		j.metrics.sealed(l)
	}
	var stages []any
	for _, name := range slices.Sorted(maps.Keys(t.Stages)) {
		stages = append(stages, name, rounded(t.Stages[name]))
	}
	j.record(slog.LevelInfo, "sealed", "layer", l.Seeds, "positions", l.Positions, "seconds", rounded(t.Seconds),
		"positions_per_second", int64(t.Rate), "bytes", l.Bytes, "win", l.Win, "draw", l.Draw, "loss", l.Loss,
		"fnv1a64", l.Hash.String(), "sweeps", t.Sweeps, "events", t.Events, slog.Group("seconds_of", stages...),
		"rss_bytes", cli.CurrentRSS())
}

// called logs a call of a command of the user, and warns if it failed.
func (j *journal) called(what string, took time.Duration, err error) {
	if err == nil {
		j.record(slog.LevelInfo, "called", "command", what, "seconds", rounded(took.Seconds()))
		return
	}
	j.shown.Pause(func() { fmt.Fprintf(j.errs, "grenier: warning: %s: %s\n", what, cli.OneLine(err)) })
	j.record(slog.LevelWarn, "called", "command", what, "seconds", rounded(took.Seconds()), "error", cli.OneLine(err))
}

// rounded returns seconds to the millisecond.
func rounded(seconds float64) float64 { return math.Round(seconds*1e3) / 1e3 }

// end reports how the run ended; err is the reason.
func (j *journal) end(err error) {
	close(j.done)
	j.wait()
	took := slog.Float64("seconds", rounded(time.Since(j.start).Seconds()))
	switch p := j.latest; {
	case err == nil:
		j.leave(rundir.Finished, nil)
		j.record(slog.LevelInfo, "finished", "positions", uint64(p.RunDone), took, "peak_rss_bytes", cli.PeakRSS())
	case errors.Is(err, fault.Pause):
		j.leave(rundir.Interrupted, nil)
		j.record(slog.LevelInfo, "paused", "why", cli.OneLine(err), "layer", p.Seeds, "stage", p.Stage, "sweep", p.Sweep, took)
	case errors.Is(err, context.Canceled):
		j.leave(rundir.Interrupted, nil)
		j.record(slog.LevelWarn, "interrupted", "layer", p.Seeds, "stage", p.Stage, "sweep", p.Sweep, took)
	case cli.IsType[*crew.PanicError](err):
		j.leave(rundir.Failed, err)
		j.recordBug(err, p)
	default:
		j.leave(rundir.Failed, err)
		j.record(slog.LevelError, "failed", "error", cli.OneLine(err), "layer", p.Seeds, "stage", p.Stage, took)
	}
	if err := j.file.Close(); err != nil {
		j.warn("the log cannot be written", err)
	}
}

// leave publishes how the run ended.
func (j *journal) leave(state rundir.State, err error) {
	j.publish(state, err)
	if j.metrics != nil {
		j.metrics.end(state)
	}
}

// recordBug logs a panic with its stack.
func (j *journal) recordBug(err error, p solve.Progress) {
	bug, _ := errors.AsType[*crew.PanicError](err)
	j.record(slog.LevelError, cli.OneLine(bug), "version", cli.Release, "kernel", j.family.String(),
		"layer", p.Seeds, "stage", p.Stage, "stack", bug.Stack)
	if j.lines.failure() == nil {
		j.app.Log = filepath.Join(j.dir.Path(), rundir.LogName)
	}
}

// answer prints the status to stderr.
func (j *journal) answer() {
	j.mu.Lock()
	dir := j.dir
	j.mu.Unlock()
	text := j.flags.dir + ": starting\n"
	if dir != nil {
		text = j.view(dir)
	}
	j.shown.Pause(func() { fmt.Fprint(j.errs, cli.WrapLines(text, cli.WidthOf(j.errs), statusIndent)) })
}

// view returns the text of the status. It does not look at the lock, which this process holds.
func (j *journal) view(dir *rundir.Locked) string {
	m, err := tables.Manifest(dir)
	if err != nil {
		return "grenier: " + cli.OneLine(err) + "\n"
	}
	now := rundir.Activity{
		State: rundir.Running, Holder: rundir.Holder{Held: true, PID: os.Getpid(), Alive: true},
		Report: j.status(rundir.Running, nil),
	}
	return runView{path: dir.Path(), manifest: m, activity: now, now: time.Now()}.String()
}

// logWriter remembers the first failure to write the log, which a logger does not return.
type logWriter struct {
	w   io.Writer
	mu  sync.Mutex
	err error
}

// Write writes p.
func (l *logWriter) Write(p []byte) (int, error) {
	n, err := l.w.Write(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
	return n, err
}

// failure returns the first failure.
func (l *logWriter) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
