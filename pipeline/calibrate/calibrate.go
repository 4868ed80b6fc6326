// Package calibrate measures what this machine does, in a few seconds, for package plan:
// it solves a small run with one worker and with all of them, packs scores of it, and
// writes and reads a file.
package calibrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"grenier/io/layerfile"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/batch"
	"grenier/pipeline/plan"
)

// Options say what to measure.
type Options struct {
	// Workers is the most processors to measure; there are not more than the machine has.
	Workers int
	// Family is the kernel family.
	Family cpu.Family
	// Codec compresses layer files.
	Codec layerfile.Codec
	// Dir is where to measure the disk. It need not exist: its nearest parent that does
	// is taken. "" is the directory of the system for temporary files.
	Dir string
	// SkipDisk leaves the disk alone: its figures are 0.
	SkipDisk bool
	// Progress, if not nil, is told the share of the work that is done, 0 to 1.
	Progress func(share float64)

	seeds int // in tests: the last layer to solve
}

// The parts of the work, by the time that they take.
const (
	solvingShare = 0.6
	packingShare = 0.1
	diskShare    = 1 - solvingShare - packingShare
)

// Run measures. It leaves nothing behind, however it ends.
func Run(ctx context.Context, o Options) (c *plan.Calibration, err error) {
	parent, err := nearest(o.Dir)
	if err != nil {
		return nil, err
	}
	dir, remove, err := vfs.TempDir(parent, tempPrefix)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if o.seeds == 0 {
		o.seeds = lastLayer
	}
	o.Workers = min(o.Workers, runtime.NumCPU())
	c = &plan.Calibration{
		Date: time.Now().UTC().Truncate(time.Second), CPU: cpu.Name(), Kernel: o.Family.String(), Cores: o.Workers,
	}
	run, err := o.solving(ctx, c, dir)
	if err != nil {
		return nil, err
	}
	o.tell(solvingShare)
	if err := o.packing(ctx, c, run); err != nil {
		return nil, err
	}
	o.tell(solvingShare + packingShare)
	if !o.SkipDisk {
		if err := o.disk(ctx, c, dir); err != nil {
			return nil, err
		}
	}
	o.tell(1)
	return c, nil
}

func (o *Options) tell(share float64) {
	if o.Progress != nil {
		o.Progress(share)
	}
}

// nearest returns the directory at path, or the nearest parent that exists.
func nearest(path string) (string, error) {
	if path == "" {
		return os.TempDir(), nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(path)
		parent := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || parent == path {
			return path, err
		}
		path = parent
	}
}

const (
	// lastLayer is the last layer that is solved, if there is time: costs a position are
	// hardly different above it.
	lastLayer = 17
	// firstTimed is the first layer whose time counts.
	firstTimed = 15
	// mostRounds is how often a run is solved: the best time counts, since others use
	// the machine too.
	mostRounds = 3
	// enoughRounds is the time after which there is no other round, enoughLayers that after
	// which a round has no larger layer.
	enoughRounds = 6 * time.Second
	enoughLayers = 2 * time.Second
)

// cost is what one position takes.
type cost struct{ capture, sweep, seal float64 } // nanoseconds

func (c cost) sum() float64 { return c.capture + c.sweep + c.seal }

// tempPrefix is what the names of directories begin with that Run makes.
const tempPrefix = ".grenier-calibration-"

// solving measures the engine, with one worker and with all in turn, in directories
// below dir. It returns the last one.
func (o *Options) solving(ctx context.Context, c *plan.Calibration, dir string) (run string, err error) {
	game, err := awari.New(12, awari.Awari)
	if err != nil {
		return "", err
	}
	var one, all cost
	begin := time.Now()
	for round := range mostRounds {
		if round > 0 && time.Since(begin) > enoughRounds {
			break
		}
		for _, workers := range []int{1, o.Workers} {
			best := &all
			if workers == 1 {
				best = &one
			}
			run = filepath.Join(dir, fmt.Sprintf("run-%d-%d", round, workers))
			got, err := o.solveOnce(ctx, game, run, workers)
			if err != nil {
				return "", fmt.Errorf("calibrating: %w", err)
			}
			if best.sum() == 0 || got.sum() < best.sum() {
				*best = got
			}
		}
		o.tell(solvingShare * float64(round+1) / mostRounds)
	}
	c.Capture, c.Sweep, c.Seal = one.capture, one.sweep, one.seal
	c.Speedup = min(max(1, one.sum()/all.sum()), float64(o.Workers))
	return run, nil
}

// solveOnce solves a run in memory and returns what its largest layers took.
func (o *Options) solveOnce(ctx context.Context, game awari.Game, dir string, workers int) (c cost, err error) {
	before := runtime.GOMAXPROCS(workers)
	defer runtime.GOMAXPROCS(before)
	begin := time.Now()
	var positions float64
	for n := min(firstTimed, o.seeds) - 1; n <= o.seeds; n++ {
		if n > firstTimed && time.Since(begin) > enoughLayers {
			break // slow kernels
		}
		reports, err := batch.Solve(ctx, dir, game, batch.Options{
			Seeds: max(0, n), Codec: o.Codec, Workers: workers, Family: o.Family,
		})
		if err != nil {
			return c, err
		}
		if n < firstTimed && n < o.seeds {
			continue
		}
		r := reports[len(reports)-1]
		capture := r.Engine.Stages[0].Seconds()
		c.capture += capture
		c.seal += r.Seal.Seconds()
		c.sweep += max(0, r.Elapsed.Seconds()-capture-r.Seal.Seconds())
		positions += float64(r.Layer.Positions)
	}
	scale := 1e9 / positions
	return cost{c.capture * scale, c.sweep * scale, c.seal * scale}, nil
}
