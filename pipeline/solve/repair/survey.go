package repair

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/tables/catalog"
)

// survey finds out which run the directory holds, and how many layers it has, reading no
// more than the manifest and the headers. It changes nothing.
func (r *repairer) survey(path string) (err error) {
	r.result = &Result{DryRun: r.options.DryRun, Layers: []Layer{}}
	if r.dir, err = rundir.At(path); err != nil {
		return err
	}
	manifestErr := r.readManifest()
	if manifestErr != nil && !r.lost {
		return manifestErr
	}
	all, err := r.dir.Found(r.manifest, r.options.LayersIn...)
	if err != nil {
		return err
	}
	known, err := r.headers(all)
	if err != nil {
		return err
	}
	if err := r.identify(known, manifestErr); err != nil {
		return err
	}
	r.result.Rules, r.result.Pits = r.id.Rules, r.id.Pits
	return r.play()
}

// readManifest reads the manifest, if it can be.
func (r *repairer) readManifest() error {
	m, err := r.dir.Manifest()
	r.lost = errors.Is(err, corrupt.ErrCorrupt) || errors.Is(err, fs.ErrNotExist)
	r.damaged = errors.Is(err, corrupt.ErrCorrupt)
	r.manifest = m
	if r.lost {
		r.manifest = &manifest.Manifest{}
		r.result.Manifest = err.Error()
		if !r.damaged {
			r.result.Manifest = fmt.Sprintf("%s: missing", r.dir.ManifestPath())
		}
	}
	return err
}

// headers returns the headers that can be read by the names of their files, and notes
// which files may be layers: all that begin like one, and what stands in place of one
// that is listed.
func (r *repairer) headers(all []rundir.Found) (map[string]layerfile.Header, error) {
	known := map[string]layerfile.Header{}
	r.found, r.last = map[int]rundir.Found{}, len(r.manifest.Layers)-1
	for _, f := range all {
		if err := r.header(f, known); err != nil {
			return nil, err
		}
		if f.Begins {
			r.last = max(r.last, f.Seeds)
		}
		r.found[f.Seeds] = f
	}
	for _, f := range all {
		if f.Seeds > r.last { // what is below stands in place of a layer
			r.result.Ignored = append(r.result.Ignored, rundir.LayerName(f.Seeds))
		}
	}
	return known, nil
}

// header adds the header of a file to known if it can be read. It fails with layerfile.ErrZstd if the file is of an
// earlier version.
func (r *repairer) header(f rundir.Found, known map[string]layerfile.Header) error {
	if !f.Begins {
		return nil
	}
	file, problems, err := layerfile.Inspect(f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	for _, p := range problems {
		if errors.Is(p, layerfile.ErrZstd) {
			return p // it is not damaged
		}
	}
	if h := file.Header(); h.Known() {
		known[rundir.LayerName(f.Seeds)] = h
	}
	return nil
}

// identify finds out which run the directory belongs to. The cause is why there is no
// manifest.
func (r *repairer) identify(known map[string]layerfile.Header, cause error) error {
	runs := map[manifest.Identity][]string{}
	if !r.lost {
		runs[r.manifest.Identity] = []string{rundir.ManifestName}
	}
	for n := range manifest.MaxLayers {
		name := rundir.LayerName(n)
		if h, ok := known[name]; ok {
			id := manifest.Identity{Game: h.Game, Rules: h.Rules, Pits: h.Pits}
			runs[id] = append(runs[id], name)
		}
	}
	if len(runs) == 0 {
		return r.nothing(cause)
	}
	if len(runs) > 1 {
		return &MixedError{r.dir.Path(), describe(runs)}
	}
	for id := range runs {
		r.id = id
	}
	return nil
}

// nothing says why there is nothing to repair from.
func (r *repairer) nothing(cause error) error {
	if !r.damaged {
		if _, err := rundir.Open(r.dir.Path()); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w; and there is no layer file from which it could be made again", cause)
}

// describe says which files are of which run.
func describe(runs map[manifest.Identity][]string) string {
	var parts []string
	for id, files := range runs {
		const most = 4
		names := strings.Join(files[:min(len(files), most)], ", ")
		if more := len(files) - most; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, fmt.Sprintf("%s of %v", names, id))
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

// play makes ready the game of the run.
func (r *repairer) play() error {
	rules, err := awari.ParseRules(r.id.Rules)
	if err == nil && r.id.Game != catalog.GameName {
		err = fmt.Errorf("the game is %s, not %s", r.id.Game, catalog.GameName)
	}
	if err == nil {
		r.game, err = awari.New(r.id.Pits, rules)
	}
	if err == nil {
		r.space, err = awari.NewSpace(r.game, max(r.last, 0))
	}
	if err != nil {
		return corrupt.New(r.dir.Path(), "", "%w: %v", corrupt.ErrMismatch, err)
	}
	return nil
}
