package cli

import (
	"runtime"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"grenier/pipeline/job"
)

// JobFlags are the flags of commands that work for a while: --threads, --memory, --progress and
// --json. A command may define only some of them.
type JobFlags struct {
	Threads int
	Memory  MemoryFlag
	Form    string // of progress
	JSON    bool
}

// JSONUsage describes --json.
const JSONUsage = "print one JSON object"

// Define adds the flags: --memory with the usual value memory, --json with the help json.
func (f *JobFlags) Define(a *App, flags *pflag.FlagSet, memory, json string) {
	f.Memory.Define(a, flags, memory, nil)
	ThreadsFlag(flags, &f.Threads, "use")
	ProgressFlag(flags, &f.Form)
	flags.BoolVar(&f.JSON, "json", false, json)
}

// Job checks the flags, and returns the job that they ask for, with any memory without --memory.
func (f *JobFlags) Job() (j job.Job, err error) {
	j.Workers = f.Threads
	if f.Memory.defined() {
		if j.Memory, err = f.Memory.Limit(); err != nil {
			return j, err
		}
	}
	j.Family, err = Family()
	return j, err
}

// Begin begins a job, whose progress and notes are shown until Close.
func (a *App) Begin(f *JobFlags, j *job.Job) (*Progress, error) {
	shown, err := a.NewProgress(f.Form, f.JSON)
	if err != nil {
		return nil, err
	}
	runtime.GOMAXPROCS(f.Threads)
	j.Progress, j.Note = shown.Show, a.Telling(shown)
	return shown, nil
}

// Telling returns a function that prints notes.
func (a *App) Telling(shown *Progress) func(string) {
	return func(text string) { shown.Pause(func() { a.Note("%s", text) }) }
}

// step is a job.Step to be shown.
type step job.Step

// State implements Stater.
func (s step) State(elapsed time.Duration) State {
	given := job.Step(s)
	p := given.PaceAfter(elapsed)
	switch s.Unit {
	case job.Bytes:
		s.Doing += ", " + humanize.SIWithDigits(p.Rate, 1, "B/s")
		p.Rate = job.NoRate
	case job.Items:
		p.Rate = job.NoRate
	case job.Shares:
		p.Rate = 0
	}
	if s.Limit > 0 {
		s.Done, s.Total = min(elapsed, s.Limit).Seconds(), s.Limit.Seconds()
		p.Run = max(0, s.Limit-elapsed)
	}
	return State{Doing: s.Doing, Done: s.Done, Total: s.Total, Elapsed: elapsed, Rate: p.Rate, LayerETA: p.Layer, RunETA: p.Run, Spread: p.Spread, Detail: s.Detail}
}
