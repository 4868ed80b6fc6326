package fixpoint

import (
	"sync/atomic"
	"time"
)

// Progress says how far a layer is.
type Progress struct {
	Seeds     int    // of the layer
	Positions uint64 // of the layer
	Stage     Stage
	Turning   bool    // no sweep has begun: Done counts the beginning of a window
	Sweep     int     // sweeps begun, dense and sparse
	Done      uint64  // positions that the stage, or sweep, has finished
	Changed   uint64  // scores changed by the sweep so far
	Base      int     // of the window in progress
	Values    int     // that it tells apart; 0 in a layer in one piece
	Ends      int64   // scores at an end of the window before; 0 in the first one
	Traffic   Traffic // of the work directory so far
	Kept      *Kept   // while streams of earlier runs are read to their end, which Done counts; else nil
}

// Kept is what earlier runs left of a layer, as far as headers of streams tell.
type Kept struct {
	Bytes    int64   // of the streams
	Captures float64 // share of the capture values
	Base     int     // of the first window that is not kept
	Swept    bool    // in part: there is a checkpoint of its sweeps
}

// Stage is a part of the work on a layer.
type Stage uint8

// The stages, in order.
const (
	CaptureStage Stage = iota
	DenseStage
	SparseStage
	FullStage
	Stages
)

var stageNames = [Stages]string{"capture", "dense", "sparse", "full"}

// String returns the name of the stage, as reports of progress have it.
func (s Stage) String() string { return stageNames[s] }

// Stats says what a layer took in all runs that worked on it, of interrupted ones up to
// the checkpoint that the next run resumed from.
type Stats struct {
	Before  time.Duration // all that runs before this one took
	Stages  [Stages]time.Duration
	Sweeps  int    // those that came to their end
	Changes uint64 // scores that these sweeps changed
	Events  uint64 // those that sparse sweeps changed
	Bytes   uint64 // memory taken for scores and offers
	Bits    int    // of a score in memory
	Windows int    // that the layer was solved in
	Traffic Traffic
}

// Traffic counts the bytes of streams in the work directory that the stages of a layer read
// and wrote, adding up the windows last. All are 0 for a layer that is solved in
// one piece, but for its checkpoints.
type Traffic struct{ Read, Written [Stages + 1]uint64 }

// An Account says what a layer has taken so far, and tells how far it is.
type Account struct {
	Stats     Stats
	Seeds     int       // of the layer
	Positions uint64    // of the layer
	Began     time.Time // this run, with this layer
	Stage     Stage     // in progress
	since     time.Time // its time is in stats up to then; zero before the first stage
	Traffic   traffic
	changed   atomic.Uint64 // scores that the sweep changed
	Turning   atomic.Bool   // a window begins
	Looking   atomic.Pointer[Kept]
	Reports   reports
}

// traffic is Traffic that grows.
type traffic struct{ Read, Written [Stages + 1]atomic.Uint64 }

// reports makes the reports of an account.
type reports struct {
	Progress func(Progress) // nil: nobody listens
	Often    bool           // in tests: about everything
	Window   func() (base, values int, ends int64)
	last     atomic.Int64 // the stage and the sweep of the last report
	lastAt   atomic.Int64 // when it was made, since the run began
}

// Now returns the traffic so far.
func (t *traffic) Now() (now Traffic) {
	for stage := range now.Read {
		now.Read[stage], now.Written[stage] = t.Read[stage].Load(), t.Written[stage].Load()
	}
	return now
}

// Enter begins a stage, or a sweep of another stage.
func (a *Account) Enter(s Stage) {
	a.Pass()
	a.Stage = s
}

// Pass brings the time of the stage in progress up to date.
func (a *Account) Pass() {
	now := time.Now()
	if !a.since.IsZero() {
		a.Stats.Stages[a.Stage] += now.Sub(a.since)
	}
	a.since = now
}

// tellAfter is the least time between two reports about the same stage or sweep, unless it ends.
const tellAfter = 10 * time.Millisecond

// worthTelling reports whether a report says something new.
func (a *Account) worthTelling(stage Stage, share float64) bool {
	now := time.Since(a.Began)
	what, r := int64(a.Stats.Sweeps)*int64(Stages)+int64(stage), &a.Reports
	switch {
	case a.Turning.Load():
		what = -1
	case a.Looking.Load() != nil:
		what = -2
	}
	if r.last.Swap(what) == what && share < 1 && !r.Often && now-time.Duration(r.lastAt.Load()) < tellAfter {
		return false
	}
	r.lastAt.Store(int64(now))
	return true
}

// Tell reports that a share of a stage, or of a sweep, is done.
func (a *Account) Tell(stage Stage, share float64) {
	if a.Reports.Progress == nil || !a.worthTelling(stage, share) {
		return
	}
	p := Progress{
		Seeds: a.Seeds, Positions: a.Positions, Stage: stage, Turning: a.Turning.Load(), Sweep: a.Stats.Sweeps + 1,
		Done: uint64(share * float64(a.Positions)), Changed: a.changed.Load(), Traffic: a.Traffic.Now(), Kept: a.Looking.Load(),
	}
	if a.Reports.Window != nil {
		p.Base, p.Values, p.Ends = a.Reports.Window()
	}
	a.Reports.Progress(p)
}
