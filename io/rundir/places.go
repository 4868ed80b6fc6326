package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"grenier/io/manifest"
	"grenier/io/vfs"
	"grenier/kernels/fault"
)

// OwnerName is the name of the file that says to which run a directory belongs that keeps
// layers or work of it on another disk.
const OwnerName = "grenier-run"

// maxOwner is the largest size of such a file.
const maxOwner = 8 << 10

// ErrTaken says that a directory cannot keep layers or work of a run: it is a run directory,
// belongs to another run, or has files of such names that belong to nobody.
var ErrTaken = fault.New(fault.Usage, "not a directory for this run")

// LayerFile returns the path of the file of a layer that the manifest in the directory run
// lists: in the directory that the manifest names, or, if there is nothing of that name, in
// the run directory, to which people may have moved it.
func LayerFile(run string, l *manifest.Layer) string {
	here := filepath.Join(run, l.File)
	if l.Directory == "" || !filepath.IsAbs(l.Directory) { // of another operating system
		return here
	}
	there := filepath.Join(l.Directory, l.File)
	if !something(there) && something(here) {
		return here
	}
	return there
}

// DistanceFile returns the path of the file of the distances of a layer: beside its scores.
func DistanceFile(run string, l *manifest.Layer) string {
	return filepath.Join(filepath.Dir(LayerFile(run, l)), DistanceName(l.Seeds))
}

// something reports whether there is anything at path, be it a link or out of reach.
func something(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// PlaceLayers makes NewLayer write into the directory at path, which is made if there is
// none, instead of the run directory. It belongs to this run from then on, which a file
// OwnerName says. An empty path is the run directory.
//
// It fails with ErrTaken, and as Lock does if the directory cannot be written.
func (l *Locked) PlaceLayers(path string) error {
	l.layers, l.layersPath = l.dir, ""
	if l.isRun(path) {
		return nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	d, err := l.claim(path, replaced)
	if err == nil {
		err = vfs.RemoveStale(d, replaced)
	}
	if err != nil {
		return unwritable(path, err)
	}
	l.layers, l.layersPath = d, path
	return nil
}

// PlaceWork makes Work the directory at path, which is made if there is none. It fails as
// PlaceLayers does. The status stays in the run directory; ClearWork clears both.
func (l *Locked) PlaceWork(path string) error {
	if l.isRun(path) || sameDir(path, l.own.Path("")) {
		return nil
	}
	d, err := l.claim(path, working)
	if err == nil {
		err = vfs.RemoveStale(d, working)
	}
	if err != nil {
		return unwritable(path, err)
	}
	l.work = d
	return nil
}

// LayersPath returns the absolute path of the directory of new layers, for the manifest:
// empty for the run directory.
func (l *Locked) LayersPath() string { return l.layersPath }

// isRun reports whether path is empty or leads to the run directory.
func (l *Locked) isRun(path string) bool { return path == "" || sameDir(path, l.path) }

// sameDir reports whether two paths lead to the same directory.
func sameDir(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// claim opens a directory for this run alone, in which it will have files whose names ours
// accepts.
func (l *Locked) claim(path string, ours func(name string) bool) (vfs.Dir, error) {
	d, err := (&Dir{path: path}).make()
	if err != nil {
		return nil, err
	}
	if err := l.settle(d, ours); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	l.claimed = append(l.claimed, d)
	return guarded{d, l.dir, l.lock}, nil
}

// settle makes sure that a directory belongs to this run.
func (l *Locked) settle(d vfs.Dir, ours func(name string) bool) error {
	owned, err := l.owned(d, ours)
	if err != nil || owned {
		return err
	}
	run, err := filepath.Abs(l.path)
	if err != nil {
		return err
	}
	return vfs.Write(d, OwnerName, []byte(run+"\n"))
}

// owned reports whether a directory belongs to this run. It fails if it may not.
func (l *Locked) owned(d vfs.Dir, ours func(name string) bool) (bool, error) {
	owner, err := readOwner(d)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, vacant(d, ours)
	case err == nil && !sameDir(owner, l.path):
		err = fmt.Errorf("%s: %w: it belongs to the run in %q; if that is this one, which was moved, remove %s",
			d.Path(""), ErrTaken, owner, d.Path(OwnerName))
	}
	return err == nil, err
}

// vacant fails if a directory has files that belong to nobody and are in the way.
func vacant(d vfs.Dir, ours func(name string) bool) error {
	if parent := filepath.Dir(d.Path("")); filepath.Base(d.Path("")) == WorkName && something(filepath.Join(parent, ManifestName)) {
		return fmt.Errorf("%s: %w: it is that of another run", d.Path(""), ErrTaken)
	}
	entries, err := d.Entries()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); ours(name) || name == ManifestName {
			return fmt.Errorf("%s: %w: it holds %q but no %s", d.Path(""), ErrTaken, name, OwnerName)
		}
	}
	return nil
}

// readOwner returns the path of the run directory to which a directory belongs. It fails
// with fs.ErrNotExist if it belongs to none.
func readOwner(d vfs.Dir) (string, error) {
	text, err := vfs.Read(d, OwnerName, maxOwner)
	return strings.TrimSuffix(string(text), "\n"), err
}

// ownerOf returns the run directory to which the directory at path belongs, path itself
// unless it belongs to another.
func ownerOf(path string) string {
	d, err := vfs.OpenDir(path)
	if err != nil {
		return path
	}
	defer d.Close()
	if there, err := vfs.Exists(d, ManifestName); there || err != nil {
		return path
	}
	if owner, err := readOwner(d); err == nil && filepath.IsAbs(owner) {
		return owner
	}
	return path
}
