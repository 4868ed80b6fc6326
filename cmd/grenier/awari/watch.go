package awari

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
)

// watch is the one writer of the events of a run of solve: the events of package solve, its steps
// among them, and the ones below. It adds them up and hands each to the readers: the terminal, the
// log, the status file, the metrics, code that ends the run early, and commands of the user.
type watch struct {
	app    *app
	flags  solveFlags
	family cpu.Family
	start  time.Time
	// readers get each event in this order, and the end of the run in the opposite one. Goroutines
	// call them at the same time. An error at Locked, Begins or Sealed ends the run; there are
	// none at other events.
	readers []func(solve.Event) error

	mu     sync.Mutex
	course course
	warned map[string]bool
}

// tick is the number of whole seconds since the run began.
type tick int

// note is a message for the user.
type note string

// warning is a failure that does not affect the run.
type warning struct {
	what string
	err  error
}

// called says how the command of --on-layer ended for a layer.
type called struct {
	seeds int
	took  time.Duration
	err   error
}

// what names the call.
func (c called) what() string { return fmt.Sprintf("--on-layer for layer %d", c.seeds) }

// cut reports whether the command did not end by itself.
func (c called) cut() bool { return errors.Is(c.err, context.Canceled) }

// course sums up the events of a run.
type course struct {
	dir      *rundir.Locked // nil before the run has it
	manifest manifest.Manifest
	sealedAt time.Time // of the newest layer, zero if this run sealed none
	calls    *int      // as in rundir.Status
	progress solve.Progress
	state    rundir.State
	err      error // why it failed
}

// newWatch returns the events of a run that starts now.
func newWatch(a *app, f solveFlags, family cpu.Family) *watch {
	return &watch{app: a, flags: f, family: family, start: time.Now(), course: course{state: rundir.Running}, warned: map[string]bool{}}
}

// tell adds an event to the course of the run and hands it to the readers.
func (w *watch) tell(e solve.Event) error {
	w.mu.Lock()
	w.add(e)
	w.mu.Unlock()
	readers := w.readers
	if _, ended := e.(solve.Ended); ended {
		readers = slices.Clone(readers)
		slices.Reverse(readers)
	}
	for _, take := range readers {
		if err := take(e); err != nil {
			return err
		}
	}
	return nil
}

// add adds an event; w.mu is held.
func (w *watch) add(e solve.Event) {
	c := &w.course
	switch e := e.(type) {
	case solve.Locked:
		c.dir, c.manifest = e.Dir, *e.Manifest
		c.manifest.Layers = slices.Clip(c.manifest.Layers)
		if w.flags.onLayer != "" {
			c.calls = new(callsMade(e.Dir, len(c.manifest.Layers)))
		}
	case job.Step:
		c.progress = e.Detail.(solve.Progress)
	case solve.Sealed:
		c.manifest, c.sealedAt = *c.manifest.With(e.Layer), time.Now()
	case called:
		if !e.cut() {
			if calls := e.seeds + 1; c.calls == nil || calls > *c.calls { // one that had been left out is behind others
				c.calls = &calls
			}
		}
	case solve.Ended:
		if c.state = stateOf(e.Err); c.state == rundir.Failed {
			c.err = e.Err
		}
	}
}

// stateOf returns the state of a run that ended with err.
func stateOf(err error) rundir.State {
	switch {
	case err == nil:
		return rundir.Done
	case errors.Is(err, fault.Pause):
		return rundir.Paused
	case errors.Is(err, context.Canceled):
		return rundir.Interrupted
	}
	return rundir.Failed
}

// now returns the course of the run so far.
func (w *watch) now() course {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.course
}

// warn tells of a failure that does not affect the run, once.
func (w *watch) warn(what string, err error) {
	w.mu.Lock()
	again := w.warned[what]
	w.warned[what] = true
	w.mu.Unlock()
	if !again {
		w.tell(warning{what, err})
	}
}

// status returns the report about the run.
func (w *watch) status() *rundir.Status {
	c := w.now()
	p := c.progress
	s := &rundir.Status{
		PID: os.Getpid(), State: c.state, Started: w.start.UTC(), Reported: time.Now().UTC(),
		Last: w.flags.seeds, Threads: w.flags.Threads, Kernel: w.family.String(), Calls: c.calls,
		Seeds: p.Seeds, Positions: p.Positions, Stage: p.Stage, Sweep: p.Sweep, Share: p.Share, Changed: p.Changed,
		RunDone: p.RunDone, RunTotal: p.RunTotal, Rate: p.Rate, LayerLeft: p.LayerLeft, RunLeft: p.RunLeft, Spread: p.Spread, RSS: cli.CurrentRSS(), PeakRSS: cli.PeakRSS(),
	}
	if c.err != nil {
		s.Error = cli.OneLine(c.err)
	}
	return s
}

// view returns the text of the status. It does not look at the lock, which this process holds.
func (w *watch) view() string {
	c := w.now()
	if c.dir == nil {
		return w.flags.dir + ": starting\n"
	}
	now := rundir.Activity{
		State: rundir.Running, Holder: rundir.Holder{Held: true, PID: os.Getpid(), Alive: true}, Report: w.status(),
	}
	return runView{path: c.dir.Path(), manifest: &c.manifest, activity: now, now: time.Now()}.String()
}

// clock is a reader that tells ticks while the run goes on.
func (w *watch) clock() func(solve.Event) error {
	stop, n := func() {}, tick(0)
	return func(e solve.Event) error {
		switch e.(type) {
		case solve.Locked:
			stop = w.app.every(time.Second, func(time.Time) { n++; w.tell(n) })
		case solve.Ended:
			stop()
		}
		return nil
	}
}

// statusFile is a reader that replaces the status file.
func (w *watch) statusFile() func(solve.Event) error {
	var mu sync.Mutex
	begun := false
	return func(e solve.Event) error {
		switch e.(type) {
		case solve.Locked, tick, called, solve.Ended:
		default:
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if _, locked := e.(solve.Locked); locked {
			begun = true
		}
		if begun {
			w.saveStatus()
		}
		return nil
	}
}

// saveStatus replaces the status file.
func (w *watch) saveStatus() {
	if err := w.now().dir.SaveStatus(w.status()); err != nil {
		w.warn("the status cannot be written", err)
	}
}

// every calls f again and again, until stop is called, which waits for the end of a call.
func (a *app) every(period time.Duration, f func(time.Time)) (stop func()) {
	done := make(chan struct{})
	wait := a.Background(func() {
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		for {
			select {
			case now := <-ticker.C:
				f(now)
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		wait()
	}
}
