package halfboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"grenier/io/crew"
	"grenier/io/vfs"
	"grenier/kernels/colex"
	"grenier/kernels/compress"
	"grenier/kernels/cpu"
	"grenier/kernels/transpose"
	"grenier/layers/awari"
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
	// Sample, if not nil, returns what is read before all else of a layer of so many
	// positions: pieces of the given length that begin at starts, which ascend.
	Sample func(positions uint64) (starts []uint64, length uint64)
	// Progress, if not nil, is called now and then, from any worker.
	Progress func(Progress)
	// Note, if not nil, gets messages for the user: that something stored is damaged
	// and computed again.
	Note func(string)

	segment uint64 // in tests: the least positions of a segment
	often   bool   // in tests: Progress gets all reports
	thin    bool   // in tests: all windows but the first are thin, whatever memory that takes
}

// Progress says how far a layer is.
type Progress struct {
	Seeds     int    // of the layer
	Positions uint64 // of the layer
	Stage     Stage
	Sweep     int     // sweeps begun, dense and sparse
	Done      uint64  // positions that the stage, or sweep, has finished
	Changed   uint64  // scores changed by the sweep so far
	Base      int     // of the window in progress
	Values    int     // that it tells apart; 0 in a layer in one piece
	Traffic   Traffic // of the work directory so far
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

// String returns the name of the stage, as reports of progress have it.
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
	patterns *patterns
	spare    spare
	ledgers  [9]ledger // by the bits of a score
}

// kernels is the chosen family of every kernel.
type kernels struct {
	least  compress.LeastFunc
	fetch  compress.FetchFunc
	update transpose.UpdateFunc
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
		return nil, fmt.Errorf("%w: %d bits a score; 8, 6, 4, 3 and 2 are possible", ErrOptions, o.Bits)
	}
	o.Workers = max(o.Workers, 1)
	if o.Interval == 0 {
		o.Interval = DefaultInterval
	}
	return &Engine{game: game, options: o, patterns: &patterns{}}, nil
}

// kernelsFor returns the kernels for scores of the given bits.
func kernelsFor(f cpu.Family, width int) kernels {
	return kernels{compress.For(f, width), compress.FetchFor(f, width), transpose.For(f, width)}
}

// tileSize is the size of tiles unless Options say otherwise. Smaller tiles need
// fewer sweeps, larger ones cost less a score.
const tileSize = 1024

// engine is the work on one layer.
type engine struct {
	game       awari.Game
	options    *Options
	below      Below // in identities of streams
	workers    int
	kernels    kernels
	grid       *grid
	units      [][]*tile // in the order of a sweep, cut into what a worker takes at a time
	benches    []*bench
	ledger     *ledger
	memory     *region
	windows    *windows // nil: scores are bytes
	keeper     *keeper
	noted      sync.Map      // names of streams that the user was told of
	offers     []int8        // of all matrices
	scores     []int8        // likewise
	changed    atomic.Uint64 // scores that the sweep changed
	marking    bool          // the sweep marks what it makes out of date block by block
	stats      Stats
	reported   atomic.Int64 // the stage and the sweep that Progress heard of last
	reportedAt atomic.Int64 // when, since began
	began      time.Time    // this run, with this layer
	stage      Stage        // in progress
	since      time.Time    // that its time is in stats, zero before the first stage
}

// Stats says what a layer took in all runs that worked on it, of interrupted ones up to
// the checkpoint that the next run resumed from.
type Stats struct {
	Before  time.Duration // all that runs before this one took
	Stages  [Stages]time.Duration
	Sweeps  int    // those that came to their end
	Changes uint64 // scores that these sweeps changed
	Events  uint64 // those that sparse sweeps changed
	Bytes   uint64 // memory taken for scores and offers
	Bits    int    // of a score in memory
	Windows int    // that the layer was solved in
	Traffic Traffic
}

// Traffic counts the bytes of streams in the work directory that the stages of a layer read
// and wrote, those of adding up the windows last. All are 0 for a layer that is solved in
// one piece, but for its checkpoints.
type Traffic struct{ Read, Written [Stages + 1]uint64 }

// Solve computes the layer of n seeds. The layers below must be available
// through lower, which Solve closes; below identifies them: streams of the work directory that were computed
// from others are not used. The result holds memory until it is closed.
// When ctx ends, Solve returns its error within the time of one tile per worker.
func (e *Engine) Solve(ctx context.Context, n int, below Below, lower Lower) (*Layer, error) {
	w, err := e.begin(ctx, n)
	if err != nil {
		return nil, errors.Join(err, lower.Close())
	}
	w.below = below
	layer := &Layer{engine: w, spare: &e.spare}
	if err := crew.Run(func() error { return w.run(ctx, lower) }); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(err, w.leave())
		}
		return nil, errors.Join(err, layer.Close())
	}
	return layer, nil
}

// Positions returns the number of positions of the layer of n seeds, 0 to
// awari.MaxSeeds.
func Positions(game awari.Game, n int) uint64 {
	return colex.MustBinomial(game.Pits()+n-1, game.Pits()-1)
}

// Close returns the memory that is kept from one layer to the next. Errors are those of
// the operating system.
func (e *Engine) Close() error { return e.spare.close() }

// begin lays out the layer of n seeds.
func (e *Engine) begin(ctx context.Context, n int) (*engine, error) {
	if n < 0 || n > awari.MaxSeeds {
		return nil, fmt.Errorf("%w: %d (0 to %d are possible)", awari.ErrSeeds, n, awari.MaxSeeds)
	}
	geo, err := newGeometry(e.game.Half(), n)
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
		w, err = e.beginWhole(ctx, geo)
	} else {
		w, err = e.beginWindows(ctx, geo, codes)
	}
	if err != nil {
		return nil, err
	}
	w.began = began
	return w, nil
}

func (o *Options) note(format string, args ...any) {
	if o.Note != nil {
		o.Note(fmt.Sprintf(format, args...))
	}
}

// fits reports whether a layer may be in memory in one piece.
func (o *Options) fits(game awari.Game, n int) bool {
	return o.Bits == 8 || o.Bits == 0 && (o.Memory == 0 || Whole(game, n, o.Workers) <= o.Memory)
}

// layOut lays out a layer whose scores take the given bits, without memory for
// them.
func (e *Engine) layOut(ctx context.Context, geo *geometry, width int) (*engine, error) {
	grid, err := newGrid(ctx, e.options.Workers, geo, e.patterns, side*width/8)
	if err != nil {
		return nil, err
	}
	w := &engine{
		game: e.game, options: &e.options, workers: e.options.Workers, kernels: kernelsFor(e.options.Family, width),
		grid: grid, ledger: &e.ledgers[width],
	}
	for range w.workers {
		w.benches = append(w.benches, &bench{})
	}
	w.cut(cmp.Or(e.options.TileSize, tileSize))
	w.stats.Bits, w.stats.Windows = width, 1
	return w, nil
}

// beginWhole lays out a layer in memory.
func (e *Engine) beginWhole(ctx context.Context, geo *geometry) (*engine, error) {
	w, err := e.layOut(ctx, geo, 8)
	if err != nil {
		return nil, err
	}
	// Memory is taken once for all layers that will fit.
	seeds := max(geo.n, e.options.Seeds)
	for !e.options.fits(e.game, seeds) {
		seeds--
	}
	if w.memory, err = e.spare.get(layoutOf(geo.q, seeds).total()); err != nil {
		return nil, err
	}
	l := layoutOf(geo.q, geo.n)
	w.stats.Bytes = uint64(l.total())
	w.allocate(l)
	w.keeper = newKeeper(len(w.scores))
	return w, nil
}

// unit is the number of tiles that a worker takes at a time. Neighbours in the
// order depend on each other: two workers on them at once need more sweeps.
const unit = 16

// cut cuts the layer into tiles of the given size and fixes the order of sweeps.
func (e *engine) cut(size int) {
	e.grid.cutTiles(size)
	e.grid.findParents()
	order := slices.Clone(e.grid.tiles)
	e.grid.sortByWave(order)
	e.units = slices.Collect(slices.Chunk(order, max(1, min(unit, len(order)/(4*e.workers)))))
}

// allocate divides memory among the matrices: offers first, then scores.
func (e *engine) allocate(l layout) {
	e.offers = e.memory.take(l.offers[openRows] + l.offers[fullRows])
	e.scores = e.memory.take(l.scores)
	offers, scores := e.offers, e.scores
	for _, m := range e.grid.matrices {
		l := m.layout()
		for class := range classes {
			m.offers[class], offers = offers[:l.offers[class]], offers[l.offers[class]:]
		}
		m.scores, scores = scores[:l.scores], scores[l.scores:]
	}
	for _, m := range e.grid.matrices {
		e.grid.aim(m)
	}
}

func (e *engine) run(ctx context.Context, lower Lower) error {
	stages := [Stages]func(context.Context) error{
		CaptureStage: func(ctx context.Context) error { return e.captureWhole(ctx, lower) },
		DenseStage:   e.sweepWhole, // and sparse sweeps
		FullStage:    e.fullAll,
	}
	if e.windows != nil {
		stages = [Stages]func(context.Context) error{
			CaptureStage: func(ctx context.Context) error { return e.captureStreams(ctx, lower) },
			DenseStage:   e.solveWindows, // and all that follows
		}
	}
	for stage, run := range stages {
		if run == nil {
			continue
		}
		e.enter(Stage(stage))
		if err := run(ctx); err != nil {
			return fmt.Errorf("solving layer %d, %s stage: %w", e.grid.n, e.stage, err)
		}
	}
	e.pass()
	return nil
}

// enter begins a stage, or a sweep of another stage.
func (e *engine) enter(s Stage) {
	e.pass()
	e.stage = s
}

// pass brings the time of the stage in progress up to date.
func (e *engine) pass() {
	now := time.Now()
	if !e.since.IsZero() {
		e.stats.Stages[e.stage] += now.Sub(e.since)
	}
	e.since = now
}

// clearScores sets all scores to 0.
func (e *engine) clearScores(ctx context.Context) error {
	const piece = 1 << 20
	return crew.Each(ctx, e.workers, (len(e.scores)+piece-1)/piece, func(_, i int) error {
		clear(e.scores[i*piece : min((i+1)*piece, len(e.scores))])
		return nil
	})
}

// sweepWhole sweeps a layer whose scores are bytes.
func (e *engine) sweepWhole(ctx context.Context) error {
	if err := e.beginSweeps(ctx); err != nil {
		return err
	}
	return e.sweepAll(ctx, DenseStage)
}

// beginSweeps makes everything out of date, and scores 0 unless they are those of an
// earlier run.
func (e *engine) beginSweeps(ctx context.Context) error {
	e.expire()
	if !e.keeper.found {
		if err := e.clearScores(ctx); err != nil {
			return err
		}
	}
	e.keeper.sweeping = true
	return nil
}

// expire makes everything out of date.
func (e *engine) expire() {
	for _, t := range e.grid.tiles {
		t.all.Store(true)
	}
}

// sweepAll sweeps until nothing is out of date, from the given stage on: sparse if what is
// out of date is marked block by block.
func (e *engine) sweepAll(ctx context.Context, stage Stage) error {
	columns := e.columns()
	e.marking = stage == SparseStage
	for {
		e.enter(stage)
		done, err := e.sweep(ctx, stage)
		if err != nil {
			return err
		}
		if done.computed == 0 {
			return nil
		}
		e.note(stage, done)
		if stage = DenseStage; e.marking {
			stage = SparseStage // only what is marked will be computed
			e.settle()
		}
		e.marking = e.ledger.add(e.costs()).worthMarking(done, columns, e.apart())
	}
}

// apart returns apart or apartCodes.
func (e *engine) apart() float64 {
	if e.windows != nil {
		return apartCodes
	}
	return apart
}

// columns returns the number of columns of blocks of open rows that can change.
func (e *engine) columns() (columns int) {
	for _, m := range e.grid.matrices {
		if m.alive == nil {
			columns += m.columns * m.chunks[openRows]
		}
		for _, alive := range m.alive {
			columns += bits.OnesCount64(alive)
		}
	}
	return columns
}

// settle makes marks as small as they can be, between sweeps.
func (e *engine) settle() {
	for _, m := range e.grid.matrices {
		for i := range m.marks {
			m.marks[i].settle()
		}
	}
}

// note adds a sweep to the statistics.
func (e *engine) note(stage Stage, done work) {
	e.stats.Sweeps++
	e.stats.Changes += uint64(done.scores)
	if stage == SparseStage {
		e.stats.Events += uint64(done.scores)
	}
}

// sweep brings all tiles up to date once.
func (e *engine) sweep(ctx context.Context, stage Stage) (done work, err error) {
	e.changed.Store(0)
	for _, b := range e.benches {
		b.done, b.costs = work{}, costs{}
	}
	err = eachPart(ctx, e, stage, e.units, func(worker int, unit []*tile) error {
		b := e.benches[worker]
		for _, t := range unit {
			before := b.done.scores
			e.sweepTile(b, t)
			e.changed.Add(uint64(b.done.scores - before))
		}
		return e.keepStreams()
	})
	return e.done(), err
}

// done returns what all workers have done in the sweep.
func (e *engine) done() (all work) {
	for _, b := range e.benches {
		all = all.plus(b.done)
	}
	return all
}

// costs returns what all workers have learned in the sweep.
func (e *engine) costs() (all costs) {
	for _, b := range e.benches {
		all.compute.merge(b.costs.compute)
		all.mark.merge(b.costs.mark)
	}
	return all
}

// fullAll computes the full rows.
func (e *engine) fullAll(ctx context.Context) error {
	if err := e.keepStreams(); err != nil { // a kill from now on must not cost the sweeps
		return err
	}
	if !e.keeper.stored.Load() {
		if err := e.settled(); err != nil {
			return err
		}
	}
	e.keeper.filling = true
	return eachPart(ctx, e, FullStage, e.grid.panelsInOrder(), func(worker int, p panelOf) error {
		e.fillFull(e.benches[worker], p.matrix, p.panel)
		return nil
	})
}

// eachPart calls do for the parts of a stage and reports progress.
func eachPart[T any](ctx context.Context, e *engine, stage Stage, parts []T, do func(worker int, part T) error) error {
	var done atomic.Int64
	return crew.Each(ctx, e.workers, len(parts), func(worker, i int) error {
		err := do(worker, parts[i])
		e.tell(stage, float64(done.Add(1))/float64(len(parts)))
		return err
	})
}

// tellAfter is the least time between two reports about the same stage or sweep, unless it ends.
const tellAfter = 10 * time.Millisecond

// worthTelling reports whether a report says something new.
func (e *engine) worthTelling(stage Stage, share float64) bool {
	now := time.Since(e.began)
	what := int64(e.stats.Sweeps)*int64(Stages) + int64(stage)
	if e.reported.Swap(what) == what && share < 1 && !e.options.often && now-time.Duration(e.reportedAt.Load()) < tellAfter {
		return false
	}
	e.reportedAt.Store(int64(now))
	return true
}

// tell reports that a share of a stage, or of a sweep, is done.
func (e *engine) tell(stage Stage, share float64) {
	if e.options.Progress == nil || !e.worthTelling(stage, share) {
		return
	}
	positions := e.grid.halves.Board().Size(e.grid.n)
	p := Progress{
		Seeds: e.grid.n, Positions: positions, Stage: stage, Sweep: e.stats.Sweeps + 1,
		Done: uint64(share * float64(positions)), Changed: e.changed.Load(), Traffic: e.traffic(),
	}
	if e.windows != nil {
		p.Base, p.Values = e.windows.base, e.windows.codes.Values
	}
	e.options.Progress(p)
}
