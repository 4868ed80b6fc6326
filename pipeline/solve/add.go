package solve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/solve/plan"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

// Source holds the scores of a solved layer, wherever they come from.
type Source interface {
	// Seeds returns the number of seeds of the layer.
	Seeds() int
	// Positions returns the number of its positions.
	Positions() uint64
	// Read fills dst with the scores of the positions from rank start on, in colex
	// order. It is safe for concurrent use.
	Read(start uint64, dst []int8) error
	io.Closer
}

// A Loader is a Source that has only parts of the layer in memory.
type Loader interface {
	Source
	// Load makes scores that are read from rank start on quick to read, and returns the
	// rank of the first one behind them. LoadSample does so for what is read first, to count
	// a model. Nobody reads meanwhile.
	Load(ctx context.Context, start uint64, tell func(loaded uint64)) (end uint64, err error)
	LoadSample(ctx context.Context) error
}

// Opener opens the source of the layer above lower. It may keep a file rundir.ScoresName in
// work, which is removed when the layer is sealed, or by the next run.
type Opener func(ctx context.Context, lower *tables.Tables, work vfs.Dir) (Source, error)

// OrderError reports a layer that is not the next one of a run directory.
type OrderError struct {
	Path        string // of the directory
	Seeds, Next int    // the layer asked for, and the one that comes next
}

// Error says which layer may be added.
func (e *OrderError) Error() string {
	if e.Seeds < e.Next {
		return fmt.Sprintf("%s has layer %d already: the next one is %d", e.Path, e.Seeds, e.Next)
	}
	without := ""
	if e.Next > 0 && e.Next == e.Seeds-1 {
		without = fmt.Sprintf("; --skip %d does without that one", e.Next)
	}
	return fmt.Sprintf("layer %d: %s lacks layer %d, and layers come one after the other from 0 on%s", e.Seeds, e.Path, e.Next, without)
}

// Is makes it bad usage.
func (e *OrderError) Is(target error) bool { return target == fault.Usage }

// Add seals a layer of n seeds that was solved elsewhere and makes it part of the run
// directory at path, which is created for layer 0. Of the options, those about
// files, workers and progress are used; Progress covers the sealing.
//
// It fails like Solve, with an *OrderError when layer n is not the next one of the
// directory, and like open; a directory that refuses the layer stays as it is.
func Add(ctx context.Context, path string, game awari.Game, n int, o Options, open Opener) (report Report, err error) {
	if n < 0 || n > awari.MaxSeeds {
		return Report{}, fmt.Errorf("%w %d: must be 0 to %d", awari.ErrSeeds, n, awari.MaxSeeds)
	}
	o.Seeds = n
	if err := cmp.Or(o.checkLast(), checkNext(path, game, &o)); err != nil {
		return Report{}, err
	}
	dir, err := rundir.Lock(path, Identity(game))
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, dir.Unlock()) }()
	r := &run{options: o, game: game, path: dir.Path(), dir: dir, work: dir.Work()}
	if r.manifest, err = catalog.Manifest(dir); err != nil {
		return Report{}, err
	}
	if err := orderOf(path, &o, r.manifest); err != nil { // somebody else was faster
		return Report{}, err
	}
	if err := cmp.Or(checkStale(r.path, r.manifest), checkPlan(&dir.Dir, r.manifest, n)); err != nil {
		return Report{}, err
	}
	if err := r.follow(n, 0); err != nil {
		return Report{}, err
	}
	r.course.Only(plan.Seal, 0, 1)
	return r.add(ctx, n, open)
}

// checkNext refuses a layer that a directory cannot take, before it is created or
// locked.
func checkNext(path string, game awari.Game, o *Options) error {
	dir, err := rundir.Open(path)
	if errors.Is(err, rundir.ErrMissing) {
		return orderOf(path, o, &manifest.Manifest{})
	}
	if err != nil {
		return err
	}
	m, err := catalog.Manifest(dir)
	if err != nil {
		return err
	}
	if want := Identity(game); m.Identity != want {
		return &rundir.OtherRunError{Path: path, Has: m.Identity, Asked: want}
	}
	return orderOf(path, o, m)
}

func orderOf(path string, o *Options, m *manifest.Manifest) error {
	if next := append(o.due(m), len(m.Layers))[0]; o.Seeds != next {
		return &OrderError{Path: path, Seeds: o.Seeds, Next: next}
	}
	return checkSkip(path, m, o.Skip)
}

// add seals and publishes the layer that open opens.
func (r *run) add(ctx context.Context, n int, open Opener) (report Report, err error) {
	start := time.Now()
	lower, err := r.lower(ctx, n)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, lower.Close()) }()
	source, err := open(ctx, lower, r.work)
	if err != nil {
		return Report{}, err
	}
	sealing := time.Now()
	file, summary, err := r.sealAndClose(ctx, source, encodeAll)
	if err != nil {
		return Report{}, err
	}
	report = Report{Seal: time.Since(sealing), Elapsed: time.Since(start)}
	report.Layer = manifest.NewLayer(rundir.LayerName(n), summary, report.Elapsed.Seconds())
	return report, r.publish(file, report.Layer)
}
