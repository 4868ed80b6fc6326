package main

import (
	"github.com/spf13/pflag"

	"grenier/io/rundir"
)

// calibrationFlags are the flags of the plan commands that say what the machine can do.
type calibrationFlags struct{ disk, calibration, save string }

func (f *calibrationFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.disk, "disk", "", "`bytes` a second that the disk reads and writes, instead of what was measured")
	flags.Var((*fileName)(&f.calibration), "calibration", "use the calibration in this `file` instead of measuring")
	flags.Var((*fileName)(&f.save), "save-calibration", "save the calibration in this `file`")
}

// calibration is what a machine can do.
type calibration interface {
	SetDisk(rate float64)
	Save(path string) error
}

// calibrated reads a calibration, or measures, without the disk if --disk tells that, and
// saves it if asked to.
func calibrated[C calibration](f *calibrationFlags, load func(path string) (C, error), measure func(disk bool) (C, error)) (c C, err error) {
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

// roomFor returns the bytes that a run in dir may use, nil if dir is empty or the system
// does not tell.
func roomFor(dir string) (*uint64, error) {
	if dir == "" {
		return nil, nil
	}
	free, known, err := rundir.Room(dir, rundir.FreeBytes)
	if !known {
		return nil, err
	}
	return &free, nil
}
