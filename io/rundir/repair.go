package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/vfs"
)

// Found is an entry of a directory that has the name of a layer file.
type Found struct {
	Seeds     int
	Path      string
	Directory string // as in manifest.Layer
	Link      bool   // a link, to a file or to something else
	Regular   bool   // a file that can be read, or a link to one
	Begins    bool   // and it begins like a layer file
	Stamp     Stamp
}

// Stamp distinguishes a file from another one of the same name. A file whose bytes
// went bad on the disk keeps its stamp.
type Stamp struct {
	Inode    uint64    `json:"inode"` // 0 where there is none
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

// At returns the directory at path, whatever is in it. It fails with ErrMissing or
// ErrNotDir.
func At(path string) (*Dir, error) {
	d := &Dir{path: path}
	dir, err := d.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, ErrMissing)
	}
	if err != nil {
		return nil, err
	}
	return d, dir.Close()
}

// Found lists entries with the name of a layer file, by seeds: in the run directory, and in the
// directories that m names for the layers it lists, and then in more. It follows links. A nil
// m lists nothing. It fails with an error of the operating system.
func (d *Dir) Found(m *manifest.Manifest, more ...string) (all []Found, err error) {
	found := map[int]Found{}
	if err := find(found, d, ""); err != nil {
		return nil, err
	}
	if m != nil {
		if err := d.findListed(found, m); err != nil {
			return nil, err
		}
	}
	for _, path := range more {
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
		if err := find(found, &Dir{path: path}, path); err != nil {
			return nil, err
		}
	}
	all = slices.Collect(maps.Values(found))
	slices.SortFunc(all, func(a, b Found) int { return a.Seeds - b.Seeds })
	return all, err
}

// find adds the files in d that are not found yet. Entries of a manifest call d directory.
func find(found map[int]Found, d *Dir, directory string) error {
	dir, err := d.open()
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := dir.Entries()
	for _, e := range entries {
		n, ok := layerSeeds(e.Name())
		if _, before := found[n]; !ok || before || n >= manifest.MaxLayers {
			continue
		}
		f := Found{Seeds: n, Path: d.LayerPath(n), Directory: directory, Link: e.Mode()&fs.ModeSymlink != 0}
		if err := f.look(); err != nil {
			return err
		}
		found[n] = f
	}
	return err
}

// findListed adds the files that m lists in other directories.
func (d *Dir) findListed(found map[int]Found, m *manifest.Manifest) error {
	for _, n := range m.Sealed() {
		l := &m.Layers[n]
		path := LayerFile(d.path, l)
		if path == filepath.Join(d.path, l.File) {
			continue
		}
		delete(found, n) // the file in the run directory is not the layer
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		f := Found{Seeds: n, Path: path, Directory: l.Directory, Link: info.Mode()&fs.ModeSymlink != 0}
		if err := f.look(); err != nil {
			return err
		}
		found[n] = f
	}
	return nil
}

// look opens the file, if it is one.
func (f *Found) look() error {
	file, err := vfs.OpenFile(f.Path)
	if isKind(err) || errors.Is(err, fs.ErrNotExist) { // a link to nothing
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	f.Regular, f.Begins = true, layerfile.Begins(file)
	f.Stamp = Stamp{Inode: inodeOf(info), Bytes: info.Size(), Modified: info.ModTime().UTC()}
	return nil
}

// IsLocked fails with a *LockedError that names the holder if the directory is
// locked.
func (d *Dir) IsLocked() error {
	h, err := d.holder()
	if err != nil || !h.Held {
		return err
	}
	return &LockedError{Path: filepath.Join(d.path, LockName), PID: h.PID}
}

// LockDamaged is Lock for a directory that the caller knows to hold a run, even if its
// manifest is lost or damaged. It fails like Lock, but neither reads nor makes a
// manifest.
func LockDamaged(path string) (*Locked, error) {
	l := &Locked{Dir: Dir{path: path}}
	if err := unwritable(path, vfs.Writable(path)); err != nil {
		return nil, err
	}
	var err error
	if l.dir, err = l.open(); err == nil {
		err = l.acquire()
	}
	if err == nil {
		err = l.prepareWork()
	}
	if err != nil {
		return nil, errors.Join(unwritable(path, err), l.Unlock())
	}
	return l, nil
}

// SetAsideLayer is SetAside for the file of a layer, in the directory that PlaceLayers was
// given.
func (l *Locked) SetAsideLayer(seeds int) (string, error) {
	return setAside(l.layers, LayerName(seeds))
}

// SetAside renames the entry called name, whatever it is, and returns the new name: name,
// ".damaged-" and the time. When it returns nil, that survives a power cut.
func (l *Locked) SetAside(name string) (string, error) { return setAside(l.dir, name) }

func setAside(dir vfs.Dir, name string) (string, error) {
	stem := name + ".damaged-" + time.Now().UTC().Format("20060102T150405")
	aside := stem
	for i := 2; ; i++ {
		there, err := vfs.Exists(dir, aside)
		if err != nil {
			return "", err
		}
		if !there {
			break
		}
		aside = fmt.Sprintf("%s-%d", stem, i)
	}
	if err := change(dir, func(d vfs.Dir) error { return vfs.Move(d, name, aside) }); err != nil {
		return "", err
	}
	return aside, dir.Sync()
}

// againName is the directory in work/ of a layer that is solved again.
const againName = "again"

// Again opens the directory in work/ of a layer that is solved again, making it if there
// is none. The caller closes it.
func (l *Locked) Again() (vfs.Dir, error) {
	work, err := vfs.MakeSub(l.work, againName)
	if err != nil {
		return nil, err
	}
	return guarded{work, l.dir, l.lock}, nil
}

// ClearAgain removes it and our files in it, if there is one. It fails with an error of the
// operating system, or a *LostError.
func (l *Locked) ClearAgain() error { return l.clearSub(l.work, againName) }

// clearSub removes a directory of streams and our files in it, if there is one.
func (l *Locked) clearSub(parent vfs.Dir, name string) error {
	work, err := parent.Sub(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := errors.Join(ClearLayer(guarded{work, l.dir, l.lock}), work.Close()); err != nil {
		return err
	}
	return change(parent, func(d vfs.Dir) error { return vfs.RemoveDir(d, name) })
}

// change does something to a directory that may be guarded, unless the lock is lost.
func change(d vfs.Dir, do func(d vfs.Dir) error) error {
	if g, ok := d.(guarded); ok {
		if err := g.held(); err != nil {
			return err
		}
		d = g.Dir
	}
	return do(d)
}

// ClearLayer removes the files of a layer in progress from a directory, if there are any.
func ClearLayer(work vfs.Dir) (err error) {
	entries, err := work.Entries()
	for _, e := range entries {
		if name := e.Name(); ofLayer(name) && e.Mode().IsRegular() {
			err = errors.Join(err, vfs.RemoveIfThere(work, name))
		}
	}
	return errors.Join(err, vfs.RemoveStale(work, working))
}

// Damaged returns the run directory in which a file is damaged or missing, as far as that
// can be seen from the error: it is about a manifest, a file of a layer or of distances, or a directory that has
// layer files but no manifest.
func Damaged(err *corrupt.Error) (dir string, ok bool) {
	if strings.Contains(err.File, "://") { // on a web server
		return "", false
	}
	d := &Dir{path: ownerOf(filepath.Dir(err.File))}
	name := filepath.Base(err.File)
	seeds, layer := layerSeeds(name)
	foreign := errors.Is(err, corrupt.ErrForeign)
	switch {
	case layer && foreign: // it may not be part of the run at all
		m, err := d.Manifest()
		return d.path, err != nil || seeds < len(m.Layers)
	case layer, (isDistances(name) || name == ManifestName) && !foreign:
		return d.path, true
	case !foreign:
		return "", false
	case name != ManifestName:
		d.path = err.File
	}
	found, _ := d.Found(nil) // a directory that cannot be read has none
	return d.path, len(found) > 0
}
