package solve

import (
	"context"
	"errors"

	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/layers/awari"
)

// Again solves a layer of a run directory once more, whatever the directory has in its
// place: the one above the layers that below lists, which must be right. It returns
// the complete file, for the caller to Publish or Abort.
//
// Streams and checkpoints are in a directory of their own in work/, so that a layer in progress
// there stays as it is. ClearAgain removes it; after an interruption it remains, for the next
// call to resume from.
//
// It fails like Solve. Of the options Seeds, Free and Events are not used.
func Again(ctx context.Context, dir *rundir.Locked, game awari.Game, below []manifest.Layer, o Options) (report Report, file *layerfile.Writer, err error) {
	n := len(below)
	o.Seeds = n
	if err := o.Check(game); err != nil {
		return Report{}, nil, err
	}
	work, err := dir.Again()
	if err != nil {
		return Report{}, nil, err
	}
	defer func() { err = errors.Join(err, work.Close()) }()
	r := &run{options: o, game: game, path: dir.Path(), dir: dir, work: work, manifest: &manifest.Manifest{Identity: Identity(game), Layers: below}}
	if err := r.follow(n, o.Memory); err != nil {
		return Report{}, nil, err
	}
	if r.engine, err = r.newEngine(r.work); err != nil {
		return Report{}, nil, err
	}
	defer func() { err = errors.Join(err, r.engine.Close()) }()
	if err := r.clearStale(func() error { return rundir.ClearLayer(work) }); err != nil {
		return Report{}, nil, err
	}
	return r.sealLayer(ctx, n)
}
