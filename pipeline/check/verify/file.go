package verify

import (
	"context"
	"errors"
	"io/fs"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
)

// checkFile reports everything that is wrong with the file of layer n, in
// itself and compared with the manifest; of a layer of which a sample is compared, only blocks
// that it needs are read. The file has one hash, so that one part of a verification checks all of it, and the others
// see only whether it can be read. It fails only when the file cannot be
// read for other reasons.
func (r *run) checkFile(ctx context.Context, n int, report func(error)) error {
	_, openErr := r.tables.File(ctx, n)
	if errors.Is(openErr, corrupt.ErrCorrupt) && errors.Is(openErr, fs.ErrNotExist) {
		report(openErr)
		return nil
	}
	if openErr == nil && (r.options.Sample > 0 || !r.options.Part.Takes(n)) {
		return nil
	}
	sum, err := layerfile.Check(ctx, r.tables.Path(n), r.options.Family, report)
	if err != nil && !errors.Is(err, corrupt.ErrCorrupt) {
		return err
	}
	switch {
	case errors.Is(openErr, corrupt.ErrMismatch): // not known to Check
		report(openErr)
	case err == nil && openErr != nil:
		return openErr
	case err == nil && sum.Histogram != r.tables.Layers()[n].Histogram:
		report(corrupt.New(r.tables.Path(n), "", "the histogram %w that of the manifest", corrupt.ErrMismatch))
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
