package halfboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"grenier/kernels/colex"
	"grenier/kernels/compress"
	"grenier/kernels/cpu"
	"grenier/kernels/rows"
	"grenier/kernels/transpose"
	"grenier/layers/awari"
)

// Options say how an Engine works. They never change a score.
type Options struct {
	// Workers is the number of goroutines that compute; 0 means one.
	Workers int
	// Family is the kernel family.
	Family cpu.Family
	// SlabSize is the largest number of halves in a slab, that is of rows and
	// columns of a tile; 0 chooses.
	SlabSize int
	// Progress, if not nil, is called now and then, from any worker.
	Progress func(Progress)
}

// Progress says how far a layer is.
type Progress struct {
	Seeds     int    // of the layer
	Positions uint64 // of the layer
	Stage     Stage
	Sweep     int    // dense sweeps begun
	Done      uint64 // positions that the stage, or sweep, is through with
	Changed   uint64 // scores changed by the sweep so far
}

// Stage is a part of the work on a layer.
type Stage uint8

// The stages, in order.
const (
	CaptureStage Stage = iota
	DenseStage
	SparseStage
	FullStage
	Stages
)

var stageNames = [Stages]string{"capture", "dense", "sparse", "full"}

func (s Stage) String() string { return stageNames[s] }

// Lower gives the scores of solved layers.
type Lower interface {
	// Read fills dst with the scores of layer n from rank start on, in colex
	// order. It is called from several goroutines.
	Read(n int, start uint64, dst []int8) error
	// Close is called once, when the engine needs nothing more, before it takes
	// memory for the scores of the layer in progress.
	Close() error
}

// Engine solves layers of one game.
type Engine struct {
	game     awari.Game
	options  Options
	kernels  kernels
	patterns *patterns
}

// kernels is the chosen family of every kernel.
type kernels struct {
	least           compress.LeastFunc
	countDiff       func(a, b []int8) int
	negateTranspose transpose.Func
}

// ErrOptions reports options that make no sense.
var ErrOptions = errors.New("halfboard: options")

// New returns an engine for game.
func New(game awari.Game, o Options) (*Engine, error) {
	if o.Workers < 0 || o.SlabSize < 0 {
		return nil, fmt.Errorf("%w: %d workers, slabs of %d halves", ErrOptions, o.Workers, o.SlabSize)
	}
	o.Workers = max(o.Workers, 1)
	if o.SlabSize == 0 {
		o.SlabSize = slabSize
	}
	return &Engine{game: game, options: o, patterns: &patterns{}, kernels: kernels{
		least:           compress.LeastFor(o.Family),
		countDiff:       rows.For(o.Family).CountDiff,
		negateTranspose: transpose.For(o.Family),
	}}, nil
}

// slabSize is the size of slabs unless Options say otherwise. Smaller tiles need
// fewer sweeps and leave more columns alone, larger ones cost less a score.
const slabSize = 1024

// engine is the work on one layer.
type engine struct {
	game     awari.Game
	workers  int
	kernels  kernels
	patterns *patterns
	grid     *grid
	strips   []*strip  // all of the grid
	order    []*tile   // in the order of a sweep
	units    [][]*tile // order, cut into what a worker takes at a time
	benches  []*bench
	arena    arena
	clock    atomic.Uint32
	progress func(Progress)
	done     atomic.Uint64 // positions that the stage is through with
	changed  atomic.Uint64 // scores that the sweep changed
	stats    Stats
}

// Stats says what a layer took.
type Stats struct {
	Stages  [Stages]time.Duration
	Sweeps  int    // dense sweeps
	Changes uint64 // scores changed by dense sweeps
	Events  uint64 // scores that were passed on by the sparse phase
	Bytes   uint64 // memory taken for scores and offers
}

// Solve computes the layer of n seeds. The layers below must be available
// through lower, which Solve closes. The result holds memory until it is closed.
// When ctx ends, Solve returns its error within the time of one tile per worker.
func (e *Engine) Solve(ctx context.Context, n int, lower Lower) (*Layer, error) {
	w, err := e.begin(n)
	if err != nil {
		return nil, errors.Join(err, lower.Close())
	}
	if err := w.run(ctx, lower); err != nil {
		return nil, errors.Join(err, w.arena.close())
	}
	w.stats.Bytes = uint64(w.arena.held)
	return &Layer{engine: w}, nil
}

// Positions returns the number of positions of the layer of n seeds, 0 to
// awari.MaxSeeds.
func Positions(game awari.Game, n int) uint64 {
	positions, err := colex.Binomial(game.Pits()+n-1, game.Pits()-1)
	if err != nil {
		panic(err) // far below 64 bits for any game
	}
	return positions
}

// Memory returns the bytes that solving the layer of n seeds takes at most: for
// each position a score, in buffers up to an eighth larger, and an offer; for
// each half its place and its moves.
func Memory(game awari.Game, n int) uint64 {
	halves, err := colex.Binomial(game.Half()+n, game.Half())
	if err != nil {
		panic(err)
	}
	return Positions(game, n)*17/8 + halves*uint64(40+12*game.Half()) + 4*chunkBytes
}

// begin lays out the layer of n seeds.
func (e *Engine) begin(n int) (*engine, error) {
	if n < 0 || n > awari.MaxSeeds {
		return nil, fmt.Errorf("%w: %d (0 to %d are possible)", awari.ErrSeeds, n, awari.MaxSeeds)
	}
	geo, err := newGeometry(e.game.Half(), n, e.options.SlabSize)
	if err != nil {
		return nil, err
	}
	w := &engine{
		game: e.game, workers: e.options.Workers, kernels: e.kernels, patterns: e.patterns,
		grid: newGrid(geo), progress: e.options.Progress,
	}
	w.clock.Store(1)
	w.plan()
	return w, nil
}

// unit is the number of tiles that a worker takes at a time. Neighbours in the
// order depend on each other: two workers on them at once need a third more
// sweeps, with units of 8 tiles one more.
const unit = 8

// plan fixes the order of sweeps and makes room for the largest tile.
func (e *engine) plan() {
	rows := 0
	for _, tiles := range e.grid.tiles {
		e.order = append(e.order, tiles...)
		for _, t := range tiles {
			rows = max(rows, t.rows[openRows], t.rows[fullRows])
		}
	}
	e.strips = slices.Concat(e.grid.strips...)
	e.grid.sortByWave(e.order)
	e.units = slices.Collect(slices.Chunk(e.order, max(1, min(unit, len(e.order)/(4*e.workers)))))
	for range e.workers {
		e.benches = append(e.benches, newBench(rows))
	}
}

func (e *engine) run(ctx context.Context, lower Lower) error {
	stages := [Stages]func(context.Context) error{
		CaptureStage: func(ctx context.Context) error { return e.captureAll(ctx, lower) },
		DenseStage:   e.sweepAll,
		FullStage:    e.fullAll,
	}
	for stage, run := range stages {
		if run == nil {
			continue // the sparse phase is part of the dense one
		}
		start := time.Now()
		if err := run(ctx); err != nil {
			return fmt.Errorf("solving layer %d, %s stage: %w", e.grid.n, Stage(stage), err)
		}
		e.stats.Stages[stage] += time.Since(start)
	}
	e.stats.Stages[DenseStage] -= e.stats.Stages[SparseStage]
	return nil
}

// pieceSize is the number of scores of a lower layer that a worker asks for at
// a time.
const pieceSize = 1 << 20

// piece is a run of scores of a lower layer.
type piece struct {
	n      int
	start  uint64
	scores []int8
}

// readLower returns the scores of the layers of group by seeds, nil for others.
func (e *engine) readLower(ctx context.Context, a *arena, lower Lower, group []int) ([][]int8, error) {
	layers := make([][]int8, e.grid.n)
	var pieces []piece
	for _, n := range group {
		scores, err := a.keep(int(e.grid.halves.Board().Size(n)))
		if err != nil {
			return nil, err
		}
		layers[n] = scores
		for start := 0; start < len(scores); start += pieceSize {
			end := min(start+pieceSize, len(scores))
			pieces = append(pieces, piece{n, uint64(start), scores[start:end]})
		}
	}
	return layers, forEach(ctx, e.workers, pieces, func(_ int, p piece) error {
		return lower.Read(p.n, p.start, p.scores)
	})
}

// switchShare is the share of positions changed by a sweep below which the
// sparse phase is cheaper than another sweep.
const switchShare = 0.001

// sweepAll allocates the scores, all 0, and runs dense sweeps until few scores
// change, then settles the rest.
func (e *engine) sweepAll(ctx context.Context) error {
	positions := 0
	for _, t := range e.order {
		scores, err := e.arena.alloc(t.rows[openRows] * t.cols)
		if err != nil {
			return err
		}
		t.publish(&version{scores: scores, stamps: make([]uint32, t.rows[openRows])}, &e.arena)
		positions += len(scores)
	}
	for few := uint64(switchShare * float64(positions)); ; {
		changed, err := e.runSweep(ctx, nil)
		if err != nil || changed == 0 {
			return err
		}
		if changed <= few {
			return e.finish(ctx)
		}
	}
}

// finish makes one more sweep, which notes what it changes, and passes the
// changes on one by one.
func (e *engine) finish(ctx context.Context) error {
	notes := make([][]change, e.workers)
	if _, err := e.runSweep(ctx, notes); err != nil {
		return err
	}
	start := time.Now()
	events, err := e.settle(ctx, slices.Concat(notes...))
	e.stats.Stages[SparseStage] = time.Since(start)
	e.stats.Events = uint64(events)
	return err
}

// runSweep recomputes every tile that is out of date and returns the number of
// scores changed. Every worker notes its changes in its part of notes.
func (e *engine) runSweep(ctx context.Context, notes [][]change) (uint64, error) {
	e.stats.Sweeps++
	err := e.eachTile(ctx, DenseStage, func(w int, t *tile) error {
		var note func(*tile, []int8, []int8)
		if notes != nil {
			note = func(t *tile, old, scores []int8) { notes[w] = e.grid.changesOf(notes[w], t, old, scores) }
		}
		changed, err := e.sweepTile(e.benches[w], t, note)
		e.changed.Add(uint64(changed))
		return err
	})
	e.stats.Changes += e.changed.Load()
	return e.changed.Load(), err
}

// fullAll computes the full rows.
func (e *engine) fullAll(ctx context.Context) error {
	return e.eachTile(ctx, FullStage, func(w int, t *tile) error { return e.fillFull(e.benches[w], t) })
}

// eachTile runs one stage over all tiles and reports progress.
func (e *engine) eachTile(ctx context.Context, stage Stage, do func(worker int, t *tile) error) error {
	e.done.Store(0)
	e.changed.Store(0)
	return forEach(ctx, e.workers, e.units, func(w int, tiles []*tile) error {
		for _, t := range tiles {
			if err := errors.Join(ctx.Err(), do(w, t)); err != nil {
				return err
			}
			e.done.Add(uint64((t.rows[openRows] + t.rows[fullRows]) * t.cols))
			e.tell(stage)
		}
		return nil
	})
}

// tell reports progress.
func (e *engine) tell(stage Stage) {
	if e.progress == nil {
		return
	}
	e.progress(Progress{
		Seeds: e.grid.n, Positions: e.grid.halves.Board().Size(e.grid.n), Stage: stage,
		Sweep: e.stats.Sweeps, Done: e.done.Load(), Changed: e.changed.Load(),
	})
}
