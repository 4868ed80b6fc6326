package distance

import (
	"context"
	"errors"
	"io/fs"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/pipeline/job"
	"grenier/pipeline/tables/catalog"
)

// examine finds out whether there is an intact file of the distances of layer n. One of other scores, or a damaged one, is
// a Problem. A layer is not wanted if only files are to be mended and there is none.
func (r *run) examine(ctx context.Context, n int) (layer Layer, wanted bool, err error) {
	info := &r.manifest.Layers[n]
	layer = Layer{Seeds: n, Positions: info.Positions}
	path := rundir.DistanceFile(r.path, info)
	err = r.read(ctx, path, &layer)
	switch {
	case err == nil:
		layer.There = true
	case errors.Is(err, fs.ErrNotExist) && info.Distances.Listed():
		layer.Problem = corrupt.New(path, "", "missing: %w", fs.ErrNotExist).Error()
	case errors.Is(err, fs.ErrNotExist):
		return layer, !r.options.Mend, nil
	case !errors.Is(err, corrupt.ErrCorrupt):
		return layer, false, err
	default:
		layer.Problem = err.Error()
	}
	return layer, true, nil
}

// read looks at the ends of a file of distances, or, to mend it, reads it to its end. It fails with an error that matches
// corrupt.ErrCorrupt if it is damaged, or of other scores.
func (r *run) read(ctx context.Context, path string, layer *Layer) (err error) {
	open := layerfile.Peek
	if r.options.Mend {
		open = layerfile.OpenSparing
	}
	f, err := open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := catalog.CheckDistances(r.manifest, layer.Seeds, f); err != nil {
		return err
	}
	layer.file, layer.Bytes = manifest.NewDistances(f.Footer()), f.Footer().Bytes
	if !r.options.Mend {
		return nil
	}
	progress := func(s layerfile.Scrubbed) {
		step := job.OfLayer(layer.Seeds, 0, s.Bytes, layer.Bytes)
		step.Doing, step.Unit = "reading "+step.Doing, job.Bytes
		r.options.Tell(step)
	}
	var first error
	report := func(problem error) {
		if first == nil {
			first = problem
		}
	}
	if err := f.Scrub(ctx, 0, f.NumBlocks(), r.options.Workers, progress, report); err != nil {
		return err
	}
	return first
}
