package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"grenier/io/corrupt"
	"grenier/io/durable"
	"grenier/io/manifest"
)

// Found is what has the name of a layer file in a directory.
type Found struct {
	Seeds   int
	Regular bool // a file, or a link to one
	Stamp   Stamp
}

// Stamp tells a file from another one of the same name. A file whose bytes went bad on
// the disk keeps its stamp.
type Stamp struct {
	Inode    uint64    `json:"inode"` // 0 where there is none
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

// At returns the directory at path, whatever is in it. It fails with ErrMissing or
// ErrNotDir.
func At(path string) (*Dir, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", path, ErrMissing)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s: %w", path, ErrNotDir)
	}
	return &Dir{path: path}, nil
}

// Found lists what has the name of a layer file, by seeds. It follows links. It fails
// with an error of the operating system.
func (d *Dir) Found() ([]Found, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	var all []Found
	for _, e := range entries {
		n, ok := layerOf(e.Name())
		if !ok {
			continue
		}
		info, err := os.Stat(filepath.Join(d.path, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a link to nothing
		}
		if err != nil {
			return nil, err
		}
		all = append(all, Found{Seeds: n, Regular: info.Mode().IsRegular(), Stamp: stampOf(info)})
	}
	slices.SortFunc(all, func(a, b Found) int { return a.Seeds - b.Seeds })
	return all, nil
}

// layerOf returns the seeds of the layer whose file has the given name.
func layerOf(name string) (seeds int, ok bool) {
	_, err := fmt.Sscanf(name, "layer-%d.gl", &seeds)
	return seeds, err == nil && seeds >= 0 && seeds < manifest.MaxLayers && LayerName(seeds) == name
}

func stampOf(info fs.FileInfo) Stamp {
	return Stamp{Inode: inodeOf(info), Bytes: info.Size(), Modified: info.ModTime().UTC()}
}

// IsLocked tells who has the directory, if somebody has: with a *LockedError.
func (d *Dir) IsLocked() error {
	h, err := d.holder()
	if err != nil || !h.Held {
		return err
	}
	return &LockedError{Path: filepath.Join(d.path, LockName), PID: h.PID}
}

// LockDamaged is Lock for a directory of which the caller knows that it holds a run, even
// if its manifest is lost or damaged. It changes nothing but the lock, and in work/ makes
// ready to write and removes temporary files. It fails like Lock, but does not look at the manifest.
func LockDamaged(path string) (*Locked, error) {
	l := &Locked{Dir: Dir{path: path}}
	if err := unwritable(path, writable(path)); err != nil {
		return nil, err
	}
	lockPath := filepath.Join(path, LockName)
	if _, err := os.Lstat(lockPath); err == nil && !isLock(lockPath) {
		return nil, &corrupt.Error{File: lockPath, Cause: fmt.Errorf("%w: it is not a lock file", corrupt.ErrForeign)}
	}
	if err := l.acquire(); err != nil {
		return nil, err
	}
	err := unwritable(path, makeDir(l.WorkPath("")))
	if err == nil {
		err = removeTemps(l.WorkPath(""))
	}
	if err != nil {
		return nil, errors.Join(err, l.Unlock())
	}
	return l, nil
}

// SetAside gives the file called name, or whatever it is, another name in the directory,
// which it returns: name, ".damaged-" and the time. When it returns nil, that survives a
// power cut.
func (l *Locked) SetAside(name string) (string, error) {
	stem := name + ".damaged-" + time.Now().UTC().Format("20060102T150405")
	aside := stem
	for i := 2; ; i++ {
		_, err := os.Lstat(filepath.Join(l.path, aside))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", err
		}
		aside = fmt.Sprintf("%s-%d", stem, i)
	}
	if err := os.Rename(filepath.Join(l.path, name), filepath.Join(l.path, aside)); err != nil {
		return "", err
	}
	return aside, durable.SyncDir(l.path)
}

// ClearWorkOf removes the file called name in work/ and those called after it. It removes
// what it can, and returns all errors of the operating system.
func (l *Locked) ClearWorkOf(name string) error {
	entries, err := os.ReadDir(l.WorkPath(""))
	for _, e := range entries {
		if e.Name() == name || strings.HasPrefix(e.Name(), name+".") {
			err = errors.Join(err, os.Remove(l.WorkPath(e.Name())))
		}
	}
	return err
}

// ScrubName is the name of the file in work/ that says how far a scrub is.
const ScrubName = "scrub.json"

// ScrubPath returns its path.
func (d *Dir) ScrubPath() string { return filepath.Join(d.path, WorkName, ScrubName) }

// RemoveScrub removes it, if there is one. Errors are those of the operating system.
func (d *Dir) RemoveScrub() error {
	if err := os.Remove(d.ScrubPath()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Damaged returns the run directory in which a file is damaged or missing, as far as that
// can be seen from the error: it is about a manifest, a layer file, or a directory that has
// layer files but no manifest.
func Damaged(err *corrupt.Error) (dir string, ok bool) {
	if strings.Contains(err.File, "://") { // on a web server
		return "", false
	}
	dir, name := filepath.Dir(err.File), filepath.Base(err.File)
	_, layer := layerOf(name)
	lost := errors.Is(err, corrupt.ErrForeign)
	switch {
	case layer, name == ManifestName && !lost:
		return dir, true
	case name != ManifestName && !lost:
		return "", false
	case name != ManifestName:
		dir = err.File
	}
	found, _ := (&Dir{path: dir}).Found() // a directory that cannot be read has none
	return dir, len(found) > 0
}
