package awari

import (
	"errors"
	"os"

	"grenier/io/jsonfile"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/plan"
)

// The calibration of this machine is kept in the user's directory for such files, if there is one, and brought up
// to date by each layer that took a while. Runs expect their times by it: nothing else depends on it.

// Names of the kept calibration, and of its directory in the user's directory.
const (
	keptIn   = "grenier"
	keptName = "awari-calibration.json"
)

// openCache opens the user's directory for such files, nil if there is none.
func openCache() (vfs.Dir, error) {
	path, err := os.UserCacheDir()
	if err != nil {
		return nil, nil
	}
	d, err := vfs.OpenDir(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return d, err
}

// keptCalibration returns the kept calibration, nil if there is none of these processors with these kernels, or it cannot
// be read.
func keptCalibration(family cpu.Family, threads int) *plan.Calibration {
	cache, err := openCache()
	if cache == nil || err != nil {
		return nil
	}
	defer cache.Close()
	d, err := cache.Sub(keptIn)
	if err != nil {
		return nil
	}
	defer d.Close()
	data, err := vfs.Read(d, keptName, jsonfile.MaxBytes)
	if err != nil {
		return nil
	}
	c, err := plan.ParseCalibration(d.Path(keptName), data)
	if err != nil || c.CPU != cpu.Name() || c.Kernel != family.String() || c.Cores != threads {
		return nil
	}
	return c
}

// keep keeps a calibration. It fails with an error of the operating system.
func keep(c *plan.Calibration) error {
	data, err := jsonfile.Encode(c)
	if err != nil {
		return err
	}
	cache, err := openCache()
	if cache == nil || err != nil {
		return err
	}
	d, err := vfs.MakeSub(cache, keptIn)
	if err = errors.Join(err, cache.Close()); err != nil {
		return err
	}
	return errors.Join(vfs.Write(d, keptName, data), d.Close())
}

// keeper is a reader that keeps the calibration that a run brings up to date.
func (w *watch) keeper(e solve.Event) error {
	sealed, ok := e.(solve.Sealed)
	if !ok || sealed.Calibration == nil {
		return nil
	}
	if err := keep(sealed.Calibration); err != nil {
		w.warn("the calibration of this machine cannot be kept", err)
	}
	return nil
}
