package awari

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/io/rundir"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/plan"
)

// pauseError ends a run early, on request.
type pauseError struct{ why string }

// Error says why, and how to resume.
func (e *pauseError) Error() string { return "paused: " + e.why + "; the same command resumes" }

// Is makes it a pause.
func (e *pauseError) Is(target error) bool { return target == fault.Pause }

// Pauses that "stop" requests.
var (
	errAfterLayer = &pauseError{"stopped on request, after a layer"}
	errAtOnce     = &pauseError{"stopped on request"}
)

// pauser is a reader that ends a run at a given time, or on request.
type pauser struct {
	watch *watch
	game  awari.Game
	o     *solve.Options
	until time.Time // zero for no limit
	end   context.CancelCauseFunc

	dir  *rundir.Locked // nil before the run has it
	stop func()         // of looking at the clock and at requests

	mu   sync.Mutex
	lead time.Duration // to write the checkpoint of the layer in progress
}

// pauseCadence is the time between two checks of the clock and of requests.
const pauseCadence = 200 * time.Millisecond

// take fails if the run has to stop before a layer.
func (p *pauser) take(e solve.Event) error {
	switch e := e.(type) {
	case solve.Locked:
		return p.begin(e.Dir)
	case solve.Begins:
		return p.layer(e.Seeds)
	case solve.Ended:
		p.close()
	}
	return nil
}

// begin removes requests to an earlier run, and starts to look for those to this one.
func (p *pauser) begin(dir *rundir.Locked) error {
	if err := dir.ForgetStop(); err != nil {
		return err
	}
	p.dir = dir
	p.stop = p.watch.app.every(pauseCadence, func(now time.Time) {
		if why := p.why(now); why != nil {
			p.end(why)
		}
	})
	return nil
}

// why returns why the run has to stop at once, or nil.
func (p *pauser) why(now time.Time) error {
	p.mu.Lock()
	lead := p.lead
	p.mu.Unlock()
	switch {
	case !p.until.IsZero() && !now.Add(lead).Before(p.until):
		return &pauseError{"stopped for --until " + p.until.Format(time.DateTime+" MST")}
	case p.dir.Asked(os.Getpid()) == rundir.AtOnce:
		return errAtOnce
	}
	return nil
}

// leaving is what it takes at most to leave a layer, its checkpoint apart.
const leaving = 2 * time.Second

// layer fails if the run has to stop before the layer of n seeds.
func (p *pauser) layer(n int) error {
	checkpoint, err := plan.CheckpointTime(p.game, n, p.o.Memory, p.o.Workers, p.o.Calibration)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.lead = leaving + checkpoint
	p.mu.Unlock()
	if p.dir.Asked(os.Getpid()) == rundir.AfterLayer {
		return errAfterLayer
	}
	return p.why(time.Now())
}

// close ends the watch that begin started, if it did.
func (p *pauser) close() {
	if p.dir == nil {
		return
	}
	p.stop()
	if err := p.dir.ForgetStop(); err != nil {
		p.watch.warn("what the run was asked cannot be removed", err)
	}
}

// causeOf returns why a run with the error err ended: the pause that ended its context, if one
// did.
func causeOf(ctx context.Context, err error) error {
	var pause *pauseError
	if errors.Is(err, context.Canceled) && errors.As(context.Cause(ctx), &pause) {
		return pause
	}
	return cli.CauseOf(ctx, err)
}

// Forms of --until besides a duration: times of the day, and moments.
var (
	clockForms  = []string{"15:04", "15:04:05", "3pm", "3PM", "3:04pm", "3:04PM"}
	momentForms = []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05", time.RFC3339}
)

// parseUntil returns the moment that text means: so long after now, the next one with that time of the day, or that one. It
// refuses a moment in the past.
func parseUntil(text string, now time.Time) (time.Time, error) {
	until := now
	if d, err := time.ParseDuration(text); err == nil {
		until = now.Add(d)
	} else if t, ok := parseAny(clockForms, text, now); ok {
		until = nextTime(t, now)
	} else if until, ok = parseAny(momentForms, text, now); !ok {
		return until, cli.Usagef("--until %s: must be a time like 07:00 or 7am, a day and a time like %q, or a duration like 8h", cli.Quoted(text),
			now.Add(24*time.Hour).Format("2006-01-02 15:04"))
	}
	if !until.After(now) {
		return until, cli.Usagef("--until %s: must be in the future", cli.Quoted(text))
	}
	return until, nil
}

// parseAny reads a time in one of several forms.
func parseAny(forms []string, text string, now time.Time) (time.Time, bool) {
	for _, form := range forms {
		if t, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// nextTime returns the next moment after now at which clocks show the time of t.
func nextTime(t, now time.Time) time.Time {
	at := func(day int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()+day, t.Hour(), t.Minute(), t.Second(), 0, now.Location())
	}
	if today := at(0); today.After(now) {
		return today
	}
	return at(1)
}
