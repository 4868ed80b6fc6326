package batch

import (
	"context"
	"errors"

	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/layers/awari"
)

// againName is the file in work/ that holds what does not fit in memory of a layer that
// is solved again: that of the layer in progress stays as it is.
const againName = "again"

// Again solves a layer of a run directory once more, whatever the directory has in its
// place: the one above the layers that below lists, which must be right. Its file is
// sealed under its temporary name, for the caller to publish; ClearAgain removes what
// else is left in work/. Of an interrupted layer that remains, to be gone on with.
//
// It fails like Solve. Of the options Seeds, Free, Sealed, Begin and End are not used.
func Again(ctx context.Context, dir *rundir.Locked, game awari.Game, below []manifest.Layer, o Options) (report Report, err error) {
	n := len(below)
	o.Seeds = n
	if err := o.Check(game); err != nil {
		return Report{}, err
	}
	r := &run{options: o, game: game, dir: dir, manifest: &manifest.Manifest{Identity: Identity(game), Layers: below}}
	r.estimate = newEstimate(game, r.manifest, n)
	if r.engine, err = r.newEngine(againName); err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, r.engine.Close()) }()
	if r.engine.Checkpointed() != n {
		if err := ClearAgain(dir); err != nil {
			return Report{}, err
		}
	}
	return r.sealLayer(ctx, n)
}

// ClearAgain removes what Again left in work/. Errors are those of the operating system.
func ClearAgain(dir *rundir.Locked) error { return dir.ClearWorkOf(againName) }
