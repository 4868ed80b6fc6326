// Package repair brings a damaged run directory of awari back. It rests on two facts:
// layer files describe themselves (game, rules, pits, seeds, counts, hash, checksums), so
// that a manifest can be made from them; and a layer follows from those below, so that it
// can be solved again.
//
// Three steps. Survey (survey.go): which run is it? The manifest says so, or else the
// headers of the layer files, which must agree; where they do not, nothing is done. Examine
// (examine.go): every layer from 0 to the largest one there is gets an Action. A file that
// the manifest vouches for is kept if all its checksums hold when it is decoded; an intact
// one that it does not is listed; all others are solved again. Mend (mend.go): by
// ascending seeds, so that what is below is right by then, and one layer after the other is
// published, so that an interrupted repair loses nothing but the layer in progress.
//
// A good layer file is never touched, and nothing is ever deleted. A new file replaces only
// a damaged file of the same layer; anything else in its place is renamed, and so is a
// damaged manifest.
//
// Trust. An intact manifest vouches by the hash of each layer, for files and for what is
// solved again. Where it does not, scores of each layer are compared with those below
// (compare.go) before it is listed. And a file names the layers that it was computed from:
// if one of them is another one now, the layer may be wrong wherever no sample looks (stale.go).
package repair

import (
	"context"
	"errors"
	"fmt"
	"time"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/tally"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/solve"
)

// Options say how to repair.
type Options struct {
	// Solve says how layers are solved again, and whom the repair tells. Of its fields Seeds, Free
	// and Events are ignored.
	Solve solve.Options
	// LayersIn are directories, besides those that the manifest names, in which layer files
	// are looked for that are not found there. The manifest lists them there then.
	LayersIn []string
	// SetAside sets layers aside that were computed from others than those below them, and solves
	// them again. Otherwise they stay, and Result.Err names them.
	SetAside bool
	// DryRun only finds out what would be done, changing nothing on disk.
	DryRun bool
	// Planned, if not nil, is called with each layer that was examined; Mended with each
	// one whose Action is done.
	Planned, Mended func(Layer)
	// Begin, if not nil, is called once the directory is locked, before anything is done;
	// End before it is unlocked, with the error of Run. Neither is called for a dry run.
	Begin func(*rundir.Locked)
	End   func(error)
}

// Action says how a layer is mended.
type Action string

// The actions.
const (
	Keep  Action = "keep"  // nothing
	List  Action = "list"  // the file is good, but not as the manifest says
	Solve Action = "solve" // the file is damaged or missing
)

// Layer is a layer as repair sees it.
type Layer struct {
	Seeds  int    `json:"seeds"`
	Action Action `json:"action"`
	// Problem says why the layer is not kept, "" if it is.
	Problem string `json:"problem,omitempty"`
	// Aside says that something other than a damaged file of the layer has its name, and is
	// renamed; SetAside is the new name.
	Aside    bool   `json:"aside,omitempty"`
	SetAside string `json:"set_aside,omitempty"`
	// MadeFrom lists the layers that it was computed from and that are others now.
	MadeFrom []int `json:"made_from_others,omitempty"`
	// LeftOut says that nobody needs it, and the manifest has it as left out.
	LeftOut bool `json:"left_out,omitempty"`
	// Seconds is the time for solving it again.
	Seconds float64 `json:"seconds,omitempty"`

	entry manifest.Layer  // of a layer to be kept or listed
	below layerfile.Below // that its file names
	path  string          // of the file
}

// Result lists the actions of a repair, done or planned.
type Result struct {
	// OK says that there was nothing to repair.
	OK     bool   `json:"ok"`
	DryRun bool   `json:"dry_run"`
	Rules  string `json:"rules"`
	Pits   int    `json:"pits"`
	// Manifest says what is wrong with the manifest, "" if nothing is; ManifestAside is the
	// new name of a damaged one.
	Manifest      string `json:"manifest_problem,omitempty"`
	ManifestAside string `json:"manifest_set_aside,omitempty"`
	// Layers holds the layers by seeds.
	Layers []Layer `json:"layers"`
	// Ignored lists files named like a layer above these that do not begin like one.
	Ignored []string `json:"ignored,omitempty"`
	Seconds float64  `json:"seconds"`
}

// Err returns an error that matches corrupt.ErrCorrupt and wraps a *manifest.StaleError if a layer stays that
// was computed from others than those below it.
func (r *Result) Err() error {
	for i := range r.Layers {
		if l := &r.Layers[i]; len(l.MadeFrom) > 0 && l.Action != Solve {
			return l.stale()
		}
	}
	return nil
}

// stale is the error for a layer that was computed from others.
func (l *Layer) stale() error {
	return &corrupt.Error{File: l.path, Cause: &manifest.StaleError{Seeds: l.Seeds, From: l.MadeFrom}}
}

// MixedError says that a directory has files of several runs.
type MixedError struct {
	Path string // of the directory
	Text string // which files are of which run
}

// Error lists the runs.
func (e *MixedError) Error() string {
	return fmt.Sprintf("%s has files of several runs: %s; move away what does not belong there, then repair", e.Path, e.Text)
}

// Is reports whether target is one of the errors that this is.
func (e *MixedError) Is(target error) bool {
	return target == corrupt.ErrMismatch || target == corrupt.ErrCorrupt
}

// DifferentError says that a layer that was solved again is not the one that an intact
// manifest lists.
type DifferentError struct {
	Path         string // of the manifest
	Seeds        int
	Solved, List tally.Hash
}

// Error names both, and what it means.
func (e *DifferentError) Error() string {
	return fmt.Sprintf("layer %d, solved again, has hash %v, but %s says %v: the layers above were built on something else, "+
		"or the manifest is wrong. Nothing was replaced. Move the manifest away and repair again to go by the layer files instead",
		e.Seeds, e.Solved, e.Path, e.List)
}

// Is makes it a difference.
func (e *DifferentError) Is(target error) bool { return target == fault.Difference }

// Run repairs the run directory at path. Before anything is changed, it fails with
// rundir.ErrMissing or an error that matches corrupt.ErrForeign if there is no run; a
// *MixedError; *rundir.LockedError while a solver has the directory; rundir.ErrUnwritable; a
// *memory.Error. Later, with a *DifferentError, like solve.Solve, or with the error of ctx;
// the same call resumes.
func Run(ctx context.Context, path string, o Options) (result *Result, err error) {
	start := time.Now()
	r := &repairer{options: o}
	if err := r.survey(path); err != nil {
		return nil, err
	}
	if o.DryRun {
		if err := r.dir.IsLocked(); err != nil {
			return nil, err
		}
		err = r.examineAll(ctx)
	} else {
		if err := r.lock(path); err != nil {
			return nil, err
		}
		err = r.mendLocked(ctx)
	}
	r.result.Seconds = time.Since(start).Seconds()
	return r.result, err
}

// mendLocked examines and mends, and unlocks the directory.
func (r *repairer) mendLocked(ctx context.Context) error {
	if r.options.Begin != nil {
		r.options.Begin(r.locked)
	}
	err := r.examineAll(ctx)
	if err == nil {
		err = r.mend(ctx)
	}
	if r.options.End != nil {
		r.options.End(err)
	}
	return errors.Join(err, r.locked.Unlock())
}

// repairer is a repair in progress.
type repairer struct {
	options Options
	dir     *rundir.Dir
	locked  *rundir.Locked // nil for a dry run
	game    awari.Game
	space   *awari.Space
	id      manifest.Identity
	found   map[int]rundir.Found // by seeds
	last    int                  // the largest layer
	// manifest is that on disk; empty if it is lost or damaged.
	manifest *manifest.Manifest
	lost     bool // there is none on disk that can be read
	damaged  bool // but there is something
	result   *Result

	done, total float64 // bytes or positions
}

// lock takes the directory and surveys it again: it may have changed.
func (r *repairer) lock(path string) error {
	locked, err := rundir.LockDamaged(path)
	if err != nil {
		return err
	}
	if err := r.survey(path); err != nil {
		return errors.Join(err, locked.Unlock())
	}
	r.locked = locked
	return nil
}

// listed returns the entry that an intact manifest has for layer n, nil if there is none.
func (r *repairer) listed(n int) *manifest.Layer {
	if r.manifest.Has(n) {
		return &r.manifest.Layers[n]
	}
	return nil
}
