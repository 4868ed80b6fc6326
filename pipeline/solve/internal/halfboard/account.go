package halfboard

import (
	"sync/atomic"
	"time"
)

// Progress says how far a layer is.
type Progress struct {
	Seeds     int    // of the layer
	Positions uint64 // of the layer
	Stage     Stage
	Sweep     int     // sweeps begun, dense and sparse
	Done      uint64  // positions that the stage, or sweep, has finished
	Changed   uint64  // scores changed by the sweep so far
	Base      int     // of the window in progress
	Values    int     // that it tells apart; 0 in a layer in one piece
	Traffic   Traffic // of the work directory so far
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
// and wrote, those of adding up the windows last. All are 0 for a layer that is solved in
// one piece, but for its checkpoints.
type Traffic struct{ Read, Written [Stages + 1]uint64 }

// An account says what a layer has taken so far, and tells how far it is.
type account struct {
	stats     Stats
	seeds     int       // of the layer
	positions uint64    // of the layer
	began     time.Time // this run, with this layer
	stage     Stage     // in progress
	since     time.Time // its time is in stats up to then; zero before the first stage
	traffic   traffic
	changed   atomic.Uint64 // scores that the sweep changed
	reports   reports
}

// traffic is Traffic that grows.
type traffic struct{ read, written [Stages + 1]atomic.Uint64 }

// reports are what an account tells.
type reports struct {
	progress func(Progress) // nil: nobody listens
	often    bool           // in tests: about everything
	window   func() (base, values int)
	last     atomic.Int64 // the stage and the sweep of the last report
	lastAt   atomic.Int64 // when it was made, since the run began
}

// now returns the traffic so far.
func (t *traffic) now() (now Traffic) {
	for stage := range now.Read {
		now.Read[stage], now.Written[stage] = t.read[stage].Load(), t.written[stage].Load()
	}
	return now
}

// enter begins a stage, or a sweep of another stage.
func (a *account) enter(s Stage) {
	a.pass()
	a.stage = s
}

// pass brings the time of the stage in progress up to date.
func (a *account) pass() {
	now := time.Now()
	if !a.since.IsZero() {
		a.stats.Stages[a.stage] += now.Sub(a.since)
	}
	a.since = now
}

// tellAfter is the least time between two reports about the same stage or sweep, unless it ends.
const tellAfter = 10 * time.Millisecond

// worthTelling reports whether a report says something new.
func (a *account) worthTelling(stage Stage, share float64) bool {
	now := time.Since(a.began)
	what, r := int64(a.stats.Sweeps)*int64(Stages)+int64(stage), &a.reports
	if r.last.Swap(what) == what && share < 1 && !r.often && now-time.Duration(r.lastAt.Load()) < tellAfter {
		return false
	}
	r.lastAt.Store(int64(now))
	return true
}

// tell reports that a share of a stage, or of a sweep, is done.
func (a *account) tell(stage Stage, share float64) {
	if a.reports.progress == nil || !a.worthTelling(stage, share) {
		return
	}
	p := Progress{
		Seeds: a.seeds, Positions: a.positions, Stage: stage, Sweep: a.stats.Sweeps + 1,
		Done: uint64(share * float64(a.positions)), Changed: a.changed.Load(), Traffic: a.traffic.now(),
	}
	if a.reports.window != nil {
		p.Base, p.Values = a.reports.window()
	}
	a.reports.progress(p)
}
