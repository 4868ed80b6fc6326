package solve

import (
	"fmt"
	"math"
	"time"

	"grenier/io/manifest"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve/internal/halfboard"
)

// Progress says how far a run is.
type Progress struct {
	Seeds     int    `json:"seeds"`     // of the layer in progress
	Positions uint64 `json:"positions"` // of the layer in progress
	Stage     string `json:"stage"`     // "capture", "dense", "sparse", "full" or "seal"
	Sweep     int    `json:"sweep"`     // sweeps begun, in all windows
	Done      uint64 `json:"done"`      // positions that the stage, or the sweep, has finished
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
	// Window is the base of the window in progress: it shows absolute scores above
	// that. It is 0 in a layer that is solved in one piece.
	Window int `json:"window"`
	// Streams is what the stages have read and written in the work directory so far, by
	// name; empty for a layer that is solved in one piece.
	Streams map[string]Streams `json:"streams,omitempty"`
}

// sealStage is the stage after those of the engine.
const sealStage = halfboard.Stages

// checkStage is the name of the stage before those of the engine, in which the layers below
// are checked. It is only reported when it takes time.
const checkStage = "check"

// stageName returns the name of a stage, sealing included.
func stageName(s halfboard.Stage) string {
	if s == sealStage {
		return "seal"
	}
	return s.String()
}

// step is a part of the work on a layer: a stage, or one sweep.
type step struct {
	stage  halfboard.Stage
	sweep  int // of the window; 0 for stages without sweeps
	window int // 0 is the first one, and all of a layer in one piece
}

// stepOf returns the step of a report. A sweep is the same step whether it is
// dense or sparse.
func stepOf(stage halfboard.Stage, sweep int) step {
	switch stage {
	case halfboard.DenseStage, halfboard.SparseStage:
		return step{stage: halfboard.DenseStage, sweep: sweep}
	}
	return step{stage: stage}
}

// span is the part of a layer's time that a step takes, within 0 to 1.
type span struct{ from, to float64 }

// profile says when the steps of a layer happen.
type profile map[step]span

// typical is the profile of a typical layer: each sweep costs less than the one
// before.
func typical() profile {
	p := profile{
		step{stage: halfboard.CaptureStage}: {0, 0.2},
		step{stage: halfboard.FullStage}:    {0.85, 0.86},
		step{stage: sealStage}:              {0.86, 1},
	}
	from, cost := 0.2, 0.065
	for sweep := 1; sweep <= 40; sweep++ {
		p[step{stage: halfboard.DenseStage, sweep: sweep}] = span{from, from + cost}
		from, cost = from+cost, 0.9*cost
	}
	return p
}

// typicalWindows is the profile of a layer that is solved in windows of the given number
// of values: a value costs less than the one before.
func typicalWindows(seeds, values int) profile {
	const capture, seal, less, storing = 0.1, 0.97, 0.92, 0.2
	p := profile{step{stage: halfboard.CaptureStage}: {0, capture}, step{stage: sealStage}: {seal, 1}}
	windows := (max(seeds, 1) + values - 1) / values
	end := func(windows int) float64 { return 1 - math.Pow(less, float64(values*windows)) }
	for w := range windows {
		from := capture + (seal-capture)*end(w)/end(windows)
		to := capture + (seal-capture)*end(w+1)/end(windows)
		store := to - storing*(to-from)
		p[step{stage: halfboard.FullStage, window: w}] = span{store, to}
		for sweep, cost := 1, 0.1*(store-from); sweep <= 40; sweep, cost = sweep+1, 0.9*cost {
			p[step{stage: halfboard.DenseStage, sweep: sweep, window: w}] = span{from, from + cost}
			from += cost
		}
	}
	return p
}

// share returns the share of the work that is done when a part of a step is.
func (p profile) share(s step, part float64) float64 {
	where, ok := p[s]
	if !ok { // one sweep more than there was time for
		end := p[step{stage: halfboard.FullStage, window: s.window}].from
		where = span{end, end}
	}
	return min(where.from+part*(where.to-where.from), 1)
}

// mark is the moment of the first report about a step.
type mark struct {
	step  step
	began time.Time
}

// newProfile is that of a layer with the given marks which ended at end. It
// returns nil if the layer was not watched from its beginning.
func newProfile(marks []mark, end time.Time) profile {
	if len(marks) == 0 || marks[0].step.stage != halfboard.CaptureStage || !end.After(marks[0].began) {
		return nil
	}
	total, p := end.Sub(marks[0].began).Seconds(), profile{}
	at := func(t time.Time) float64 { return t.Sub(marks[0].began).Seconds() / total }
	for i, m := range marks {
		next := end
		if i+1 < len(marks) {
			next = marks[i+1].began
		}
		p[m.step] = span{at(m.began), at(next)}
	}
	return p
}

// estimate guesses the share of a layer's work that is done, and how fast it is
// done, from what the layer before took.
type estimate struct {
	finished, total float64 // positions of the run
	profile         profile // of the newest layer that took long enough
	rate            float64 // and its positions a second, 0 if there was none
	clock           clock   // of the layer in progress
	marks           []mark  // of the layer in progress
	windows         profile // of it if it is solved window by window: nothing is learnt from that
	base            int     // of its window in progress
	before          int     // sweeps of the windows before that
}

// tooShort is the time in which nothing can be learnt from a layer.
const tooShort = 100 * time.Millisecond

// newEstimate is for a run over the layers of game that m lacks up to last.
// Before the first layer is measured, it assumes the profile of a typical one and
// the rate of the newest layer of m.
func newEstimate(game awari.Game, m *manifest.Manifest, last int) estimate {
	e := estimate{profile: typical()}
	for n := len(m.Layers); n <= last; n++ {
		e.total += float64(halfboard.Positions(game, n))
	}
	if n := len(m.Layers); n > 0 && m.Layers[n-1].Seconds >= tooShort.Seconds() {
		e.rate = float64(m.Layers[n-1].Positions) / m.Layers[n-1].Seconds
	}
	return e
}

// reach records that a part of a step is done.
func (e *estimate) reach(s step, part float64, now time.Time) {
	if n := len(e.marks); n == 0 || e.marks[n-1].step != s {
		e.marks = append(e.marks, mark{s, now})
	}
	p := e.profile
	if e.windows != nil {
		p = e.windows
	}
	e.clock.reach(p.share(s, part), now)
}

// step returns the step of a report.
func (e *estimate) step(p *halfboard.Progress) step {
	if p.Values == 0 {
		return stepOf(p.Stage, p.Sweep)
	}
	if e.windows == nil {
		e.windows = typicalWindows(p.Seeds, p.Values)
	}
	if p.Base != e.base {
		e.base, e.before = p.Base, p.Sweep-1
	}
	s := stepOf(p.Stage, p.Sweep-e.before)
	if p.Stage != halfboard.CaptureStage {
		s.window = p.Base / p.Values
	}
	return s
}

// learn learns from a finished layer.
func (e *estimate) learn(r Report, now time.Time) {
	positions := float64(r.Layer.Positions)
	e.finished += positions
	e.clock.reach(1, now)
	if r.Elapsed >= tooShort {
		e.rate = e.clock.rate(e.rate, positions, now)
		if p := newProfile(e.marks, now); p != nil && e.windows == nil {
			e.profile = p
		}
	}
	e.clock, e.marks, e.windows, e.base, e.before = clock{}, nil, nil, 0, 0
}

// clock measures how fast a layer gets on, from the first report about it on:
// it may have been resumed.
type clock struct {
	began time.Time // of the first report, zero before
	from  float64   // share that was done by then
	share float64   // share that is done; it never decreases
}

// reach records a report.
func (c *clock) reach(share float64, now time.Time) {
	if c.began.IsZero() {
		c.began, c.from = now, share
	}
	// The estimate goes back when the layer turns out to need more sweeps than the
	// one before; what is reported stays where it is then.
	c.share = max(c.share, share)
}

// rate estimates the positions a second of a layer. It assumes the rate
// before for what this clock has not measured.
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
	e.reach(e.step(&p), float64(p.Done)/positions, now)
	r.options.Tell(Progress{
		Seeds: p.Seeds, Positions: p.Positions, Stage: stageName(p.Stage), Sweep: p.Sweep,
		Done: p.Done, Changed: p.Changed,
		RunDone: e.finished + e.clock.share*positions, RunTotal: e.total,
		Share: e.clock.share, Rate: e.clock.rate(e.rate, positions, now), Window: p.Base, Streams: streamsOf(&p.Traffic),
	}.Step())
}

// Step returns p as the step of a job.
func (p Progress) Step() job.Step {
	return job.Step{
		Doing: p.Doing(), Seeds: p.Seeds, Done: p.RunDone, Total: p.RunTotal, Detail: p,
		Pace: &job.Pace{Rate: p.Rate, Layer: p.LayerETA(), Run: p.RunETA()},
	}
}

// Doing names the layer in progress and its stage.
func (p Progress) Doing() string {
	if p.Stage == halfboard.DenseStage.String() {
		return fmt.Sprintf("layer %d, sweep %d", p.Seeds, p.Sweep)
	}
	return fmt.Sprintf("layer %d, %s", p.Seeds, p.Stage)
}

// LayerETA estimates the time that the layer in progress still takes, job.Unknown
// if nothing is known.
func (p Progress) LayerETA() time.Duration {
	return timeFor((1-p.Share)*float64(p.Positions), p.Rate)
}

// RunETA estimates the time that the whole run still takes, job.Unknown if nothing
// is known. Layers to come are taken to be as fast as the newest ones.
func (p Progress) RunETA() time.Duration { return timeFor(p.RunTotal-p.RunDone, p.Rate) }

// timeFor returns the time for the given positions, job.Unknown if the rate is
// not known.
func timeFor(positions, rate float64) time.Duration {
	const most = 100 * 365 * 24 * time.Hour
	if rate <= 0 || positions/rate > most.Seconds() {
		return job.Unknown
	}
	return time.Duration(positions / rate * float64(time.Second))
}
