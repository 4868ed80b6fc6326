// Package calibrate measures this machine, in about half a minute, for package plan:
// it solves a small run with one worker and with all of them, then with each width of scores,
// decodes a layer, copies memory, and writes and reads a file.
package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"grenier/io/processors"
	"grenier/io/tally"
	"grenier/layers/awari"
	"grenier/pipeline/internal/machine"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/internal/halfboard"
	"grenier/pipeline/solve/plan"
	"grenier/pipeline/tables"
)

// Options say what to measure: Workers processors, at most those of the machine. Memory and Note are
// not used.
type Options struct {
	job.Job
	// Dir is where to measure the disk. If it does not exist, its nearest parent that
	// does is used; "" is the directory of the system for temporary files.
	Dir string
	// SkipDisk does not measure the disk: its figures are 0.
	SkipDisk bool

	seeds  int // in tests: the last layer to solve
	rounds int // in tests, and in a Bench: the most rounds

	copying time.Duration // in tests: how long memory is copied
	file    int64         // in tests: the bytes that the disk is measured with

	seen map[int]tally.Hash // of layers that were solved, by seeds
}

// The parts of the work, by the time that they take.
const (
	solvingShare = 0.82
	diskShare    = 1 - solvingShare
)

// Run measures. It leaves nothing behind, however it ends. It fails with ErrDisagree if a layer
// has other scores when it is solved in another way, or with an error of the operating system.
func Run(ctx context.Context, o Options) (_ *plan.Calibration, err error) {
	dir, remove, err := machine.TempDir(o.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	o.seeds, o.rounds = cmp.Or(o.seeds, lastLayer), cmp.Or(o.rounds, mostRounds)
	if o.seen == nil {
		o.seen = map[int]tally.Hash{}
	}
	o.Workers = min(o.Workers, runtime.NumCPU())
	c, meter := plan.NewCalibration(o.Family.String(), o.Workers), processors.Start()
	if err := o.solving(ctx, c, dir); err != nil {
		return nil, fmt.Errorf("calibrating: %w", err)
	}
	c.SetTaken(meter)
	o.tell(solvingShare)
	if c.MemorySpeed, err = machine.MeasureMemory(ctx, o.Workers, cmp.Or(o.copying, copyingTime)); err != nil {
		return nil, err
	}
	if !o.SkipDisk {
		c.Disk, err = machine.MeasureDisk(ctx, o.Dir, o.Workers, cmp.Or(o.file, machine.FileSize), func(share float64) { o.tell(1 - diskShare*(1-share)) })
		if err != nil {
			return nil, err
		}
	}
	o.tell(1)
	return c, nil
}

// tell reports the share of the work that is done, 0 to 1.
func (o *Options) tell(share float64) {
	o.Tell(job.Step{Doing: "calibrating", Done: share, Total: 1, Unit: job.Shares})
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
	enoughRounds = 12 * time.Second
	enoughLayers = 2 * time.Second
	copyingTime  = 300 * time.Millisecond
)

// cost is the time of one position.
type cost struct{ capture, sweep, full, seal float64 } // nanoseconds

func (c cost) sum() float64 { return c.capture + c.sweep + c.full + c.seal }

// shared is the part that workers share out: sealing a small layer waits for the disk.
func (c cost) shared() float64 { return c.capture + c.sweep }

// setting is a way to solve, and the least that it took.
type setting struct {
	workers, bits int
	best          cost
}

// solving measures the engine: layers in one piece with one worker and with all, layers in
// windows with one, all in turn and in directories below dir; and decoding these.
func (o *Options) solving(ctx context.Context, c *plan.Calibration, dir string) error {
	game, err := awari.New(12, awari.Awari)
	if err != nil {
		return err
	}
	settings := []setting{{workers: 1}, {workers: o.Workers}}
	for _, bits := range halfboard.Widths[1:] {
		settings = append(settings, setting{workers: 1, bits: bits})
	}
	begin := time.Now()
	for round := range o.rounds {
		if round > 0 && time.Since(begin) > enoughRounds {
			break
		}
		for i := range settings {
			s := &settings[i]
			run := filepath.Join(dir, fmt.Sprintf("run-%d-%d", round, i))
			got, err := o.solveOnce(ctx, game, run, s)
			if err != nil {
				return err
			}
			if s.best.sum() == 0 || got.sum() < s.best.sum() {
				s.best = got
			}
			decode, err := o.decoding(ctx, run)
			if err != nil {
				return err
			}
			if c.Decode == 0 || decode < c.Decode {
				c.Decode = decode
			}
			o.tell(solvingShare * (float64(round*len(settings)+i+1) / float64(o.rounds*len(settings))))
		}
	}
	one, all := settings[0].best, settings[1].best
	c.Capture, c.Sweep, c.Seal = one.capture, one.sweep+one.full, one.seal
	c.Speedup = min(max(1, one.shared()/all.shared()), float64(o.Workers))
	for _, s := range settings[2:] {
		*c.Of(s.bits) = plan.Width{Capture: s.best.capture, Sweep: s.best.sweep, Full: s.best.full, Seal: s.best.seal}
	}
	return nil
}

// solveOnce solves a run as the setting says, its largest layers with the given bits a score,
// and returns what these took.
func (o *Options) solveOnce(ctx context.Context, game awari.Game, dir string, s *setting) (c cost, err error) {
	before := runtime.GOMAXPROCS(s.workers)
	defer runtime.GOMAXPROCS(before)
	begin, meter := time.Now(), processors.Start()
	var positions float64
	for n := min(firstTimed, o.seeds) - 1; n <= o.seeds; n++ {
		if n > firstTimed && time.Since(begin) > enoughLayers {
			break // slow kernels
		}
		timed := n >= min(firstTimed, o.seeds)
		b := solve.Options{Seeds: max(0, n), Job: job.Job{Workers: s.workers, Family: o.Family}}
		if timed {
			b.Bits = s.bits
		}
		reports, err := solve.Solve(ctx, dir, game, b)
		if err != nil {
			return c, err
		}
		last := &reports[len(reports)-1]
		if err := o.agrees(&last.Layer, s); err != nil {
			return c, err
		}
		if timed {
			c.add(last)
			positions += float64(last.Layer.Positions)
		}
	}
	scale := 1e9 / positions * meter.Had(s.workers) // what others took is not the cost of a position
	return cost{c.capture * scale, c.sweep * scale, c.full * scale, c.seal * scale}, nil
}

// add adds the seconds of the stages of a layer. What else it takes, such as drawing a sample, large layers hardly notice.
func (c *cost) add(r *solve.Report) {
	stages := &r.Engine.Stages
	c.capture += stages[halfboard.CaptureStage].Seconds()
	c.sweep += (stages[halfboard.DenseStage] + stages[halfboard.SparseStage]).Seconds()
	c.full += stages[halfboard.FullStage].Seconds()
	c.seal += r.Seal.Seconds()
}

// decodedScores is about the number of scores that are decoded.
const decodedScores = 1 << 22

// decoding returns the nanoseconds that one core takes for a score of the largest layer in
// dir.
func (o *Options) decoding(ctx context.Context, dir string) (ns float64, err error) {
	t, err := tables.Open(ctx, dir, tables.Kernel(o.Family))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	last := t.Layers()[t.MaxSeeds()]
	scores := make([]int8, min(decodedScores, last.Positions))
	for range 2 { // the second time memory is there
		start := time.Now()
		if err := t.Read(ctx, last.Seeds, 0, scores); err != nil {
			return 0, err
		}
		ns = float64(time.Since(start)) / float64(len(scores))
	}
	return ns, nil
}
