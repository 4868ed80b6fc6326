package repair

import (
	"context"
	"errors"
	"fmt"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/pipeline/job"
)

// examineAll finds out what every layer needs, changing nothing. It fails with a
// *memory.Error if that cannot be done.
func (r *repairer) examineAll(ctx context.Context) error {
	for n := range r.last + 1 {
		r.total += float64(r.found[n].Stamp.Bytes)
	}
	largest := -1
	for n := range r.last + 1 {
		l, err := r.examine(ctx, n)
		if err != nil {
			return err
		}
		r.findStale(&l, r.examined)
		if l.Action == Solve {
			largest = n
		}
		r.result.Layers = append(r.result.Layers, l)
		if r.options.Planned != nil {
			r.options.Planned(l)
		}
	}
	r.result.OK = r.inOrder()
	if largest < 0 {
		return nil
	}
	o := r.options.Solve
	o.Seeds = largest
	return o.Check(r.game)
}

// inOrder reports whether nothing is to be done.
func (r *repairer) inOrder() bool {
	for _, l := range r.result.Layers {
		if l.Action != Keep || len(l.MadeFrom) > 0 {
			return false
		}
	}
	return !r.lost
}

// examine finds out what layer n needs.
func (r *repairer) examine(ctx context.Context, n int) (l Layer, err error) {
	found, there := r.found[n]
	begun := r.done
	defer func() { r.done = begun + float64(found.Stamp.Bytes) }()
	l = Layer{Seeds: n, Action: Solve, Aside: there && (found.Link || !found.Begins)}
	switch {
	case !there && n < len(r.manifest.Layers) && !r.manifest.Has(n):
		l.Action, l.entry, l.LeftOut = Keep, r.manifest.Layers[n], true
		return l, nil
	case !there:
		l.Problem = "missing"
		return l, nil
	case !found.Regular:
		l.Problem = fmt.Sprintf("%s: not a regular file", found.Path)
		return l, nil
	}
	f, problems, err := layerfile.Inspect(found.Path)
	if err != nil {
		return l, err
	}
	defer f.Close()
	l.below, l.path = f.Header().Below, f.Path()
	l.Aside = l.Aside || layerfile.Strange(problems)
	if len(problems) == 0 {
		problems = r.misplaced(&l, f)
	}
	if len(problems) > 0 {
		l.Problem = problems[0].Error()
		return l, nil
	}
	return l, r.contents(ctx, f, &l, begun)
}

// misplaced reports whether an intact file is not the one that belongs in place of a
// layer. Such a file is not deleted.
func (r *repairer) misplaced(l *Layer, f *layerfile.File) []error {
	n := l.Seeds
	err := f.Expect(layerfile.Header{
		Game: r.id.Game, Rules: r.id.Rules, Pits: r.id.Pits, Seeds: n, Positions: r.space.Size(n),
	})
	if e := r.listed(n); err == nil && e != nil && e.Hash != f.Footer().Hash {
		err = corrupt.New(f.Path(), "footer", "hash %v %w that in the manifest, %v", f.Footer().Hash, corrupt.ErrMismatch, e.Hash)
	}
	if err != nil {
		l.Aside = true
		return []error{err}
	}
	return nil
}

// contents decodes the file of a layer, and makes an entry if the manifest does not vouch
// for the file. Stored checksums alone would not do: verify sees more, and sends people here.
func (r *repairer) contents(ctx context.Context, f *layerfile.File, l *Layer, begun float64) error {
	n := l.Seeds
	report := func(err error) {
		if l.Problem == "" {
			l.Problem = err.Error()
		}
	}
	o := &r.options.Solve
	sum, err := layerfile.CheckSparing(ctx, f.Path(), o.Family, o.Workers, func(bytes int64) { r.reading(n, begun+float64(bytes)) }, report)
	if err != nil {
		return unlessCorrupt(err, report)
	}
	if !sum.Histogram.Within(int8(-n), int8(n)) {
		l.Aside = true
		report(corrupt.New(f.Path(), "", "scores beyond %d to %d", -n, n))
		return nil
	}
	e := r.listed(n)
	same := e != nil && e.File == rundir.LayerName(n) && r.manifest.CheckFile(n, f) == nil
	counted := same && e.Histogram == sum.Histogram
	if counted && rundir.LayerFile(r.dir.Path(), e) == f.Path() {
		l.Action, l.entry = Keep, *e
		return nil
	}
	seconds := 0.0 // not known
	switch {
	case counted:
		l.Problem, seconds = "the manifest names another directory", e.Seconds
	case same:
		l.Problem, seconds = "the manifest lists another histogram", e.Seconds
	case e != nil:
		l.Problem, seconds = "the manifest lists other bytes with the same scores", e.Seconds
	case !r.lost:
		l.Problem = "not listed in the manifest"
	}
	l.Action, l.entry = List, manifest.NewLayer(rundir.LayerName(n), sum, seconds)
	l.entry.Directory = r.found[n].Directory
	if e != nil {
		l.entry.Distances = e.Distances // the scores are the same
	}
	return nil
}

// unlessCorrupt reports damage, and returns other errors.
func unlessCorrupt(err error, report func(error)) error {
	if errors.Is(err, corrupt.ErrCorrupt) {
		report(err)
		return nil
	}
	return err
}

// reading reports progress in reading.
func (r *repairer) reading(n int, done float64) {
	s := job.OfLayer(n, 0, done, r.total)
	s.Doing, s.Unit = "reading "+s.Doing, job.Bytes
	r.options.Solve.Tell(s)
}
