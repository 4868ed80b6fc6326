package solve

import (
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/pipeline/solve/plan"
)

// Event is something that happens in a run of Solve, in this order: Locked, then Begins and Sealed
// for each layer, then Ended.
type Event any

// Locked: the directory is locked, and nothing is done yet. Ended follows in any case.
type Locked struct {
	Dir      *rundir.Locked
	Manifest *manifest.Manifest // what is sealed; nobody changes it
}

// Begins: a layer is about to begin.
type Begins struct{ Seeds int }

// Sealed: the manifest lists a layer from now on. Calibration has what the run learned of the machine, nil
// if the layer took too little time.
type Sealed struct {
	Report
	Calibration *plan.Calibration
}

// Ended: nothing more is done, and the directory is about to be unlocked. Err is the error of Solve.
type Ended struct{ Err error }

// tell reports an event.
func (o *Options) tell(e Event) error {
	if o.Events == nil {
		return nil
	}
	return o.Events(e)
}
