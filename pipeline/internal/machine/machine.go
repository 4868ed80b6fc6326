// Package machine is what the calibrations of all systems share: the speed of the disk, the
// speed-up of several processors, which figures are possible, and reading the file.
package machine

import (
	"errors"
	"fmt"
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

// Speed returns the speed-up of so many processors over one, when measured processors have the
// speed-up given. Each processor costs every other one the same part of its time, which is fitted
// to the measurement; if that had one processor only, the part is a twentieth.
func Speed(processors, measured int, speedup float64) float64 {
	part := 0.05
	if measured > 1 {
		part = (float64(measured)/speedup - 1) / float64(measured-1)
	}
	return float64(processors) / (1 + part*float64(processors-1))
}

// Taken returns the share of the time of the processors that so many workers want that others
// take, who keep that many of all busy on average: nothing as long as there are enough for both.
func Taken(others float64, workers, all int) float64 {
	return min(max(0, (others+float64(workers)-float64(all))/float64(workers)), 1)
}

// ErrFigure reports a figure that no machine has.
var ErrFigure = errors.New("impossible figure")

// maxProcessors is the largest number of processors in a calibration.
const maxProcessors = 1024

// Check fails with ErrFigure unless a speed-up is possible with so many processors, costs are
// possible nanoseconds and rates possible bytes a second. The ranges are generous.
func Check(processors int, speedup float64, costs, rates []float64) error {
	if processors < 1 || processors > maxProcessors {
		return fmt.Errorf("%w: %d cores", ErrFigure, processors)
	}
	if !(speedup >= 1 && speedup <= float64(processors)) {
		return fmt.Errorf("%w: %d cores %g times as fast as one", ErrFigure, processors, speedup)
	}
	for _, ns := range costs {
		if !(ns >= 1e-5 && ns <= 1e6) {
			return fmt.Errorf("%w: %g ns", ErrFigure, ns)
		}
	}
	for _, rate := range rates {
		if !(rate >= 1e3 && rate <= 1e13) {
			return fmt.Errorf("%w: %g bytes a second", ErrFigure, rate)
		}
	}
	return nil
}
