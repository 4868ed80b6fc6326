// Package batch runs the solver overnight: it solves the layers of an awari game
// one after the other into a run directory, each sealed and published before the
// next begins, and continues where an earlier run stopped.
//
// The engine (package halfboard) computes a layer in memory; this package feeds
// it the layers below from their files, streams the result into a layer file
// (seal.go) and lists it in the manifest. Killing the process at any moment
// leaves sealed layers and at most a file in work/ that the next run removes.
package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/kernels/planes"
	"grenier/layers/awari"
	"grenier/pipeline/halfboard"
)

// GameName is the game in layer files and manifests.
const GameName = "awari"

// Identity returns what a run directory of game is called.
func Identity(game awari.Game) manifest.Identity {
	return manifest.Identity{Game: GameName, Rules: game.Rules().String(), Pits: game.Pits()}
}

// Options say what to solve and how.
type Options struct {
	// Seeds is the last layer wanted.
	Seeds int
	// Codec compresses the layer files.
	Codec layerfile.Codec
	// Memory bounds the bytes taken for a layer; 0 is no bound.
	Memory uint64
	// Workers is the number of goroutines that compute, at least one.
	Workers int
	// Family is the kernel family.
	Family cpu.Family
	// Progress, if not nil, is told how far the layer in progress is, from any
	// goroutine and often.
	Progress func(Progress)
	// Sealed, if not nil, is told of every layer that is done.
	Sealed func(Report)
}

// Report is what a layer took.
type Report struct {
	Layer   manifest.Layer
	Engine  halfboard.Stats
	Seal    time.Duration
	Elapsed time.Duration // all stages
}

var (
	// ErrSeeds reports a number of seeds that the game does not have.
	ErrSeeds = errors.New("number of seeds")
	// ErrOtherRun reports a directory that holds layers of another game.
	ErrOtherRun = errors.New("directory of another run")
)

// MemoryError reports a layer that does not fit in the memory allowed.
type MemoryError struct {
	Seeds         int    // of the layer
	Need, Allowed uint64 // bytes
	Largest       int    // the largest layer that does fit, -1 if none does
}

// Error says what is needed and what would fit.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("layer %d needs %s of memory and %s are allowed (enough up to layer %d)",
		e.Seeds, humanize.IBytes(e.Need), humanize.IBytes(e.Allowed), e.Largest)
}

// run is a batch at work.
type run struct {
	options  Options
	game     awari.Game
	dir      *rundir.Locked
	manifest *manifest.Manifest
	engine   *halfboard.Engine
	planes   planes.Kernel
	estimate estimate
}

// Solve solves the layers up to o.Seeds that the run directory at path does not
// have yet and returns a report for each. A directory that does not exist is
// created. When ctx ends, Solve returns the reports so far and the error of ctx;
// what was sealed stays.
//
// It fails with ErrSeeds, ErrOtherRun, with a *MemoryError before anything is changed, like
// rundir.Lock, and with errors that match corrupt.ErrCorrupt when layers sealed
// earlier cannot be read.
func Solve(ctx context.Context, path string, game awari.Game, o Options) (reports []Report, err error) {
	if err := o.check(game); err != nil {
		return nil, err
	}
	dir, err := rundir.Lock(path, Identity(game))
	if errors.Is(err, corrupt.ErrMismatch) {
		return nil, fmt.Errorf("%w: %v", ErrOtherRun, err) // intact, so not corrupt
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Unlock()) }()
	r, err := begin(dir, game, o)
	if err != nil {
		return nil, err
	}
	r.estimate = newEstimate(game, len(r.manifest.Layers), o.Seeds)
	for n := len(r.manifest.Layers); n <= o.Seeds; n++ {
		report, err := r.solveLayer(ctx, n)
		if err != nil {
			return reports, fmt.Errorf("layer %d: %w", n, err)
		}
		reports = append(reports, report)
		r.estimate.learn(report)
		if o.Sealed != nil {
			o.Sealed(report)
		}
	}
	return reports, nil
}

// check refuses what cannot be solved.
func (o *Options) check(game awari.Game) error {
	if o.Seeds < 0 || o.Seeds > awari.MaxSeeds {
		return fmt.Errorf("%w: %d (0 to %d are possible)", ErrSeeds, o.Seeds, awari.MaxSeeds)
	}
	if need := halfboard.Memory(game, o.Seeds); o.Memory > 0 && need > o.Memory {
		return &MemoryError{Seeds: o.Seeds, Need: need, Allowed: o.Memory, Largest: largest(game, o.Memory)}
	}
	return nil
}

// largest returns the largest layer that can be solved in memory bytes, -1 if
// there is none.
func largest(game awari.Game, memory uint64) int {
	n := awari.MaxSeeds
	for n >= 0 && halfboard.Memory(game, n) > memory {
		n--
	}
	return n
}

func begin(dir *rundir.Locked, game awari.Game, o Options) (*run, error) {
	r := &run{options: o, game: game, dir: dir, planes: planes.For(o.Family)}
	var err error
	if r.manifest, err = dir.Manifest(); err != nil {
		return nil, err
	}
	r.engine, err = halfboard.New(game, halfboard.Options{
		Workers: o.Workers, Family: o.Family, SlabPits: -1, Progress: r.progress,
	})
	return r, err
}

// solveLayer solves layer n and makes it part of the run directory.
func (r *run) solveLayer(ctx context.Context, n int) (Report, error) {
	start := time.Now()
	layer, err := r.compute(ctx, n)
	if err != nil {
		return Report{}, err
	}
	solved := time.Now()
	name := rundir.LayerName(n)
	summary, err := r.seal(ctx, layer, name)
	if err = errors.Join(err, layer.Close()); err != nil {
		return Report{}, err
	}
	report := Report{Engine: layer.Stats(), Seal: time.Since(solved), Elapsed: time.Since(start)}
	report.Layer = manifest.NewLayer(name, summary, report.Elapsed.Seconds())
	return report, r.publish(name, report.Layer)
}

// compute solves layer n from the files of the layers below.
func (r *run) compute(ctx context.Context, n int) (*halfboard.Layer, error) {
	lower, err := r.openLower(n)
	if err != nil {
		return nil, err
	}
	layer, err := r.engine.Solve(ctx, n, lower)
	return layer, errors.Join(err, lower.Close())
}

// publish gives the layer file its name and lists it.
func (r *run) publish(name string, layer manifest.Layer) error {
	if err := r.dir.Publish(name); err != nil {
		return err
	}
	next := *r.manifest
	next.Layers = append(next.Layers[:len(next.Layers):len(next.Layers)], layer)
	if err := r.dir.SaveManifest(&next); err != nil {
		return err
	}
	r.manifest = &next
	return r.dir.ClearWork()
}

// Stages returns the time spent in each stage, by name.
func (r Report) Stages() map[string]time.Duration {
	stages := map[string]time.Duration{stageName(sealStage): r.Seal}
	for s, took := range r.Engine.Stages {
		stages[stageName(halfboard.Stage(s))] = took
	}
	return stages
}
