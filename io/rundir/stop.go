package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"grenier/io/vfs"
)

// Stop is a request to a solver from another process.
type Stop string

// The possible requests.
const (
	NoStop     Stop = ""      // nothing
	AfterLayer Stop = "layer" // to stop when the layer in progress is sealed
	AtOnce     Stop = "now"   // to make a checkpoint and stop
)

// ErrNoSolver says that no solver is at work that could be stopped, ErrBusy that one of another kind is, or one that has not
// begun yet.
var (
	ErrNoSolver = errors.New("no solver is at work")
	ErrBusy     = errors.New("nothing that can be stopped")
)

// stopDocument is the contents of the file StopName.
type stopDocument struct {
	PID  int  `json:"pid"` // of the solver that is asked
	Stop Stop `json:"stop"`
}

// maxStopBytes is the largest size of that file.
const maxStopBytes = 1 << 10

// AskStop asks the solver at work to stop, or, with NoStop, to forget that it was asked. It
// returns the solver. It fails with ErrNoSolver, ErrBusy, or with an error of the operating system.
func (d *Dir) AskStop(how Stop) (Holder, error) {
	h, err := d.holder()
	if err != nil {
		return h, err
	}
	if !h.Held || h.PID == 0 {
		return h, fmt.Errorf("%s: %w", d.path, ErrNoSolver)
	}
	if s, err := d.Status(); err != nil || s.PID != h.PID || s.State != Running {
		return h, fmt.Errorf("%s: %w: process %d is no solver, or has not begun yet", d.path, ErrBusy, h.PID) // a repair, say
	}
	work, err := d.openWork()
	if err != nil {
		return h, err
	}
	defer work.Close()
	if how == NoStop {
		return h, vfs.RemoveIfThere(work, StopName)
	}
	text, err := json.Marshal(stopDocument{PID: h.PID, Stop: how})
	if err != nil {
		return h, err
	}
	return h, vfs.Write(work, StopName, append(text, '\n'))
}

// Asked returns the request to the process with the given id. A request that cannot be read, or is
// for another one, asks for nothing: it was left by a process that is gone.
func (d *Dir) Asked(pid int) Stop {
	work, err := d.openWork()
	if err != nil {
		return NoStop
	}
	defer work.Close()
	text, err := vfs.Read(work, StopName, maxStopBytes)
	var doc stopDocument
	if err != nil || json.Unmarshal(text, &doc) != nil || doc.PID != pid {
		return NoStop
	}
	if doc.Stop != AfterLayer && doc.Stop != AtOnce {
		return NoStop
	}
	return doc.Stop
}

// ForgetStop removes all requests. It fails with an error of the operating system, or a
// *LostError.
func (l *Locked) ForgetStop() error {
	if _, err := l.own.Lstat(StopName); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return vfs.RemoveIfThere(l.own, StopName)
}
