package halfboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"grenier/io/crew"
	"grenier/io/vfs"
	"grenier/kernels/colex"
	"grenier/kernels/cpu"
	"grenier/kernels/window"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
	"grenier/pipeline/solve/internal/halfboard/stream"
)

// Options say how an Engine works. They never change a score.
type Options struct {
	// Workers is the number of goroutines that compute; 0 means one.
	Workers int
	// Seeds is the largest layer that will be solved, if known: memory is taken
	// once.
	Seeds int
	// Family is the kernel family.
	Family cpu.Family
	// TileSize is the largest number of rows and of columns of a tile, within 64; 0
	// chooses.
	TileSize int
	// Memory is the most bytes to use, the Go heap included; 0 is no bound. A layer that
	// needs more is solved window by window.
	Memory uint64
	// Bits forces the bits that a score takes in memory: 8, 6, 4, 3 or 2; 0 chooses what fits.
	Bits int
	// Work is the directory of streams and checkpoints: nil if there are to be none
	// and all layers fit. A layer that has a checkpoint there is resumed.
	Work vfs.Dir
	// Interval is the time between checkpoints; 0 is DefaultInterval.
	Interval time.Duration
	// Sample, if not nil, says what is read first of a layer of the given
	// positions: pieces of the given length that begin at starts, which ascend.
	Sample func(positions uint64) (starts []uint64, length uint64)
	// Segment is the least positions of a segment of capture values; 0 chooses.
	Segment uint64
	// Plan, if not empty, names the plan of a layer that processes share (Steps): its streams are its own, and windows
	// know nothing of each other.
	Plan string
	// Progress, if not nil, is called now and then, from any worker.
	Progress func(fixpoint.Progress)
	// Note, if not nil, gets messages for the user: that something stored is damaged
	// and computed again.
	Note func(string)

	often bool // in tests: Progress gets all reports
	thin  bool // in tests: all windows but the first are thin, whatever memory that takes
}

// Engine solves layers of one game.
type Engine struct {
	game     awari.Game
	options  Options
	patterns *board.Patterns
	spare    board.Spare
	ledgers  [9]fixpoint.Ledger // by the bits of a score
}

// ErrMemory reports a layer that cannot be solved in the memory allowed.
var ErrMemory = errors.New("too little memory")

// DefaultInterval is the time between checkpoints unless Options say otherwise.
const DefaultInterval = time.Minute

// ErrOptions reports options that make no sense.
var ErrOptions = errors.New("halfboard: options")

// New returns an engine for game. It fails with ErrOptions for numbers below 0.
func New(game awari.Game, o Options) (*Engine, error) {
	if o.Workers < 0 || o.TileSize < 0 {
		return nil, fmt.Errorf("%w: %d workers, tiles of %d halves", ErrOptions, o.Workers, o.TileSize)
	}
	if o.Bits != 0 && o.Bits != 8 && o.codes() == nil {
		return nil, fmt.Errorf("%w: %d bits a score: must be 8, 6, 4, 3 or 2", ErrOptions, o.Bits)
	}
	o.Workers = max(o.Workers, 1)
	if o.Interval == 0 {
		o.Interval = DefaultInterval
	}
	return &Engine{game: game, options: o, patterns: board.NewPatterns(game.Rules())}, nil
}

// tileSize is the size of tiles unless Options say otherwise. Smaller tiles need
// fewer sweeps, larger ones cost less a score.
const tileSize = 1024

// engine is the work on one layer: in memory, or in windows.
type engine struct {
	*fixpoint.Sweeps
	streams *stream.Streams
	keeper  *stream.Keeper
	windows *stream.Windows // nil: the layer is in memory
	whole   *stream.Whole   // nil: the layer is in windows
	from    *Engine
	memory  *board.Region // of whole
}

// Solve computes the layer of n seeds. The layers below must be available
// through lower, which Solve closes; below identifies them: streams of the work directory that were computed
// from others are not used. The result holds memory until it is closed.
// When ctx ends, Solve returns its error within the time of one tile per worker.
func (e *Engine) Solve(ctx context.Context, n int, below stream.Below, lower board.Lower) (*Layer, error) {
	w, err := e.begin(n, below)
	if err != nil {
		return nil, errors.Join(err, lower.Close())
	}
	layer := &Layer{engine: w}
	if err := w.prepare(ctx); err != nil {
		return nil, errors.Join(err, lower.Close(), layer.Close())
	}
	if err := w.leaving(ctx, func() error { return w.run(ctx, lower) }); err != nil {
		return nil, errors.Join(err, layer.Close())
	}
	return layer, nil
}

// leaving does work on a layer, and makes a checkpoint if ctx has ended it.
func (e *engine) leaving(ctx context.Context, work func() error) error {
	err := crew.Run(work)
	if err != nil && ctx.Err() != nil {
		err = errors.Join(err, e.keeper.Leave())
	}
	return err
}

// Positions returns the number of positions of the layer of n seeds, 0 to
// awari.MaxSeeds.
func Positions(game awari.Game, n int) uint64 {
	return colex.MustBinomial(game.Pits()+n-1, game.Pits()-1)
}

// Close returns the memory that is kept from one layer to the next. Errors come from
// the operating system.
func (e *Engine) Close() error { return e.spare.Close() }

// Checkpointed returns the seeds of the layer that the work directory has streams of, -1 if it has
// none; and whether they were computed from the layers that below identifies. Others are of no use.
func (e *Engine) Checkpointed(below func(seeds int) stream.Below) (seeds int, same bool) {
	return stream.Checkpointed(e.options.Work, e.game, below)
}

// begin lays out the layer of n seeds, without its moves.
func (e *Engine) begin(n int, below stream.Below) (*engine, error) {
	if n < 0 || n > awari.MaxSeeds {
		return nil, fmt.Errorf("%w %d: must be 0 to %d", awari.ErrSeeds, n, awari.MaxSeeds)
	}
	geo, err := board.NewGeometry(e.game.Half(), n)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	codes, err := e.options.form(e.game, n)
	if err != nil {
		return nil, err
	}
	var w *engine
	if codes == nil {
		w, err = e.beginWhole(geo, below)
	} else {
		w, err = e.beginWindows(geo, below, codes)
	}
	if err != nil {
		return nil, err
	}
	w.Began = began
	return w, nil
}

// fits reports whether a layer may be in memory in one piece.
func (o *Options) fits(game awari.Game, n int) bool {
	return o.Bits == 8 || o.Bits == 0 && (o.Memory == 0 || Whole(game, n, o.Workers) <= o.Memory)
}

// layOut lays out a layer whose scores take the given bits, without memory for
// them, and without its moves.
func (e *Engine) layOut(geo *board.Geometry, below stream.Below, width int) *engine {
	o, l := &e.options, board.NewLayer(geo, board.Side*width/8)
	a := &fixpoint.Account{Seeds: geo.N, Positions: Positions(e.game, geo.N)}
	a.Reports.Progress, a.Reports.Often = o.Progress, o.often
	a.Stats.Bits, a.Stats.Windows = width, 1
	return &engine{
		from:    e,
		Sweeps:  fixpoint.NewSweeps(a, l, o.Workers, fixpoint.KernelsFor(o.Family, width), &e.ledgers[width]),
		streams: &stream.Streams{Account: a, Work: o.Work, Workers: o.Workers, Note: o.Note, Whose: stream.LayerAbove(e.game, geo.N, below, o.Plan), InWindows: width != 8},
	}
}

// listMoves lists the moves of the layer, which captures need.
func (e *engine) listMoves(ctx context.Context) error {
	err := e.Grid.ListMoves(ctx, e.Workers, e.from.patterns)
	if e.windows == nil {
		e.Grid.Aim()
	} else if tablesBytes(e.Grid.Q, e.Grid.N) > 1<<20 {
		debug.FreeOSMemory() // what making the tables has left
	}
	return err
}

// prepare lists the moves and cuts the layer into tiles, which sweeps need too.
func (e *engine) prepare(ctx context.Context) error {
	err := e.listMoves(ctx)
	if err == nil {
		e.Cut(cmp.Or(e.from.options.TileSize, tileSize))
	}
	return err
}

// beginWhole lays out a layer in memory.
func (e *Engine) beginWhole(geo *board.Geometry, below stream.Below) (w *engine, err error) {
	w = e.layOut(geo, below, 8)
	// Memory is taken once for all layers that will fit.
	seeds := max(geo.N, e.options.Seeds)
	for !e.options.fits(e.game, seeds) {
		seeds--
	}
	if w.memory, err = e.spare.Get(board.LayoutOf(geo.Q, seeds).Total()); err != nil {
		return nil, err
	}
	l := board.LayoutOf(geo.Q, geo.N)
	w.Stats.Bytes = uint64(l.Total())
	offers, scores := w.Grid.Allocate(w.memory, l)
	w.whole = stream.NewWhole(w.streams, w.Grid.Layer, e.options.Family, offers, scores, e.options.Interval)
	w.keeper = w.whole.Keeper
	w.Between = w.keeper.Due
	return w, nil
}

// beginWindows lays out a layer that is solved window by window.
func (e *Engine) beginWindows(geo *board.Geometry, below stream.Below, codes *window.Codes) (*engine, error) {
	o := &e.options
	if o.Work == nil {
		return nil, fmt.Errorf("%w: scores of %d bits need a directory for streams", ErrOptions, codes.Bits)
	}
	if err := e.spare.Close(); err != nil {
		return nil, err
	}
	w := e.layOut(geo, below, codes.Bits)
	w.windows = stream.NewWindows(w.Sweeps, w.streams, codes, stream.Setup{
		Game: e.game, Family: o.Family, Interval: o.Interval, Segment: o.Segment, Alone: o.Plan != "", Thin: o.thin, Sample: o.Sample,
		Room: stream.Room{Pieces: o.roomForPieces(geo.Q, geo.N), Offers: o.roomForOffers(geo.Q, geo.N), Scores: o.roomForScores(geo.Q, geo.N, codes.Bits)},
	})
	w.keeper = w.windows.Keeper
	return w, nil
}

func (e *engine) run(ctx context.Context, lower board.Lower) error {
	stages := [fixpoint.Stages]func(context.Context) error{
		fixpoint.CaptureStage: func(ctx context.Context) error { return e.captureWhole(ctx, lower) },
		fixpoint.DenseStage:   e.sweepWhole, // and sparse sweeps
		fixpoint.FullStage:    e.fullAll,
	}
	if e.windows != nil {
		stages = [fixpoint.Stages]func(context.Context) error{
			fixpoint.CaptureStage: func(ctx context.Context) error { return e.windows.Capture(ctx, lower) },
			fixpoint.DenseStage:   e.windows.Solve, // and all that follows
		}
	}
	for stage, run := range stages {
		if run == nil {
			continue
		}
		e.Enter(fixpoint.Stage(stage))
		if err := run(ctx); err != nil {
			return fmt.Errorf("solving layer %d, %s stage: %w", e.Grid.N, e.Stage, err)
		}
	}
	e.Pass()
	return nil
}

// captureWhole computes all offers, or finds them kept by an earlier run.
func (e *engine) captureWhole(ctx context.Context, lower board.Lower) error {
	return e.whole.Capture(ctx, lower, func() error { return e.captureAll(ctx, lower) })
}

// captureAll computes all offers of a layer in memory.
func (e *engine) captureAll(ctx context.Context, lower board.Lower) error {
	err := crew.Run(func() error {
		return board.CaptureAll(ctx, e.Grid.Layer, e.from.game, e.Workers, lower, e.whole.Scores, func(share float64) { e.Tell(fixpoint.CaptureStage, share) })
	})
	return errors.Join(err, lower.Close())
}

// sweepWhole sweeps a layer in memory: from scores of 0 unless an earlier run has found others.
func (e *engine) sweepWhole(ctx context.Context) error {
	e.Expire()
	if !e.whole.Found {
		if err := e.Clear(ctx, e.whole.Scores); err != nil {
			return err
		}
	}
	e.keeper.Sweeping = true
	return e.SweepAll(ctx, fixpoint.DenseStage)
}

// fullAll computes the full rows of a layer in memory.
func (e *engine) fullAll(ctx context.Context) error {
	if err := e.whole.Fill(); err != nil {
		return err
	}
	return e.Fill(ctx)
}
