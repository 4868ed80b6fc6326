package scrub

import (
	"context"
	"errors"
	"io/fs"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/rundir"
	"grenier/pipeline/job"
	"grenier/pipeline/tables/catalog"
)

// distances reads the file of the distances of a listed layer, if there is or should be one. It is read again by a scrub that resumes.
func (s *scrubber) distances(ctx context.Context, n int, l *Layer) error {
	path := rundir.DistanceFile(s.dir.Path(), &s.manifest.Layers[n])
	f, problems, err := layerfile.Inspect(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.manifest.Layers[n].Distances.Listed():
		l.without(Missing, corrupt.New(path, "", "missing: %w", err))
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, corrupt.ErrCorrupt): // no file at all
		l.without(Damaged, err)
		return nil
	case err != nil:
		return err
	}
	defer f.Close()
	bytes := f.Info().Size()
	l.Bytes, l.Distances = l.Bytes+bytes, Intact
	for _, p := range problems {
		l.without(Damaged, p)
	}
	if len(problems) > 0 {
		return nil
	}
	if err := catalog.CheckDistances(s.manifest, n, f); err != nil {
		l.without(Stale, err)
	}
	from, to := s.blocksOf(f, l)
	if s.options.Part.One() && l.Before != nil {
		to = from
	}
	begun := s.read
	s.total += bytes
	progress := func(p layerfile.Scrubbed) {
		s.read = begun + p.Bytes
		step := job.OfLayer(n, 0, s.read, s.total)
		step.Unit = job.Bytes
		s.options.Tell(step)
	}
	err = f.Scrub(ctx, from, to, s.options.Workers, progress, func(err error) { l.without(Damaged, err) })
	if errors.Is(err, corrupt.ErrCorrupt) { // the index has changed
		l.without(Damaged, err)
		err = nil
	}
	s.read = begun + bytes
	return err
}

// without adds what is wrong with the distances.
func (l *Layer) without(state State, err error) {
	l.Distances = state
	l.problem(err)
}
