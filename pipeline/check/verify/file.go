package verify

import (
	"context"
	"errors"
	"io/fs"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
)

// checkFile adds to layer everything that is wrong with the file of layer n, in
// itself and compared with the manifest; unless it is to look at the whole file, only whether it can be
// read. It fails only when the file cannot be
// read for other reasons.
func (r *run) checkFile(ctx context.Context, n int, layer *Layer, whole bool) error {
	_, openErr := r.tables.File(ctx, n)
	if errors.Is(openErr, corrupt.ErrCorrupt) && errors.Is(openErr, fs.ErrNotExist) {
		layer.damaged(openErr)
		return nil
	}
	if !whole && openErr == nil {
		return nil
	}
	sum, err := layerfile.Check(ctx, r.tables.Path(n), r.options.Family, layer.damaged)
	if err != nil && !errors.Is(err, corrupt.ErrCorrupt) {
		return err
	}
	switch {
	case errors.Is(openErr, corrupt.ErrMismatch): // not known to Check
		layer.damaged(openErr)
	case err == nil && openErr != nil:
		return openErr
	case err == nil && sum.Histogram != r.tables.Layers()[n].Histogram:
		layer.damaged(corrupt.New(r.tables.Path(n), "", "the histogram %w that of the manifest", corrupt.ErrMismatch))
	}
	return nil
}

// checkBelow adds to layer, whose file is intact, that it was computed from others than those below it. What
// its moves give is right all the same, if nothing else is wrong.
func (r *run) checkBelow(ctx context.Context, n int, layer *Layer) error {
	f, err := r.tables.File(ctx, n)
	if errors.Is(err, corrupt.ErrCorrupt) { // since it was checked
		layer.damaged(err)
		return nil
	}
	if err != nil {
		return err
	}
	listed := manifest.Manifest{Layers: r.tables.Layers()}
	if stale := listed.CheckBelow(f); stale != nil {
		layer.damaged(stale)
	}
	return nil
}
