// Package solve runs the solver: it solves the layers of an awari game in order into a
// run directory, seals and publishes each before the next begins, and resumes where an
// earlier run stopped.
//
// The engine (package halfboard, unless Options say otherwise) computes a layer, in memory in
// one piece or window by window, with streams and checkpoints in work/. This package feeds it the layers below from
// their files (package tables) after a check (trust.go), streams the result into a layer file
// (seal.go) and lists it in the manifest. A process killed at any moment leaves the sealed
// layers, and in work/ what the engine resumes from.
package solve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"grenier/io/crew"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/job"
	"grenier/pipeline/solve/internal/halfboard"
	"grenier/pipeline/solve/plan"
	"grenier/pipeline/spaces/retro"
	"grenier/pipeline/tables/catalog"
)

// Identity returns the identity of a run directory of game.
func Identity(game awari.Game) manifest.Identity {
	return manifest.Identity{Game: catalog.GameName, Rules: game.Rules().String(), Pits: game.Pits()}
}

// DefaultInterval is the time between checkpoints of a layer unless Options say otherwise.
const DefaultInterval = halfboard.DefaultInterval

// Options say what to solve and how. Layers that need more than Memory are solved window by window.
// The Detail of a step is a Progress; what is done never decreases, and ends at the total.
type Options struct {
	job.Job
	// Seeds is the last layer wanted. Skip, if not 0, is the layer below it, which is left out: no move leads there.
	Seeds, Skip int
	// Interval is the time between checkpoints of a layer; 0 is DefaultInterval.
	Interval time.Duration
	// Free, if not nil, returns how many bytes can be written at a path: Solve refuses
	// a run that does not fit the disk.
	Free func(path string) (uint64, error)
	// Engine solves the layers.
	Engine Engine
	// Bits forces the bits that a score takes in memory, as halfboard.Options.Bits; 0 chooses
	// what fits.
	Bits int
	// Calibration, if not nil, is of this machine: what a run takes is expected by it, until its own layers show more.
	Calibration *plan.Calibration
	// Events, if not nil, is called with each event of a run. If it fails, so does Solve; a layer
	// that is sealed stays.
	Events func(Event) error
	// Work and Layers are the directories of streams and checkpoints, and of new layer files;
	// empty for those in the run directory. See rundir.Locked.PlaceWork and PlaceLayers.
	Work, Layers string
}

// Report is the cost of a layer over all runs that worked on it, as in
// halfboard.Stats.
type Report struct {
	Layer   manifest.Layer
	Engine  halfboard.Stats
	Seal    time.Duration
	Elapsed time.Duration // all stages
	// Accesses counts the work of the engine Retrograde, nil for Sweeps; Cost is its formula.
	Accesses *retro.Accesses
	Cost     uint64
}

// run is a run in progress.
type run struct {
	options  Options
	game     awari.Game
	path     string
	dir      *rundir.Locked // nil in a step that does not publish
	work     vfs.Dir        // of streams
	manifest *manifest.Manifest
	engine   engine
	trusted  trusted
	draw     *verify.Draw // positions of the layer in progress that are checked; nil for none
	resumed  bool         // the layer in progress began in an earlier run
	segment  uint64       // of a step: the least positions of a segment of capture values
	number   string       // of the plan of a step, "" in a run over layers
	course   *plan.Course // nil in a step
	total    float64      // positions of all layers to solve
	mu       sync.Mutex   // held while the course is followed
}

// Solve solves the layers up to o.Seeds that the run directory at path does not
// have yet and returns a report for each. A directory that does not exist is
// created. When ctx ends, Solve returns the reports so far and the error of ctx;
// what was sealed stays.
//
// It fails with awari.ErrSeeds, with a *memory.Error or a *rundir.RoomError before anything
// is changed, like rundir.Lock, and with errors that match corrupt.ErrCorrupt when
// layers sealed earlier cannot be read, or a few of their scores do not follow from their moves.
func Solve(ctx context.Context, path string, game awari.Game, o Options) (reports []Report, err error) {
	if err := o.Check(game); err != nil {
		return nil, err
	}
	if err := o.checkRoom(path, game); err != nil {
		return nil, err
	}
	dir, err := rundir.Lock(path, Identity(game))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Unlock()) }()
	if err := errors.Join(dir.PlaceWork(o.Work), dir.PlaceLayers(o.Layers)); err != nil {
		return nil, err
	}
	m, err := catalog.Manifest(dir)
	if err != nil {
		return nil, err
	}
	err = o.tell(Locked{dir, m})
	if err == nil {
		err = crew.Run(func() (err error) {
			reports, err = solve(ctx, dir, m, game, o)
			return err
		})
	}
	return reports, errors.Join(err, o.tell(Ended{err}))
}

// solve solves into a locked directory with the manifest m.
func solve(ctx context.Context, dir *rundir.Locked, m *manifest.Manifest, game awari.Game, o Options) (reports []Report, err error) {
	r, err := begin(dir, m, game, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.engine.Close()) }()
	for _, n := range o.due(r.manifest) {
		if err := o.tell(Begins{n}); err != nil {
			return reports, err
		}
		report, err := r.solveLayer(ctx, n)
		if err != nil {
			return reports, err
		}
		reports = append(reports, report)
		r.finished(report)
		if err := o.tell(Sealed{report, r.learned(report)}); err != nil {
			return reports, err
		}
	}
	return reports, nil
}

// Admit changes nothing, and fails as Solve would before it begins with a layer.
func (o *Options) Admit(path string, game awari.Game) error {
	if err := cmp.Or(o.Check(game), o.checkRoom(path, game), rundir.Admit(path, Identity(game), o.Work, o.Layers, o.Seeds)); err != nil {
		return err
	}
	dir, err := rundir.Open(path)
	if errors.Is(err, rundir.ErrMissing) {
		return nil
	}
	if err != nil {
		return err
	}
	m, err := catalog.Manifest(dir)
	if err != nil {
		return err
	}
	return cmp.Or(checkSkip(path, m, o.Skip), checkStale(path, m), checkPlan(dir, m, o.Seeds))
}

// ErrSkip reports a layer that cannot be left out.
var ErrSkip = fault.New(fault.Usage, "no layer to leave out")

// checkLast fails with ErrSkip unless the layer that is to be left out is the one below the last.
func (o *Options) checkLast() error {
	if o.Skip < 0 || o.Skip > 0 && o.Skip != o.Seeds-1 {
		return fmt.Errorf("%w: layer %d: must be %d, below the last layer, %d, which leads to all others", ErrSkip, o.Skip, o.Seeds-1, o.Seeds)
	}
	return nil
}

// checkSkip fails with ErrSkip if the run directory at path, with the manifest m, has the layer that is to be left out, if any.
func checkSkip(path string, m *manifest.Manifest, skip int) error {
	if skip > 0 && m.Has(skip) {
		return fmt.Errorf("%w: %s has layer %d", ErrSkip, path, skip)
	}
	return nil
}

// due returns the layers to be solved into a directory with the manifest m, in order: also one that was left out.
func (o *Options) due(m *manifest.Manifest) []int {
	return slices.DeleteFunc(m.Missing(o.Seeds), func(n int) bool { return n == o.Skip && n > 0 })
}

// Omitted returns a bit for the layer that is left out, as plan.Run has it.
func (o *Options) Omitted() uint64 {
	if o.Skip == 0 {
		return 0
	}
	return 1 << o.Skip
}

// Check refuses what cannot be solved, as Solve does: with awari.ErrSeeds or a
// *memory.Error.
func (o *Options) Check(game awari.Game) error {
	if o.Seeds < 0 || o.Seeds > awari.MaxSeeds {
		return fmt.Errorf("%w %d: must be 0 to %d", awari.ErrSeeds, o.Seeds, awari.MaxSeeds)
	}
	if err := o.checkLast(); err != nil {
		return err
	}
	if need := o.need(game, o.Seeds); o.Memory > 0 && need > o.Memory {
		return &memory.Error{What: fmt.Sprintf("layer %d", o.Seeds), Need: need, Allowed: o.Memory, Enough: o.enough(game)}
	}
	return nil
}

// enough says what can be solved in the memory allowed.
func (o *Options) enough(game awari.Game) string {
	for n := awari.MaxSeeds; n >= 0; n-- {
		if o.need(game, n) <= o.Memory {
			return fmt.Sprintf("enough up to layer %d", n)
		}
	}
	return "too little for any layer"
}

// begin begins a run in a locked directory with the manifest m.
func begin(dir *rundir.Locked, m *manifest.Manifest, game awari.Game, o Options) (_ *run, err error) {
	r := &run{options: o, game: game, path: dir.Path(), dir: dir, work: dir.Work(), manifest: m}
	if err := cmp.Or(checkSkip(dir.Path(), m, o.Skip), checkStale(dir.Path(), m), checkPlan(&dir.Dir, m, o.Seeds)); err != nil {
		return nil, err
	}
	for _, n := range o.due(m) {
		if err := dir.CheckLayer(n); err != nil {
			return nil, err
		}
	}
	if r.engine, err = r.newEngine(r.work); err != nil {
		return nil, err
	}
	if err := r.follow(o.Seeds, o.Memory); err != nil {
		return nil, err
	}
	if checkPlan(&dir.Dir, m, awari.MaxSeeds) == nil { // steps are of a layer that is sealed, or of a plan that was given up
		err = dir.ClearSteps()
	}
	if err != nil {
		return nil, err
	}
	return r, r.clearStale(dir.ClearWork)
}

// checkStale fails if a layer was computed from others than those below it now, with what
// manifest.Manifest.CheckBelow says of the lowest one.
func checkStale(path string, m *manifest.Manifest) error {
	stale, err := catalog.Stale(path, m)
	if err == nil && len(stale) > 0 {
		err = stale[0]
	}
	return err
}

// clearStale calls clear if work has streams that are of no use: of a layer that is
// sealed, as a crash between sealing and clearing leaves them, or of the next layer, but computed from
// others below. The user is told of these.
func (r *run) clearStale(clear func() error) error {
	next := r.next()
	n, same := r.engine.Checkpointed(r.identify)
	if n < 0 || n > next || n == next && same {
		return nil
	}
	if n == next {
		least, most := r.game.CapturesLeadTo(n)
		r.options.Notef("layer %d is computed from the beginning: what %s has of it was not computed from layers %d to %d as they are now: "+
			"one of them was replaced, or an earlier version wrote it, which did not say", n, r.work.Path(""), least, most)
	}
	return clear()
}

// next returns the first layer to be solved, or the one above all others.
func (r *run) next() int { return append(r.options.due(r.manifest), len(r.manifest.Layers))[0] }

// below names the layers that layer n, the next one at most, is computed from.
func (r *run) below(n int) layerfile.Below { return catalog.Below(r.game, r.manifest, n) }

// identify identifies them for the streams of layer n; 0 for layers above the next one.
func (r *run) identify(n int) halfboard.Below {
	if _, most := r.game.CapturesLeadTo(n); most >= len(r.manifest.Layers) {
		return 0
	}
	sum := sha256.Sum256([]byte(r.below(n)))
	return halfboard.Below(binary.BigEndian.Uint64(sum[:]))
}

// solveLayer solves layer n and makes it part of the run directory.
func (r *run) solveLayer(ctx context.Context, n int) (Report, error) {
	report, file, err := r.sealLayer(ctx, n)
	if err != nil {
		return Report{}, err
	}
	return report, r.publish(file, report.Layer)
}

// sealLayer solves layer n and writes its file, which waits for being published then.
func (r *run) sealLayer(ctx context.Context, n int) (Report, *layerfile.Writer, error) {
	start := time.Now()
	checkpointed, same := r.engine.Checkpointed(r.identify)
	r.resumed = checkpointed == n && same
	layer, err := r.compute(ctx, n)
	if err != nil {
		return Report{}, nil, err
	}
	return r.sealSolved(ctx, layer, start, encodeAll)
}

// sealSolved is sealLayer of a layer whose scores are found; work on it began at start.
func (r *run) sealSolved(ctx context.Context, layer solved, start time.Time, fill fill) (Report, *layerfile.Writer, error) {
	n, found := layer.Seeds(), time.Now()
	file, summary, err := r.sealAndClose(ctx, layer, fill)
	if err != nil {
		return Report{}, nil, err
	}
	if r.resumed {
		if err := r.checkResumed(ctx, file, summary, layer.Kept()); err != nil {
			return Report{}, nil, errors.Join(err, file.Abort())
		}
	}
	report := Report{Engine: layer.Stats(), Seal: time.Since(found)}
	if l, ok := layer.(*retroLayer); ok {
		report.Accesses, report.Cost = &l.accesses, retro.Cost(r.game.Pits(), n, layer.Positions())
	}
	report.Elapsed = report.Engine.Before + time.Since(start)
	report.Layer = manifest.NewLayer(rundir.LayerName(n), summary, report.Elapsed.Seconds())
	report.Layer.Directory = r.dir.LayersPath()
	return report, file, nil
}

// compute solves layer n from the files of the layers below.
func (r *run) compute(ctx context.Context, n int) (solved, error) {
	lower, err := r.lower(ctx, n)
	if err != nil {
		return nil, fmt.Errorf("solving layer %d: %w", n, err)
	}
	r.draw = nil
	if r.resumed { // its file is checked
		r.course.Resumed(resumedSample)
		return r.engine.Solve(ctx, n, r.identify(n), &seen{lower, nil})
	}
	space, err := awari.NewSpace(r.game, n)
	if err == nil {
		r.draw, err = verify.NewDraw(ctx, space, n, r.options.Workers, rand.Uint64())
	}
	if err != nil {
		return nil, errors.Join(err, lower.Close())
	}
	return r.engine.Solve(ctx, n, r.identify(n), &seen{lower, r.draw})
}

// sparing reports whether layer n is solved out of memory, so that its files and those
// of the layers below should not fill it.
func (r *run) sparing(n int) bool {
	return r.options.Memory > 0 && halfboard.Memory(r.game, n) > r.options.Memory
}

// publish gives the layer file its name and lists it.
func (r *run) publish(file *layerfile.Writer, layer manifest.Layer) error {
	if err := file.Publish(); err != nil {
		return err
	}
	r.trust(&layer)
	next := r.manifest.With(layer)
	if err := r.dir.SaveManifest(next); err != nil {
		return err
	}
	r.manifest = next
	return r.dir.ClearWork()
}

// finished records a layer that is sealed and listed.
func (r *run) finished(report Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.course.Sealed(time.Now())
	n := report.Layer.Positions
	r.tell(Progress{Seeds: report.Layer.Seeds, Positions: n, Stage: stageName(sealStage), Done: n, Share: 1})
}

// learned returns what is known of the machine after a layer that took more than a second, or nil: calibrations are of 12
// pits, which others only resemble.
func (r *run) learned(report Report) *plan.Calibration {
	if report.Elapsed < time.Second || r.options.Engine != Sweeps || r.game.Pits() != awari.MaxPits {
		return nil
	}
	return r.course.Calibration()
}

// Streams are the bytes of streams in the work directory that a stage read and wrote.
type Streams struct {
	Read    uint64 `json:"bytes_read"`
	Written uint64 `json:"bytes_written"`
}

// streamsOf returns the streams of each stage that has some, by name; nil if there are none.
func streamsOf(t *halfboard.Traffic) (streams map[string]Streams) {
	for s := range t.Read {
		if t.Read[s] == 0 && t.Written[s] == 0 {
			continue
		}
		if streams == nil {
			streams = map[string]Streams{}
		}
		streams[stageName(halfboard.Stage(s))] = Streams{t.Read[s], t.Written[s]}
	}
	return streams
}

// Streams returns what the stages read and wrote in the work directory, by name; empty for a
// layer that was solved in one piece.
func (r Report) Streams() map[string]Streams { return streamsOf(&r.Engine.Traffic) }

// Stages returns the time spent in each stage, by name.
func (r Report) Stages() map[string]time.Duration {
	stages := map[string]time.Duration{stageName(sealStage): r.Seal}
	for s, took := range r.Engine.Stages {
		stages[stageName(halfboard.Stage(s))] = took
	}
	return stages
}
