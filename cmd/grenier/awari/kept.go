package awari

import (
	"os"
	"path/filepath"

	"grenier/io/jsonfile"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/plan"
)

// The calibration of this machine is kept in the user's directory for such files, and brought up to date by
// each layer that took a while. It is about times that runs say they still take, and nothing else.

// keptIn returns the directory of the kept calibration, if the user has a place for it.
func keptIn() (dir string, there bool) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", false
	}
	info, err := os.Stat(cache)
	return filepath.Join(cache, "grenier"), err == nil && info.IsDir()
}

// keptName is the name of the kept calibration.
const keptName = "awari-calibration.json"

// keptCalibration returns the kept calibration, nil if there is none of these processors with these kernels.
func keptCalibration(family cpu.Family, threads int) *plan.Calibration {
	dir, there := keptIn()
	if !there {
		return nil
	}
	path := filepath.Join(dir, keptName)
	data, err := jsonfile.Read(path)
	if err != nil {
		return nil
	}
	c, err := plan.ParseCalibration(path, data)
	if err != nil || c.CPU != cpu.Name() || c.Kernel != family.String() || c.Cores != threads {
		return nil
	}
	return c
}

// keep keeps a calibration. It fails with an error of the operating system.
func keep(c *plan.Calibration) error {
	dir, there := keptIn()
	if !there {
		return nil
	}
	data, err := jsonfile.Encode(c)
	if err != nil {
		return err
	}
	d, err := vfs.MakeDir(dir)
	if err != nil {
		return err
	}
	if err := d.Close(); err != nil {
		return err
	}
	return vfs.WriteFile(filepath.Join(dir, keptName), data)
}

// keeper is a reader that keeps the calibration that a run brings up to date.
func (w *watch) keeper(e solve.Event) error {
	sealed, ok := e.(solve.Sealed)
	if !ok || sealed.Calibration == nil {
		return nil
	}
	if err := keep(sealed.Calibration); err != nil {
		w.warn("the calibration cannot be kept", err)
	}
	return nil
}
