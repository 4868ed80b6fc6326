// Package job has the common options and progress of the runs of all engines: the share of the
// machine that a run may take (Job), which share of the run a process does (Part), and how far it is (Step).
//
// The Options of an engine embed a Job. Package cli of the commands binds it to flags and shows its
// steps; an engine that runs another one passes its Job on, with a Progress of its own.
package job

import (
	"fmt"
	"time"

	"grenier/kernels/cpu"
)

// Job says how much a run may take, and whom it tells. Engines say which fields they do not use.
type Job struct {
	// Workers is the number of goroutines that compute; 0 means one.
	Workers int
	// Family is the kernel family.
	Family cpu.Family
	// Memory bounds the bytes of the process; 0 is no bound.
	Memory uint64
	// Note, if not nil, gets messages for the user.
	Note func(string)
	// Progress, if not nil, is called often, from any goroutine, by one at a time.
	Progress func(Step)
}

// Step says how far a run is.
type Step struct {
	Doing string // in a few words
	Seeds int    // of the layer in progress, if the run goes through layers by seeds
	// Done of Total units are done, Begun of them before this run.
	Begun, Done, Total float64
	Unit               Unit
	Found              uint64 // by a search, so far
	// Limit is how long the run lasts at most, 0 for any time. With one, the shares of time are shown.
	Limit time.Duration
	// Pace, if not nil, is an estimate of the run itself. Otherwise the rest takes as long as
	// the work done, unit by unit.
	Pace *Pace
	// Detail is for programs that follow the run, as JSON; nil for nothing.
	Detail any
}

// OfLayer returns the step of a run that is at the layer of n seeds.
func OfLayer[N uint64 | int64 | float64](n int, begun, done, total N) Step {
	return Step{Doing: fmt.Sprintf("layer %d", n), Seeds: n, Begun: float64(begun), Done: float64(done), Total: float64(total)}
}

// Unit is a unit of work.
type Unit uint8

// The units.
const (
	Positions Unit = iota
	Bytes
	Items  // few, whose speed says nothing
	Shares // parts of the whole, whose speed says nothing and is 0 for programs
)

// Pace is an estimate of how fast a run is.
type Pace struct {
	Rate  float64       // positions a second, 0 if not known yet, or NoRate
	Layer time.Duration // that the layer in progress still takes, Unknown or NoLayer
	Run   time.Duration // that the run still takes, or Unknown
	// Spread says how sure Run is: it may be 1 + Spread times as long, or as short.
	Spread float64
}

// Values of a remaining time that is not known, or does not exist.
const (
	Unknown time.Duration = -1
	NoLayer time.Duration = -2
)

// NoRate is the rate of work that has no positions.
const NoRate = -1

// Tell reports progress, if anybody wants to know.
func (j *Job) Tell(s Step) {
	if j.Progress != nil {
		j.Progress(s)
	}
}

// Notef tells the user something, if there is one.
func (j *Job) Notef(format string, args ...any) {
	if j.Note != nil {
		j.Note(fmt.Sprintf(format, args...))
	}
}

// PaceAfter returns the pace of a run in the given time: the speed of the work done, and of the rest.
func (s *Step) PaceAfter(elapsed time.Duration) Pace {
	if s.Pace != nil {
		return *s.Pace
	}
	p := Pace{Layer: NoLayer, Run: Unknown}
	if s.Done > s.Begun && elapsed > 0 {
		rate := (s.Done - s.Begun) / elapsed.Seconds()
		p.Rate, p.Run = rate, time.Duration((s.Total-s.Done)/rate*float64(time.Second))
	}
	return p
}
