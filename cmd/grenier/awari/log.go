package awari

import (
	"context"
	"errors"
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
)

// logFile is the log of a run directory. It remembers the first failure to write it, which a
// logger does not return.
type logFile struct {
	*slog.Logger
	file io.WriteCloser
	mu   sync.Mutex
	err  error
}

// newLog returns a log that is written to file.
func newLog(file io.WriteCloser) *logFile {
	l := &logFile{file: file}
	l.Logger = slog.New(slog.NewTextHandler(l, nil))
	return l
}

// Write writes p.
func (l *logFile) Write(p []byte) (int, error) {
	n, err := l.file.Write(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
	return n, err
}

// failure returns the first failure.
func (l *logFile) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// close closes the file. It returns the first failure.
func (l *logFile) close() error { return errors.Join(l.failure(), l.file.Close()) }

// runLog is a reader that writes the log of a run. Only at the start is it an error that it cannot.
type runLog struct {
	watch *watch
	mu    sync.Mutex
	log   *logFile // nil before the run and after it
}

// logFailure is the warning about the log, the only one that it does not have.
const logFailure = "the log cannot be written"

// take logs an event.
func (r *runLog) take(e solve.Event) error {
	if w, ok := e.(warning); ok && w.what == logFailure {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if locked, ok := e.(solve.Locked); ok {
		return r.open(locked)
	}
	if r.log == nil {
		return nil
	}
	switch e := e.(type) {
	case solve.Sealed:
		r.sealed(e.Report)
	case note:
		r.log.Warn(string(e))
	case warning:
		r.log.Warn(e.what, "error", cli.OneLine(e.err))
	case called:
		r.called(e)
	case solve.Ended:
		r.ended(e.Err)
		return r.close()
	}
	if err := r.log.failure(); err != nil {
		r.watch.warn(logFailure, err)
	}
	return nil
}

// open opens the log and writes its first line.
func (r *runLog) open(locked solve.Locked) error {
	file, err := locked.Dir.OpenLog()
	if err != nil {
		return err
	}
	log := newLog(file)
	log.Info("start", r.circumstances(len(locked.Manifest.Layers))...)
	if log.failure() != nil {
		return log.close()
	}
	r.log = log
	return nil
}

// close closes the log.
func (r *runLog) close() error {
	if err := r.log.close(); err != nil {
		r.watch.warn(logFailure, err)
	}
	r.log = nil
	return nil
}

// circumstances are the attributes of the first line of a run in the log.
func (r *runLog) circumstances(layers int) []any {
	host, _ := os.Hostname() // empty if unknown
	f := r.watch.flags
	return []any{
		"version", cli.Release, "pid", os.Getpid(),
		"seeds", f.seeds, "pits", f.pits, "rules", f.rules, "memory", f.Memory.String(), "threads", f.Threads,
		"codec", layerfile.LZ4.String(), "engine", f.engine, "kernel", r.watch.family.String(), "layers", layers,
		"host", host, "cpu", cpu.Name(), "cpus", runtime.NumCPU(), "system", runtime.GOOS + "/" + runtime.GOARCH,
		"go", runtime.Version(), "work", f.work, "layers_to", f.layersTo, "until", f.until,
	}
}

// sealed logs a layer.
func (r *runLog) sealed(report solve.Report) {
	l, t := report.Layer, figuresOf(report)
	var stages []any
	for _, name := range slices.Sorted(maps.Keys(t.Stages)) {
		stages = append(stages, name, rounded(t.Stages[name]))
	}
	r.log.Info("sealed", "layer", l.Seeds, "positions", l.Positions, "seconds", rounded(t.Seconds),
		"positions_per_second", int64(t.Rate), "bytes", l.Bytes, "win", l.Win, "draw", l.Draw, "loss", l.Loss,
		"fnv1a64", l.Hash.String(), "sweeps", t.Sweeps, "events", t.Events, slog.Group("seconds_of", stages...),
		"rss_bytes", cli.CurrentRSS())
}

// called logs a call of a command of the user.
func (r *runLog) called(c called) {
	level, args := slog.LevelInfo, []any{"command", c.what(), "seconds", rounded(c.took.Seconds())}
	if c.err != nil {
		level, args = slog.LevelWarn, append(args, "error", cli.OneLine(c.err))
	}
	r.log.Log(context.Background(), level, "called", args...)
}

// rounded returns seconds to the millisecond.
func rounded(seconds float64) float64 { return math.Round(seconds*1e3) / 1e3 }

// ended logs how the run ended; err is the reason.
func (r *runLog) ended(err error) {
	p, took := r.watch.now().progress, slog.Float64("seconds", rounded(time.Since(r.watch.start).Seconds()))
	state := string(stateOf(err))
	switch {
	case err == nil:
		r.log.Info(state, "positions", uint64(p.RunDone), took, "peak_rss_bytes", cli.PeakRSS())
	case errors.Is(err, fault.Pause):
		r.log.Info(state, "why", cli.OneLine(err), "layer", p.Seeds, "stage", p.Stage, "sweep", p.Sweep, took)
	case errors.Is(err, context.Canceled):
		r.log.Warn(state, "layer", p.Seeds, "stage", p.Stage, "sweep", p.Sweep, took)
	case cli.IsType[*crew.PanicError](err):
		r.bug(err, p)
	default:
		r.log.Error(state, "error", cli.OneLine(err), "layer", p.Seeds, "stage", p.Stage, took)
	}
}

// bug logs a panic with its stack.
func (r *runLog) bug(err error, p solve.Progress) {
	bug, _ := errors.AsType[*crew.PanicError](err)
	r.log.Error(cli.OneLine(bug), "version", cli.Release, "kernel", r.watch.family.String(),
		"layer", p.Seeds, "stage", p.Stage, "stack", bug.Stack)
	if r.log.failure() == nil {
		r.watch.app.Log = filepath.Join(r.watch.now().dir.Path(), rundir.LogName)
	}
}
