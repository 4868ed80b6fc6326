package repair

import (
	"grenier/io/manifest"
	"grenier/io/tally"
)

// findStale finds out which layers below, whose hashes are known so far, are others than those that
// l was computed from. If it is to be set aside, it will be solved again.
func (r *repairer) findStale(l *Layer, hash func(seeds int) (tally.Hash, bool)) {
	if l.Action == Solve {
		return
	}
	l.MadeFrom = nil
	for n, from := range l.below.All() {
		if is, known := hash(n); known && is != from {
			l.MadeFrom = append(l.MadeFrom, n)
		}
	}
	if len(l.MadeFrom) > 0 && r.options.SetAside {
		l.Action, l.Aside, l.Problem = Solve, true, l.stale().Error()
	}
}

// examined returns the hash of a layer that was examined: of its file, or, if it is to be solved again,
// what an intact manifest says.
func (r *repairer) examined(n int) (hash tally.Hash, known bool) {
	if l := &r.result.Layers[n]; l.Action != Solve {
		return l.entry.Hash, true
	}
	if e := r.listed(n); e != nil && len(r.result.Layers[n].MadeFrom) == 0 {
		return e.Hash, true
	}
	return 0, false
}

// unlist takes a layer, and those above, out of the manifest before it is set aside: nobody may expect
// its hash. The layers above are listed again in the end.
func (r *repairer) unlist(below []manifest.Layer) error {
	r.manifest = &manifest.Manifest{Identity: r.id, Layers: append([]manifest.Layer{}, below...)}
	if r.lost {
		return nil // nothing is listed
	}
	return r.locked.SaveManifest(r.manifest)
}
