package batch

import (
	"time"

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

// estimate guesses the share of a layer's work that is done from what the layer
// before took.
type estimate struct {
	finished, total float64 // positions of the run
	shares          [sealStage + 1]float64
	sweeps          int
}

// newEstimate is for a run over layers from first to last. Before the first
// layer is measured, it assumes the shares of a typical one.
func newEstimate(game awari.Game, first, last int) estimate {
	e := estimate{sweeps: 22, shares: [...]float64{0.15, 0.75, 0.04, 0.01, 0.05}}
	for n := first; n <= last; n++ {
		e.total += float64(halfboard.Positions(game, n))
	}
	return e
}

// learn takes in a finished layer.
func (e *estimate) learn(r Report) {
	e.finished += float64(r.Layer.Positions)
	if r.Elapsed < 100*time.Millisecond {
		return // too short to say anything
	}
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

// progress passes on how far the layer in progress is.
func (r *run) progress(p halfboard.Progress) {
	share := r.estimate.share(p.Stage, p.Sweep, float64(p.Done)/float64(p.Positions))
	r.tell(Progress{
		Seeds: p.Seeds, Positions: p.Positions, Stage: stageName(p.Stage), Sweep: p.Sweep,
		Done: p.Done, Changed: p.Changed,
		RunDone: r.estimate.finished + share*float64(p.Positions), RunTotal: r.estimate.total,
	})
}

// tell reports progress. The estimate of a layer goes back when it turns out to
// need more sweeps than the one before; what is reported stays where it is then.
func (r *run) tell(p Progress) {
	if r.options.Progress == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.furthest = max(r.furthest, p.RunDone)
	p.RunDone = r.furthest
	r.options.Progress(p)
}
