package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"

	"grenier/io/frame"
	"grenier/io/jsonfile"
	"grenier/io/listed"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

// listHeader begins a list of exported files.
var listHeader = jsonfile.Header{Format: "grenier-export", Version: 2}

// ErrOtherExport says that a directory has exports of another run.
var ErrOtherExport = fault.New(fault.Usage, "exports of another run")

// Exported is a file of WriteAll.
type Exported struct {
	File string `json:"file"` // its name
	Summary
	SHA256 string `json:"sha256"` // of the file
	// Kept says that the file was there already: it was read, and is right.
	Kept bool `json:"kept"`
}

// fileName returns the name that WriteAll gives the file of the layer of n seeds: for vu that
// of the published database.
func fileName(f Format, c frame.Codec, n int) string {
	name := fmt.Sprintf("layer-%02d.%s", n, f)
	if f == Vu {
		name = fmt.Sprintf("scores.%d", n)
	}
	return name + suffix(c)
}

// partName returns the name of a part of the file of a name: parts follow each other in the order of their names.
func partName(name string, p job.Part) string {
	if !p.One() {
		return name
	}
	return fmt.Sprintf("%s.%05d-of-%05d", name, p.Index, p.Of)
}

// suffix returns how names of files of a codec end.
func suffix(c frame.Codec) string {
	switch c {
	case frame.LZ4:
		return ".lz4"
	case frame.Zstd:
		return ".zst"
	}
	return ""
}

// listName returns the name of the list of such files.
func listName(f Format, c frame.Codec) string { return fmt.Sprintf("export-%s%s.json", f, suffix(c)) }

// WriteAll writes the layers o.Layers of the run directory dir into the directory out, which is made if
// there is none, and calls done, if it is not nil, with each. A list in out says what was
// written (package listed): files that it lists, with the scores that the run has now and with the bytes that
// were written then, are kept; all others of these names are replaced. So the same call goes
// on where one was interrupted. Of the options, Seeds and From are not looked at.
//
// A part of several (Options.Part) has files and a list of its own.
//
// It fails like WriteFile, and with ErrOtherExport and otherwise like listed.Open.
func WriteAll(ctx context.Context, dir, out string, o Options, done func(Exported)) error {
	a, err := newAll(ctx, dir, out, o)
	if err != nil {
		return err
	}
	defer a.at.Close()
	for _, n := range a.options.Layers {
		e, err := a.layer(ctx, n)
		if err != nil {
			return fmt.Errorf("%s: %w", a.at.Path(e.File), err)
		}
		a.done += a.manifest.Layers[n].Positions
		if done != nil {
			done(e)
		}
	}
	return nil
}

// all is an export of all layers in progress.
type all struct {
	options     Options
	dir         string
	at          vfs.Dir // the directory of the files, open
	manifest    *manifest.Manifest
	game        awari.Game
	list        *listed.List
	done, total uint64 // positions
}

func newAll(ctx context.Context, dir, out string, o Options) (*all, error) {
	a := &all{options: o, dir: dir}
	run, err := rundir.Open(dir)
	if err != nil {
		return nil, err
	}
	if a.manifest, err = catalog.Manifest(run); err != nil {
		return nil, err
	}
	if err := a.play(ctx); err != nil {
		return nil, err
	}
	if len(o.Layers) == 0 {
		a.options.Layers = a.manifest.Sealed()
	}
	for _, n := range a.options.Layers {
		if !a.manifest.Has(n) {
			return nil, tables.Unsolved(a.manifest, dir, n, a.game)
		}
		a.total += a.manifest.Layers[n].Positions
	}
	if a.at, err = vfs.MakeDir(out); err != nil {
		return nil, err
	}
	a.list, err = listed.Open(a.at, partName(listName(o.Format, o.Codec), o.Part), listed.Options{
		Header: listHeader, Identity: a.manifest.Identity, Other: ErrOtherExport, Tell: o.Note,
	})
	if err != nil {
		return nil, errors.Join(err, a.at.Close())
	}
	a.list.Dir = a.at
	return a, nil
}

// layer writes the file of layer n, unless it is there.
func (a *all) layer(ctx context.Context, n int) (Exported, error) {
	o := a.options
	o.Seeds = n
	o.Progress = func(s job.Step) {
		a.progress(n, "export", uint64(s.Done/s.Total*float64(a.manifest.Layers[n].Positions)))
	}
	e := Exported{File: partName(fileName(o.Format, o.Codec, n), o.Part)}
	s, err := newShape(a.game, n)
	if err != nil {
		return e, err
	}
	l := listed.File{File: e.File, Seeds: n, Source: listed.Scores(&a.manifest.Layers[n])}
	if d := a.manifest.Layers[n].Distances; o.Format == CSV && d.Listed() {
		l.Source += "-" + d.Hash.String() // the file has plies
	}
	checked := func(read, bytes uint64) {
		a.progress(n, "check", uint64(float64(read)/float64(max(bytes, 1))*float64(a.manifest.Layers[n].Positions)))
	}
	if e.Kept, err = a.list.Keeps(ctx, &l, checked); err != nil {
		return e, err
	}
	if !e.Kept {
		err = a.list.Write(&l, func(w io.Writer) error {
			_, err := Write(ctx, a.dir, w, o)
			return err
		})
		if err == nil {
			err = a.list.Add(l)
		}
		if err != nil {
			return e, err
		}
	}
	positions, err := (&export{Options: o, shape: s}).scores()
	e.SHA256, e.Summary = l.SHA256, Summary{
		Rules: a.manifest.Rules, Pits: a.manifest.Pits, Seeds: n, Format: o.Format, Codec: o.Codec, Positions: positions, Bytes: l.Bytes,
	}
	return e, err
}

// play finds out the game, and whether the format is for it.
func (a *all) play(ctx context.Context) error {
	t, err := tables.Open(ctx, a.dir, catalog.Listed(a.manifest), tables.Kernel(a.options.Family))
	if err != nil {
		return err
	}
	a.game = t.Game()
	return errors.Join(a.options.Format.check(a.game), t.Close())
}

// progress tells how far all layers are, done positions of layer n included.
func (a *all) progress(n int, stage string, done uint64) {
	s := job.OfLayer(n, 0, a.done+done, a.total)
	s.Doing += ", " + stage
	a.options.Tell(s)
}
