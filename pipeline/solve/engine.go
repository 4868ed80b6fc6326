package solve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"grenier/io/memory"
	"grenier/io/vfs"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard"
	"grenier/pipeline/spaces/retro"
)

// Engine is an algorithm that solves layers. All give the same scores, and so the same files.
type Engine uint8

const (
	// Sweeps is package halfboard: several workers, any size of layers, checkpoints.
	Sweeps Engine = iota
	// Retrograde is the analysis of document 001 (package retro): one worker, all layers in
	// memory, and no checkpoint, for small layers and to count its accesses.
	Retrograde

	engines // their number
)

var engineNames = [engines]string{Sweeps: "sweeps", Retrograde: "retrograde"}

// ErrEngine reports a name that belongs to no engine.
var ErrEngine = fault.New(fault.Usage, "unknown engine")

// String returns the name that ParseEngine reads.
func (e Engine) String() string {
	if e >= engines {
		return fmt.Sprintf("Engine(%d)", uint8(e))
	}
	return engineNames[e]
}

// ParseEngine returns the engine of that name. It fails with ErrEngine.
func ParseEngine(name string) (Engine, error) {
	for e, known := range engineNames {
		if name == known {
			return Engine(e), nil
		}
	}
	return 0, fmt.Errorf("%w %q: must be %s", ErrEngine, name, strings.Join(engineNames[:], ", "))
}

// need returns the least memory of a process that solves a layer of n seeds after those
// below it.
func (o *Options) need(game awari.Game, seeds int) uint64 {
	if o.Engine != Retrograde {
		return halfboard.Least(game, seeds, o.Workers)
	}
	data := halfboard.Positions(game, seeds) * retro.BytesPerState
	for n := range seeds {
		data += halfboard.Positions(game, n)
	}
	return memory.Need(data)
}

// engine solves layers.
type engine interface {
	// Solve solves layer n from those below, which below identifies and it closes.
	Solve(ctx context.Context, n int, below halfboard.Below, lower halfboard.Lower) (solved, error)
	// Checkpointed is as halfboard.Engine has it.
	Checkpointed(below func(seeds int) halfboard.Below) (seeds int, same bool)
	Close() error
}

// solved is a layer that an engine has solved.
type solved interface {
	Source
	Stats() halfboard.Stats
	// Kept is as halfboard.Layer has it.
	Kept() func(awari.Board) bool
}

// newEngine returns an engine whose streams are in the given directory.
func (r *run) newEngine(work vfs.Dir) (engine, error) {
	o := &r.options
	if o.Engine == Retrograde {
		space, err := awari.NewSpace(r.game, o.Seeds)
		return &retrograde{space: space, progress: r.progress}, err
	}
	e, err := r.newSweeps(work)
	return sweeps{e}, err
}

// newSweeps returns an engine that sweeps.
func (r *run) newSweeps(work vfs.Dir) (*halfboard.Engine, error) {
	o := &r.options
	return halfboard.New(r.game, halfboard.Options{
		Workers: o.Workers, Family: o.Family, Seeds: o.Seeds, Memory: o.Memory, Bits: o.Bits, Work: work,
		Sample: sample, Interval: o.Interval, Segment: r.segment, Plan: r.number, Progress: r.progress, Note: o.Note,
	})
}

// sweeps is the engine Sweeps.
type sweeps struct{ *halfboard.Engine }

func (e sweeps) Solve(ctx context.Context, n int, below halfboard.Below, lower halfboard.Lower) (solved, error) {
	layer, err := e.Engine.Solve(ctx, n, below, lower)
	if err != nil {
		return nil, err
	}
	return layer, nil
}

// retrograde is the engine Retrograde.
type retrograde struct {
	space    *awari.Space
	progress func(halfboard.Progress)
	table    [][]int8 // layers from 0 on
}

func (e *retrograde) Checkpointed(func(int) halfboard.Below) (int, bool) { return -1, false }

func (e *retrograde) Close() error { return nil }

func (e *retrograde) Solve(ctx context.Context, n int, _ halfboard.Below, lower halfboard.Lower) (solved, error) {
	began := time.Now()
	if err := errors.Join(e.read(ctx, n, lower), lower.Close()); err != nil {
		return nil, err
	}
	l := &retroLayer{seeds: n, stats: halfboard.Stats{Bits: 8, Windows: 1, Bytes: e.space.Size(n) * retro.BytesPerState}}
	stage, since := halfboard.CaptureStage, began
	var err error
	l.scores, l.accesses, err = retro.SolveLayer(ctx, e.space, e.table, n, func(step int, state uint64) {
		if step > l.stats.Sweeps {
			l.stats.Stages[stage] += time.Since(since)
			stage, since, l.stats.Sweeps = halfboard.DenseStage, time.Now(), step
		}
		e.progress(halfboard.Progress{Seeds: n, Positions: e.space.Size(n), Stage: stage, Sweep: step, Done: state})
	})
	if err != nil {
		return nil, err
	}
	l.stats.Stages[stage] += time.Since(since)
	e.table = append(e.table, l.scores)
	return l, nil
}

// read reads the layers below layer n that an earlier run has solved.
func (e *retrograde) read(ctx context.Context, n int, lower halfboard.Lower) error {
	for k := len(e.table); k < n; k++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		scores := make([]int8, e.space.Size(k))
		if err := lower.Read(k, 0, scores); err != nil {
			return err
		}
		e.table = append(e.table, scores)
	}
	return nil
}

// retroLayer is a layer solved by retrograde analysis.
type retroLayer struct {
	seeds    int
	scores   []int8
	accesses retro.Accesses
	stats    halfboard.Stats
}

func (l *retroLayer) Seeds() int { return l.seeds }

func (l *retroLayer) Positions() uint64 { return uint64(len(l.scores)) }

func (l *retroLayer) Read(start uint64, dst []int8) error {
	copy(dst, l.scores[start:][:len(dst)])
	return nil
}

func (l *retroLayer) Stats() halfboard.Stats { return l.stats }

func (l *retroLayer) Kept() func(awari.Board) bool { return nil }

func (l *retroLayer) Close() error { return nil }
