// Package machine is the part of a calibration that describes a machine: the file, the figures
// of processors and disk and which of them are possible, and measuring the disk. pipeline/solve/plan
// adds the costs of awari.
package machine

import (
	"os"

	"grenier/io/vfs"
)

// TempDir makes a directory in dir, or in its nearest parent that exists, or in the directory of
// the system for temporary files if dir is empty. It returns its path and a function that removes
// it with all that is in it.
func TempDir(dir string) (path string, remove func() error, err error) {
	parent := os.TempDir()
	if dir != "" {
		if parent, err = vfs.Nearest(dir); err != nil {
			return "", nil, err
		}
	}
	return vfs.TempDir(parent, ".grenier-calibration-")
}

// speed returns the speed-up of some processors over one, when measured processors have the
// speed-up given. Each processor costs every other one the same part of its time, which is fitted
// to the measurement; if that had one processor only, the part is a twentieth.
func speed(processors, measured int, speedup float64) float64 {
	part := 0.05
	if measured > 1 {
		part = (float64(measured)/speedup - 1) / float64(measured-1)
	}
	return float64(processors) / (1 + part*float64(processors-1))
}

// taken returns the share that others, who keep the given number of all processors busy on average, take
// of the processors that the workers want: nothing as long as there are enough for both.
func taken(others float64, workers, all int) float64 {
	return min(max(0, (others+float64(workers)-float64(all))/float64(workers)), 1)
}
