package distance

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/pipeline/tables/catalog"
)

// keepEvery is the time after which the distances that were found so far are kept again.
const keepEvery = 5 * time.Minute

// keep writes the distances up to the last complete sweep to work/, in the form of the file that they will have, for a run that
// goes on from there.
func (r *run) keep(ctx context.Context, s *sweeper) (err error) {
	h := catalog.DistanceHeader(r.manifest, s.seeds)
	if h.Model, err = s.model(s.done); err != nil {
		return err
	}
	p, err := vfs.NewPending(r.dir.Work(), rundir.DistancesName)
	if err != nil {
		return err
	}
	_, err = s.write(ctx, p, h, &r.options)
	r.keeps, r.kept = true, time.Now()
	return err
}

// keepInterrupted is keep when ctx has ended.
func (r *run) keepInterrupted(ctx context.Context, s *sweeper) error {
	if ctx.Err() == nil || s.done == 0 {
		return nil
	}
	return r.keep(context.WithoutCancel(ctx), s)
}

// found opens what an interrupted run has kept of layer n, once all of it was read; nil if there is nothing.
func (r *run) found(ctx context.Context, n int) (*layerfile.File, error) {
	path, want := r.dir.Work().Path(rundir.DistancesName), catalog.DistanceHeader(r.manifest, n)
	f, err := layerfile.OpenSparing(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && (f.Expect(want) != nil || f.Header().Below != want.Below): // of another layer, or other scores
		return nil, f.Close()
	case err == nil:
		_, err = layerfile.CheckSparing(ctx, path, r.options.Family, r.options.Workers, func(int64) {}, func(error) {})
		if err == nil {
			return f, nil
		}
		err = errors.Join(err, f.Close())
	}
	if !errors.Is(err, corrupt.ErrCorrupt) {
		return nil, err
	}
	r.options.Notef("layer %d begins again: %v", n, err)
	return nil, nil
}
