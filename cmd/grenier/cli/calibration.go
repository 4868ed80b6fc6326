package cli

import (
	"time"

	"github.com/spf13/pflag"

	"grenier/io/rundir"
)

// CalibrationFlags are the flags of the plan commands that say what the machine can do.
type CalibrationFlags struct{ disk, calibration, save string }

// Define adds the flags.
func (f *CalibrationFlags) Define(flags *pflag.FlagSet) {
	flags.StringVar(&f.disk, "disk", "", "`bytes` a second that the disk reads and writes, instead of what was measured")
	flags.Var((*File)(&f.calibration), "calibration", "use the calibration in this `file` instead of measuring")
	flags.Var((*File)(&f.save), "save-calibration", "save the calibration in this `file`")
}

// Given reports whether a calibration was asked for, to be used or to be saved.
func (f *CalibrationFlags) Given() bool { return f.calibration != "" || f.save != "" }

// Calibration is what a machine can do.
type Calibration interface {
	SetDisk(rate float64)
	Save(path string) error
}

// Calibrated reads a calibration, or measures, without the disk if --disk tells that, and
// saves it if asked to.
func Calibrated[C Calibration](f *CalibrationFlags, load func(path string) (C, error), measure func(disk bool) (C, error)) (c C, err error) {
	disk := uint64(0)
	if f.disk != "" {
		if disk, err = parseBytes("--disk", f.disk); err != nil {
			return c, err
		}
	}
	if f.calibration != "" {
		c, err = load(f.calibration)
	} else {
		c, err = measure(disk == 0)
	}
	if err != nil {
		return c, err
	}
	if disk > 0 {
		c.SetDisk(float64(disk))
	}
	if f.save != "" {
		err = c.Save(f.save)
	}
	return c, err
}

// RoomFor returns the bytes that a run in dir may use, nil if dir is empty or the system
// does not tell.
func RoomFor(dir string) (*uint64, error) {
	if dir == "" {
		return nil, nil
	}
	free, known, err := rundir.Room(dir, rundir.FreeBytes)
	if !known {
		return nil, err
	}
	return &free, nil
}

// Calibrating is the share of a calibration that is done.
type Calibrating float64

// State implements Stater.
func (c Calibrating) State(elapsed time.Duration) State {
	s := State{Doing: "calibrating", Done: float64(c), Total: 1, Elapsed: elapsed, LayerETA: NoLayer, RunETA: Unknown}
	if c > 0 {
		s.RunETA = time.Duration(float64(elapsed) * float64(1-c) / float64(c))
	}
	return s
}
