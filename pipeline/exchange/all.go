package exchange

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"grenier/io/frame"
	"grenier/io/jsonfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/tally"
	"grenier/io/vfs"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
)

// listHeader begins a list of exported files.
var listHeader = jsonfile.Header{Format: "grenier-export", Version: 1}

// list is the file that says which files of a directory are exports, and of what.
type list struct {
	jsonfile.Header
	manifest.Identity
	Files []listed `json:"files"` // by seeds
}

// listed is a file in a list.
type listed struct {
	File   string     `json:"file"`
	Seeds  int        `json:"seeds"`
	Hash   tally.Hash `json:"fnv1a64"` // of the scores of the layer, as in the manifest
	Bytes  uint64     `json:"bytes"`
	SHA256 string     `json:"sha256"` // of the file
}

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

// WriteAll writes all layers of the run directory dir into the directory out, which is made if
// there is none, and calls done, if it is not nil, with each. A list in out says what was
// written: files that it lists, with the scores that the run has now and with the bytes that
// were written then, are kept; all others of these names are replaced. So the same call goes
// on where one was interrupted. Of the options, Seeds is not looked at.
//
// It fails like WriteFile; with ErrOtherExport if the list is of another run, and with an error
// that matches corrupt.ErrCorrupt if it cannot be read.
func WriteAll(ctx context.Context, dir, out string, o Options, done func(Exported)) error {
	a, err := newAll(dir, out, o)
	if err != nil {
		return err
	}
	defer a.at.Close()
	for n := range a.manifest.Layers {
		e, err := a.layer(ctx, n)
		if err != nil {
			return fmt.Errorf("%s: %w", a.path(e.File), err)
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
	dir, out    string
	at          vfs.Dir // out, open
	manifest    *manifest.Manifest
	game        awari.Game
	list        list
	done, total uint64 // positions
}

func newAll(dir, out string, o Options) (*all, error) {
	a := &all{options: o, dir: dir, out: out}
	run, err := rundir.Open(dir)
	if err != nil {
		return nil, err
	}
	if a.manifest, err = tables.Manifest(run); err != nil {
		return nil, err
	}
	if err := a.play(); err != nil {
		return nil, err
	}
	for i := range a.manifest.Layers {
		a.total += a.manifest.Layers[i].Positions
	}
	if a.at, err = vfs.MakeDir(out); err != nil {
		return nil, err
	}
	if err := a.readList(); err != nil {
		return nil, errors.Join(err, a.at.Close())
	}
	return a, nil
}

// path returns the path of a file in the directory.
func (a *all) path(name string) string { return filepath.Join(a.out, name) }

// listName returns the name of the list.
func (a *all) listName() string { return listName(a.options.Format, a.options.Codec) }

// listPath returns its path.
func (a *all) listPath() string { return a.path(a.listName()) }

// readList reads the list, or begins one.
func (a *all) readList() error {
	data, err := vfs.Read(a.at, a.listName(), jsonfile.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		a.list = list{Header: listHeader, Identity: a.manifest.Identity}
		return nil
	}
	if err != nil {
		return err
	}
	if err := jsonfile.Parse(a.listPath(), data, listHeader, &a.list); err != nil {
		return err
	}
	if a.list.Identity != a.manifest.Identity {
		return fmt.Errorf("%s: %w: %v; the run is of %v", a.listPath(), ErrOtherExport, a.list.Identity, a.manifest.Identity)
	}
	return nil
}

// layer writes the file of layer n, unless it is there.
func (a *all) layer(ctx context.Context, n int) (Exported, error) {
	o := a.options
	o.Seeds = n
	o.Progress = func(p Progress) { a.progress(n, p.Stage, p.Done) }
	e := Exported{File: fileName(o.Format, o.Codec, n)}
	s, err := newShape(a.game, n)
	if err != nil {
		return e, err
	}
	if l, ok := a.find(e.File); ok && l.Seeds == n && l.Hash == a.manifest.Layers[n].Hash {
		if e.Kept, err = a.intact(ctx, l); err != nil {
			return e, err
		}
		e.SHA256, e.Summary = l.SHA256, Summary{
			Rules: a.manifest.Rules, Pits: a.manifest.Pits, Seeds: n, Format: o.Format, Codec: o.Codec, Positions: s.scores(o.Format), Bytes: l.Bytes,
		}
	}
	if e.Kept {
		return e, nil
	}
	if e.Summary, e.SHA256, err = a.write(ctx, e.File, o); err != nil {
		return e, err
	}
	return e, a.add(listed{File: e.File, Seeds: n, Hash: a.manifest.Layers[n].Hash, Bytes: e.Bytes, SHA256: e.SHA256})
}

// play finds out the game, and whether the format is for it.
func (a *all) play() error {
	t, err := tables.OpenListed(a.dir, a.manifest, tables.Options{Family: a.options.Family})
	if err != nil {
		return err
	}
	a.game = t.Game()
	return errors.Join(a.options.Format.check(a.game), t.Close())
}

// write writes the file of a layer, and returns its SHA-256.
func (a *all) write(ctx context.Context, name string, o Options) (s Summary, sum string, err error) {
	file, err := vfs.BeginIn(a.at, name)
	if err != nil {
		return s, "", err
	}
	defer file.Abort()
	hash := sha256.New()
	if s, err = Write(ctx, a.dir, io.MultiWriter(file, hash), o); err != nil {
		return s, "", err
	}
	return s, hex.EncodeToString(hash.Sum(nil)), file.Publish()
}

// find returns what the list says about a file.
func (a *all) find(name string) (listed, bool) {
	for _, l := range a.list.Files {
		if l.File == name {
			return l, true
		}
	}
	return listed{}, false
}

// add adds a file to the list, in the place of one of that name.
func (a *all) add(l listed) error {
	for i := range a.list.Files {
		if a.list.Files[i].File == l.File {
			a.list.Files[i] = l
			return jsonfile.Save(a.at, a.listName(), &a.list)
		}
	}
	a.list.Files = append(a.list.Files, l)
	return jsonfile.Save(a.at, a.listName(), &a.list)
}

// intact reports whether a file has the bytes that were written.
func (a *all) intact(ctx context.Context, l listed) (bool, error) {
	f, err := vfs.OpenFile(a.path(l.File))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || uint64(info.Size()) != l.Bytes {
		return false, err
	}
	hash, piece := sha256.New(), make([]byte, 1<<20)
	for read := uint64(0); ; {
		n, err := f.Read(piece)
		hash.Write(piece[:n])
		read += uint64(n)
		if err == io.EOF {
			break
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return false, err
		}
		a.progress(l.Seeds, "check", uint64(float64(read)/float64(max(l.Bytes, 1))*float64(a.manifest.Layers[l.Seeds].Positions)))
	}
	return hex.EncodeToString(hash.Sum(nil)) == l.SHA256, nil
}

// progress tells how far all layers are, when so many positions of layer n are done.
func (a *all) progress(n int, stage string, done uint64) {
	if a.options.Progress != nil {
		a.options.Progress(Progress{Seeds: n, Stage: stage, Done: a.done + done, Total: a.total})
	}
}
