package batch

import (
	"time"

	"grenier/io/manifest"
	"grenier/layers/awari"
	"grenier/pipeline/halfboard"
)

// Progress says how far a run is.
type Progress struct {
	Seeds     int    `json:"seeds"`     // of the layer in progress
	Positions uint64 `json:"positions"` // of the layer in progress
	Stage     string `json:"stage"`     // "capture", "dense", "sparse", "full" or "seal"
	Sweep     int    `json:"sweep"`     // dense sweeps begun
	Done      uint64 `json:"done"`      // positions that the stage, or the sweep, is through with
	Changed   uint64 `json:"changed"`   // scores that the sweep changed so far

	// RunDone and RunTotal measure the whole run in positions: those of the
	// layers sealed by it, plus the estimated share of the layer in progress,
	// out of those of all layers that it has to solve.
	RunDone  float64 `json:"run_done"`
	RunTotal float64 `json:"run_total"`

	// Share is the share of the work on the layer that is done, an estimate from
	// 0 to 1.
	Share float64 `json:"share"`
	// Rate is the number of positions a second, that of the layer before at first
	// and more and more that of the layer in progress; 0 when not known yet.
	Rate float64 `json:"positions_per_second"`
}

// sealStage is the stage after those of the engine.
const sealStage = halfboard.Stages

// stageName returns the name of a stage, sealing included.
func stageName(s halfboard.Stage) string {
	if s == sealStage {
		return "seal"
	}
	return s.String()
}

// estimate guesses the share of a layer's work that is done, and how fast it is
// done, from what the layer before took.
type estimate struct {
	finished, total float64 // positions of the run
	shares          [sealStage + 1]float64
	sweeps          int
	rate            float64 // of the newest layer that took long enough, 0 if none did
	clock           clock   // of the layer in progress
}

// tooShort is the time in which nothing can be learnt from a layer.
const tooShort = 100 * time.Millisecond

// newEstimate is for a run over the layers of game that m lacks up to last.
// Before the first layer is measured, it assumes the shares of a typical one and
// the rate of the newest layer of m.
func newEstimate(game awari.Game, m *manifest.Manifest, last int) estimate {
	e := estimate{sweeps: 22, shares: [...]float64{0.15, 0.75, 0.04, 0.01, 0.05}}
	for n := len(m.Layers); n <= last; n++ {
		e.total += float64(halfboard.Positions(game, n))
	}
	if n := len(m.Layers); n > 0 && m.Layers[n-1].Seconds >= tooShort.Seconds() {
		e.rate = float64(m.Layers[n-1].Positions) / m.Layers[n-1].Seconds
	}
	return e
}

// learn takes in a finished layer.
func (e *estimate) learn(r Report, now time.Time) {
	positions := float64(r.Layer.Positions)
	e.finished += positions
	e.clock.reach(1, now)
	rate := e.clock.rate(e.rate, positions, now)
	e.clock = clock{}
	if r.Elapsed < tooShort {
		return
	}
	e.rate = rate
	for stage, took := range r.Engine.Stages {
		e.shares[stage] = took.Seconds() / r.Elapsed.Seconds()
	}
	e.shares[sealStage] = r.Seal.Seconds() / r.Elapsed.Seconds()
	e.sweeps = r.Engine.Sweeps
}

// share returns the share of a layer's work that is done.
func (e *estimate) share(stage halfboard.Stage, sweep int, part float64) float64 {
	share := 0.0
	for s := range stage {
		share += e.shares[s]
	}
	if stage == halfboard.DenseStage {
		part = (float64(sweep-1) + part) / float64(max(e.sweeps, sweep))
	}
	return min(share+part*e.shares[stage], 1)
}

// clock measures how fast a layer gets on, from the first report about it on:
// it may have been resumed.
type clock struct {
	began time.Time // of the first report, zero before
	from  float64   // share that was done by then
	share float64   // share that is done; it never decreases
}

// reach takes in a report.
func (c *clock) reach(share float64, now time.Time) {
	if c.began.IsZero() {
		c.began, c.from = now, share
	}
	// The estimate goes back when the layer turns out to need more sweeps than the
	// one before; what is reported stays where it is then.
	c.share = max(c.share, share)
}

// rate estimates the positions a second of a layer with so many positions. It
// assumes the rate before for what this clock has not measured.
func (c *clock) rate(before, positions float64, now time.Time) float64 {
	measured, took := c.share-c.from, max(now.Sub(c.began), time.Microsecond).Seconds()
	switch {
	case before > 0:
		return positions / ((1-measured)*positions/before + took)
	case took < tooShort.Seconds():
		return 0
	}
	return measured * positions / took
}

// progress passes on how far the layer in progress is.
func (r *run) progress(p halfboard.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, now, positions := &r.estimate, time.Now(), float64(p.Positions)
	e.clock.reach(e.share(p.Stage, p.Sweep, float64(p.Done)/positions), now)
	r.tell(Progress{
		Seeds: p.Seeds, Positions: p.Positions, Stage: stageName(p.Stage), Sweep: p.Sweep,
		Done: p.Done, Changed: p.Changed,
		RunDone: e.finished + e.clock.share*positions, RunTotal: e.total,
		Share: e.clock.share, Rate: e.clock.rate(e.rate, positions, now),
	})
}

// tell reports progress; r.mu is held.
func (r *run) tell(p Progress) {
	if r.options.Progress != nil {
		r.options.Progress(p)
	}
}

// LayerETA estimates the time that the layer in progress still takes, negative
// if nothing is known.
func (p Progress) LayerETA() time.Duration {
	return timeFor((1-p.Share)*float64(p.Positions), p.Rate)
}

// RunETA estimates the time that the whole run still takes, negative if nothing
// is known. Layers to come are taken to be as fast as the newest ones.
func (p Progress) RunETA() time.Duration { return timeFor(p.RunTotal-p.RunDone, p.Rate) }

// timeFor returns the time for so many positions, negative if the rate says
// nothing.
func timeFor(positions, rate float64) time.Duration {
	const most = 100 * 365 * 24 * time.Hour
	if rate <= 0 || positions/rate > most.Seconds() {
		return -1
	}
	return time.Duration(positions / rate * float64(time.Second))
}
