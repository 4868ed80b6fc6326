package solve

import (
	"fmt"
	"time"

	"grenier/pipeline/job"
	"grenier/pipeline/solve/internal/halfboard"
	"grenier/pipeline/solve/plan"
)

// Progress says how far a run is.
type Progress struct {
	Seeds     int    `json:"seeds"`     // of the layer in progress
	Positions uint64 `json:"positions"` // of the layer in progress
	Stage     string `json:"stage"`     // "capture", "turn", "dense", "sparse", "full" or "seal"
	Sweep     int    `json:"sweep"`     // sweeps begun, in all windows
	Done      uint64 `json:"done"`      // positions that the stage, or the sweep, has finished
	Changed   uint64 `json:"changed"`   // scores that the sweep changed so far

	// RunTotal is the positions of all layers that the run has to solve, RunDone the same share of
	// them as of its time is over.
	RunDone  float64 `json:"run_done"`
	RunTotal float64 `json:"run_total"`

	// Share is the share of the time of the layer that is over.
	Share float64 `json:"share"`
	// Rate is the positions a second at which the rest of the layer will be done.
	Rate float64 `json:"positions_per_second"`
	// LayerLeft and RunLeft are the seconds that the layer and the run still take, as expected: the
	// run 1 + Spread times as long, or as short.
	LayerLeft float64 `json:"layer_left_seconds"`
	RunLeft   float64 `json:"run_left_seconds"`
	Spread    float64 `json:"spread"`
	// Window is the base of the window in progress: it shows absolute scores above
	// that. It is 0 in a layer that is solved in one piece.
	Window int `json:"window"`
	// Streams counts what the stages have read and written in the work directory so far, by
	// name; empty for a layer that is solved in one piece.
	Streams map[string]Streams `json:"streams,omitempty"`
}

// sealStage follows the stages of the engine.
const sealStage = halfboard.Stages

// checkStage is the name of the stage before the engine begins, in which the layers below are checked,
// of what an earlier run kept of a layer, and of the file of such a layer. It is only reported when it takes time.
const checkStage = "check"

// turnStage is the name of the stage between windows.
const turnStage = "turn"

// stageNameOf returns the name of the stage of a report.
func stageNameOf(p *halfboard.Progress) string {
	switch {
	case p.Turning:
		return turnStage
	case p.Kept != nil:
		return checkStage
	}
	return stageName(p.Stage)
}

// stageName returns the name of a stage, sealing included.
func stageName(s halfboard.Stage) string {
	if s == sealStage {
		return "seal"
	}
	return s.String()
}

// placeOf returns where a report says that the run is.
func placeOf(p *halfboard.Progress) plan.Place {
	place := plan.Place{Seeds: p.Seeds, Base: p.Base, Values: p.Values, Ends: float64(p.Ends) / float64(p.Positions), Sweeps: p.Sweep, Part: float64(p.Done) / float64(p.Positions), Kept: p.Kept}
	switch {
	case p.Turning:
		place.Stage = plan.Turn
	case p.Kept != nil:
		place.Stage = plan.Look
	case p.Stage == halfboard.CaptureStage:
		place.Stage = plan.Capture
	case p.Stage == halfboard.FullStage:
		place.Stage = plan.Full
	case p.Stage == sealStage:
		place.Stage = plan.Seal
	default:
		place.Stage = plan.Sweep
	}
	return place
}

// follow begins to follow the run over the layers that it has to solve, within memory in bytes: 0 is no bound.
func (r *run) follow(last int, memory uint64) (err error) {
	o, m := &r.options, r.manifest
	p := plan.Run{Game: r.game, Seeds: last, Memory: memory, Cores: max(o.Workers, 1), Bits: o.Bits, Family: o.Family, Apart: r.number != "", Omitted: o.Omitted()}
	resume(&p, m)
	if o.Engine == Retrograde {
		p.Memory = 0
	}
	r.total = p.Positions()
	machine := o.Calibration
	if machine == nil {
		machine = plan.Typical(o.Family, p.Cores)
	}
	if r.course, err = plan.NewCourse(p, machine, time.Now()); err == nil && len(m.Layers) > 0 && o.Calibration == nil {
		l := &m.Layers[len(m.Layers)-1]
		r.course.Assume(l.Seeds, l.Seconds)
	}
	return err
}

// reach notes where the run is, if it has a course.
func (r *run) reach(place plan.Place) {
	if r.course != nil {
		r.course.Reach(place, time.Now())
	}
}

// tell passes on a report, with what the course of the run makes of it.
func (r *run) tell(p Progress) {
	if r.course == nil {
		p.RunDone, p.RunTotal = float64(p.Done), float64(p.Positions)
		s := p.Step()
		s.Pace = &job.Pace{Rate: job.NoRate, Layer: job.NoLayer, Run: job.Unknown} // of a stage or a sweep only
		r.options.Tell(s)
		return
	}
	left := r.course.Left(time.Now())
	p.RunTotal = r.total
	p.RunDone, p.RunLeft, p.Spread = left.Share*p.RunTotal, left.Run.Seconds(), left.Spread
	if p.Share < 1 {
		p.Share, p.LayerLeft = left.LayerShare, left.Layer.Seconds()
	}
	if p.LayerLeft > 0 {
		p.Rate = (1 - p.Share) * float64(p.Positions) / p.LayerLeft
	}
	r.options.Tell(p.Step())
}

// progress passes on how far the layer in progress is.
func (r *run) progress(p halfboard.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reach(placeOf(&p))
	r.tell(Progress{
		Seeds: p.Seeds, Positions: p.Positions, Stage: stageNameOf(&p), Sweep: p.Sweep,
		Done: p.Done, Changed: p.Changed, Window: p.Base, Streams: streamsOf(&p.Traffic),
	})
}

// Step returns p as the step of a job.
func (p Progress) Step() job.Step {
	return job.Step{
		Doing: p.Doing(), Seeds: p.Seeds, Done: p.RunDone, Total: p.RunTotal, Detail: p,
		Pace: &job.Pace{Rate: p.Rate, Layer: p.LayerETA(), Run: p.RunETA(), Spread: p.Spread},
	}
}

// Doing names the layer in progress and its stage.
func (p Progress) Doing() string {
	if p.Stage == halfboard.DenseStage.String() {
		return fmt.Sprintf("layer %d, sweep %d", p.Seeds, p.Sweep)
	}
	return fmt.Sprintf("layer %d, %s", p.Seeds, p.Stage)
}

// LayerETA is the time that the layer in progress still takes, job.Unknown if nobody knows.
func (p Progress) LayerETA() time.Duration { return p.left(p.LayerLeft) }

// RunETA is the time that the whole run still takes, job.Unknown if nobody knows.
func (p Progress) RunETA() time.Duration { return p.left(p.RunLeft) }

func (p *Progress) left(seconds float64) time.Duration {
	if p.Share < 1 && seconds == 0 {
		return job.Unknown
	}
	return time.Duration(seconds * float64(time.Second))
}
