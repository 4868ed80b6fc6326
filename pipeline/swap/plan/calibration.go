package plan

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"grenier/io/processors"
	"grenier/layers/swap"
	"grenier/pipeline/internal/machine"
	"grenier/pipeline/swap/bfs"
)

// Calibration is what a machine can do. Times are nanoseconds of one processor.
type Calibration struct {
	machine.Figures
	// Step is for an instruction of pulling a word, as bfs.Amounts counts them;
	// Pack and Unpack are for a word.
	Step   float64 `json:"step_ns"`
	Pack   float64 `json:"pack_ns"`
	Unpack float64 `json:"unpack_ns"`
}

const (
	// rounds is how often everything is measured: the best counts, since others use
	// the machine too.
	rounds = 3
	// sampling is the time for one measurement of pulling.
	sampling = 250 * time.Millisecond
	// cpuShare is the share of the time of a calibration before the disk.
	cpuShare = 0.3
)

// Measure measures this machine: blocks of the grid, and a file in dir, or its
// nearest parent that exists, or the directory for temporary files if dir is empty.
// Without disk, SetDisk has to follow. Progress is called with the share that is
// done, 0 to 1. Nothing is left behind.
func Measure(ctx context.Context, g *swap.Grid, workers int, dir string, disk bool, progress func(share float64)) (*Calibration, error) {
	return measure(ctx, g, workers, dir, disk, sampling, progress)
}

// measure does the work of Measure, with this time for one measurement of pulling.
func measure(ctx context.Context, g *swap.Grid, workers int, dir string, disk bool, sampling time.Duration, progress func(share float64)) (*Calibration, error) {
	workers = min(workers, runtime.NumCPU())
	c, meter := &Calibration{Figures: machine.NewFigures(name, workers)}, processors.Start()
	a, err := bfs.Predict(g, bfs.Options{Workers: workers})
	if err != nil {
		return nil, err
	}
	var one, all bfs.Costs
	for round := range rounds {
		for _, of := range []struct {
			workers int
			costs   *bfs.Costs
		}{{1, &one}, {workers, &all}} {
			costs, err := bfs.Sample(ctx, g, of.workers, sampling)
			if err != nil {
				return nil, fmt.Errorf("calibrating: %w", err)
			}
			of.costs.Visit = least(of.costs.Visit, costs.Visit)
			of.costs.Pack = least(of.costs.Pack, costs.Pack)
			of.costs.Unpack = least(of.costs.Unpack, costs.Unpack)
		}
		progress(cpuShare * float64(round+1) / rounds)
	}
	c.Step = one.Visit / float64(a.Steps)
	c.Pack, c.Unpack = least(one.Pack, all.Pack), least(one.Unpack, all.Unpack)
	c.Speedup = min(max(1, float64(workers)*one.Visit/all.Visit), float64(workers))
	c.SetTaken(meter)
	if disk {
		c.Disk, err = machine.MeasureDisk(ctx, dir, workers, func(share float64) { progress(cpuShare + (1-cpuShare)*share) })
	}
	return c, err
}

// least returns the lesser of what was found before, 0 if nothing, and something new.
func least(before, now float64) float64 {
	if before == 0 {
		return now
	}
	return min(before, now)
}

// name is what calibration files call the swap puzzle.
const name = "swap"

// ParseCalibration decodes the contents of the calibration file called path. It fails as
// machine.Parse does.
func ParseCalibration(path string, data []byte) (*Calibration, error) {
	c := new(Calibration)
	return c, machine.Parse(path, data, name, c)
}

// Costs returns all times.
func (c *Calibration) Costs() []float64 { return []float64{c.Step, c.Pack, c.Unpack} }
