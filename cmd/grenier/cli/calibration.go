package cli

import (
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"grenier/io/jsonfile"
	"grenier/io/rundir"
)

// CalibrationFlags are the flags of awari plan about the speed of the machine.
type CalibrationFlags struct{ disk, calibration, save string }

// Define adds the flags.
func (f *CalibrationFlags) Define(flags *pflag.FlagSet) {
	flags.StringVar(&f.disk, "disk", "", "`bytes` a second that the disk reads and writes; measured unless given")
	flags.Var((*File)(&f.calibration), "calibration", "`FILE` with a calibration to use instead of measuring, - for stdin")
	flags.Var((*File)(&f.save), "save-calibration", "`FILE` to save the calibration in, - to print it instead of the plan")
}

// Printed reports whether the calibration goes to stdout, instead of the plan.
func (f *CalibrationFlags) Printed() bool { return f.save == Stdout }

// OneStdout is the function OneStdout for the calibration.
func (f *CalibrationFlags) OneStdout(asJSON bool) error {
	return OneStdout(asJSON, map[string]string{"--save-calibration": f.save})
}

// Given reports whether the command line names a calibration to use or to save.
func (f *CalibrationFlags) Given() bool { return f.calibration != "" || f.save != "" }

// Calibration says how fast a machine is.
type Calibration interface{ SetDisk(rate float64) }

// Calibrated reads a calibration, or measures one, without the disk if --disk is given, and
// saves it with --save-calibration.
func Calibrated[C Calibration](
	a *App, f *CalibrationFlags, parse func(path string, data []byte) (C, error), measure func(disk bool) (C, error),
) (c C, err error) {
	disk := uint64(0)
	if f.disk != "" {
		if disk, err = ParseBytes("--disk", f.disk); err != nil {
			return c, err
		}
	}
	if err = CheckFile(f.save); err != nil {
		return c, err
	}
	if f.calibration == "" {
		c, err = measure(disk == 0)
	} else {
		c, err = readCalibration(a, f.calibration, parse)
	}
	if err != nil {
		return c, err
	}
	if disk > 0 {
		c.SetDisk(float64(disk))
	}
	if f.save == "" {
		return c, nil
	}
	data, err := jsonfile.Encode(c)
	if err != nil {
		return c, fmt.Errorf("saving %s: %w", f.save, err)
	}
	return c, a.WriteFile(f.save, data)
}

// readCalibration reads the file of a calibration, or stdin.
func readCalibration[C Calibration](a *App, path string, parse func(path string, data []byte) (C, error)) (c C, err error) {
	var data []byte
	if path == Stdout {
		path = "stdin"
		data, err = io.ReadAll(io.LimitReader(a.In, jsonfile.MaxBytes+1))
	} else {
		data, err = jsonfile.Read(path)
	}
	if err != nil {
		return c, err
	}
	if c, err = parse(path, data); err != nil {
		err = unusable{err}
	}
	return c, err
}

// unusable is an error of a calibration file: its damage, another version, another system.
type unusable struct{ error }

// Unwrap returns the error.
func (u unusable) Unwrap() error { return u.error }

// PrintBusy says so if others kept the machine busy during a calibration, and took that share of
// the processors.
func (a *App) PrintBusy(busy bool, taken float64) {
	if busy {
		a.Printf(2, "other programs used %.0f%% of the processors during the calibration: a quiet machine is faster", 100*taken)
	}
}

// RoomFor returns the bytes of disk that a run in dir may use, nil if dir is empty or the
// system does not say.
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
