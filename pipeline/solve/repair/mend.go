package repair

import (
	"context"
	"errors"
	"reflect"

	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/tally"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
)

// mend carries out the Actions of the layers, by ascending seeds.
func (r *repairer) mend(ctx context.Context) error {
	r.done, r.total = 0, 0
	for _, l := range r.result.Layers {
		if l.Action == Solve {
			r.total += float64(r.space.Size(l.Seeds))
		}
	}
	var entries []manifest.Layer // of the layers below, which are right
	for i := range r.result.Layers {
		l := &r.result.Layers[i]
		if err := r.judge(ctx, l, entries); err != nil {
			return err
		}
		if l.Action == Solve {
			if err := r.save(entries); err != nil {
				return err
			}
			if err := r.solve(ctx, l, entries); err != nil {
				return err
			}
		}
		entries = append(entries, l.entry)
		if l.Action != Keep && r.options.Mended != nil {
			r.options.Mended(*l)
		}
	}
	if err := r.save(entries); err != nil {
		return err
	}
	return r.locked.ClearAgain()
}

// judge finds out whether a layer must be solved again after all, now that those below are right.
func (r *repairer) judge(ctx context.Context, l *Layer, below []manifest.Layer) error {
	before := l.Action
	r.findStale(l, func(n int) (tally.Hash, bool) { return below[n].Hash, true })
	if l.Action == List {
		if err := r.trust(ctx, l, below); err != nil {
			return err
		}
	}
	if l.Action == Solve && before != Solve {
		r.total += float64(r.space.Size(l.Seeds))
	}
	if l.Action == Solve && len(l.MadeFrom) > 0 {
		return r.unlist(below)
	}
	return nil
}

// save replaces the entries of the manifest from layer 0 on, if they are others. What is
// above stays listed. A damaged manifest is set aside first.
func (r *repairer) save(entries []manifest.Layer) (err error) {
	next := manifest.Manifest{Identity: r.id, Layers: append([]manifest.Layer{}, entries...)}
	if n := len(entries); n < len(r.manifest.Layers) {
		next.Layers = append(next.Layers, r.manifest.Layers[n:]...)
	}
	if !r.lost && reflect.DeepEqual(next.Layers, append([]manifest.Layer{}, r.manifest.Layers...)) {
		return nil
	}
	if r.damaged {
		if r.result.ManifestAside, err = r.locked.SetAside(rundir.ManifestName); err != nil {
			return err
		}
		r.damaged = false
	}
	if err := r.locked.SaveManifest(&next); err != nil {
		return err
	}
	r.manifest, r.lost = &next, false
	return nil
}

// solve solves a layer again from those below and publishes it, but not if it is another
// one than an intact manifest says. What is no damaged file of the layer makes room before.
func (r *repairer) solve(ctx context.Context, l *Layer, below []manifest.Layer) (err error) {
	if err := r.locked.PlaceLayers(r.directory(l.Seeds)); err != nil {
		return err
	}
	if l.Aside {
		if l.SetAside, err = r.locked.SetAsideLayer(l.Seeds); err != nil {
			return err
		}
	}
	o := r.options.Solve
	o.Progress = r.solving
	report, file, err := solve.Again(ctx, r.locked, r.game, below, o)
	if err != nil {
		return err
	}
	listed := r.listed(l.Seeds)
	if listed != nil && listed.Hash != report.Layer.Hash {
		different := &DifferentError{r.dir.ManifestPath(), l.Seeds, report.Layer.Hash, listed.Hash}
		return errors.Join(different, file.Abort(), r.locked.ClearAgain())
	}
	if err := file.Publish(); err != nil {
		return err
	}
	l.entry, l.Seconds = report.Layer, report.Elapsed.Seconds()
	if listed != nil {
		l.entry.Distances = listed.Distances // the scores are the same
		if sameFile(*listed, l.entry) {
			l.entry = *listed // with the time that it took first
		}
	}
	r.done += float64(l.entry.Positions)
	return r.locked.ClearAgain()
}

// directory returns where the file of a layer is, or, if it is nowhere, where it should be.
func (r *repairer) directory(n int) string {
	if f, there := r.found[n]; there {
		return f.Directory
	}
	if e := r.listed(n); e != nil {
		return e.Directory
	}
	return ""
}

// sameFile reports whether two entries differ in nothing but the time.
func sameFile(a, b manifest.Layer) bool {
	a.Seconds = b.Seconds
	return a == b
}

// solving reports progress in solving a layer, as a part of all that is solved again.
func (r *repairer) solving(s job.Step) {
	p := s.Detail.(solve.Progress)
	if p.Rate > 0 {
		p.RunLeft += (r.total - r.done - p.RunTotal) / p.Rate
	}
	p.RunDone, p.RunTotal = r.done+p.RunDone, r.total
	r.options.Solve.Tell(p.Step())
}
