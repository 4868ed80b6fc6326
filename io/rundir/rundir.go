// Package rundir is the directory in which a run of the solver keeps what it
// has: sealed layers, the manifest that lists them, and unfinished work.
//
//	manifest.json   the list of sealed layers (package manifest)
//	layer-NN.gl     sealed layers (package layerfile), never changed
//	work/           whatever the layer in progress needs: checkpoints, spills,
//	                files that are not complete yet; status.json, the last
//	                report of the solver
//	lock            says which process may write
//	solve.log       what happened so far, for people
//
// Any number of processes may read (Open); nothing that a reader sees ever
// changes in place. One process may write (Lock): it alone has a *Locked, and
// only a *Locked has methods that write.
//
// A layer becomes visible in two steps, both atomic: Publish gives its file the
// final name, SaveManifest lists it. A crash between them leaves a layer file
// that no manifest mentions; readers do not look at it and the next run replaces
// it.
//
// A request that is refused changes nothing on disk. In particular, a directory
// that holds other things than a run is left alone: without a readable manifest
// nothing is ever deleted.
package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"grenier/io/corrupt"
	"grenier/io/durable"
	"grenier/io/manifest"
)

// Names in a run directory.
const (
	ManifestName = "manifest.json"
	WorkName     = "work"
	LockName     = "lock"
)

var (
	// ErrMissing says that there is no run in the place given: no directory, or
	// an empty one.
	ErrMissing = errors.New("no run directory")
	// ErrNotDir says that the path leads to something other than a directory.
	ErrNotDir = errors.New("not a directory")
	// ErrUnwritable says that the operating system does not let us write there.
	ErrUnwritable = errors.New("directory cannot be written")
	// ErrOtherRun says that an intact directory holds another run.
	ErrOtherRun = errors.New("directory of another run")
)

// OtherRunError is an ErrOtherRun. It matches corrupt.ErrMismatch too, but not
// corrupt.ErrCorrupt: nothing is wrong with the directory.
type OtherRunError struct {
	Path       string            // of the directory
	Has, Asked manifest.Identity // what it holds, and what was asked for
}

// Error names both runs.
func (e *OtherRunError) Error() string {
	return fmt.Sprintf("%s holds another run: %v; asked for: %v", e.Path, e.Has, e.Asked)
}

// Is reports whether target is one of the errors that this is.
func (e *OtherRunError) Is(target error) bool {
	return target == ErrOtherRun || target == corrupt.ErrMismatch
}

// LayerName returns the name of the file of the layer with the given number of
// seeds, "layer-07.gl".
func LayerName(seeds int) string { return fmt.Sprintf("layer-%02d.gl", seeds) }

// Dir is a run directory, for reading.
type Dir struct{ path string }

// Open returns the run directory at path, whose manifest is there but not read
// yet. It fails with ErrMissing or ErrNotDir, or with an error that matches
// corrupt.ErrForeign if the directory holds something else.
func Open(path string) (*Dir, error) {
	d := &Dir{path: path}
	state, err := d.inspect()
	switch {
	case err != nil:
		return nil, err
	case state != hasManifest:
		return nil, fmt.Errorf("%s: %w", path, ErrMissing)
	}
	return d, nil
}

// state is what a path leads to.
type state int

const (
	noDirectory state = iota
	noManifest        // an empty directory, or what is left of Lock after a crash
	hasManifest
)

// inspect looks at the directory without changing anything.
func (d *Dir) inspect() (state, error) {
	info, err := os.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return noDirectory, nil
	case errors.Is(err, syscall.ENOTDIR):
		return noDirectory, fmt.Errorf("%s: %w", d.path, ErrNotDir)
	case err != nil:
		return noDirectory, err
	case !info.IsDir():
		return noDirectory, fmt.Errorf("%s: %w", d.path, ErrNotDir)
	}
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return noDirectory, err
	}
	return d.classify(entries)
}

// classify tells a run directory from a directory of somebody else. Lock makes
// the lock file first, so without one only an empty directory is ours to use.
func (d *Dir) classify(entries []fs.DirEntry) (state, error) {
	names := make(map[string]bool)
	other := ""
	for _, e := range entries {
		names[e.Name()] = true
		switch e.Name() {
		case LockName, WorkName, LogName, ManifestName, ManifestName + durable.TempSuffix:
		default:
			other = e.Name()
		}
	}
	switch {
	case names[ManifestName]:
		return hasManifest, nil
	case len(names) == 0 || other == "" && isLock(filepath.Join(d.path, LockName)):
		return noManifest, nil
	case other == "":
		other = entries[0].Name() // names like ours, but no lock
	}
	return noManifest, &corrupt.Error{File: d.path, Cause: foreign(other)}
}

// foreign is corrupt.ErrForeign for a directory: the name of what it holds.
type foreign string

func (f foreign) Error() string {
	return fmt.Sprintf("not a run directory: it holds %q but no %s", string(f), ManifestName)
}

func (f foreign) Is(target error) bool { return target == corrupt.ErrForeign }

// Path returns the path of the directory, as given.
func (d *Dir) Path() string { return d.path }

// ManifestPath returns the path of the manifest.
func (d *Dir) ManifestPath() string { return filepath.Join(d.path, ManifestName) }

// Manifest reads the manifest. A solver may replace it at any time; what is
// returned then is the old one or the new one. It fails as manifest.Load does.
func (d *Dir) Manifest() (*manifest.Manifest, error) { return manifest.Load(d.ManifestPath()) }

// LayerPath returns the path of the file with the given number of seeds.
func (d *Dir) LayerPath(seeds int) string { return filepath.Join(d.path, LayerName(seeds)) }

// FreeBytes returns how many bytes this process can still write to the file
// system of path, or of its nearest parent that exists. It fails with
// errors.ErrUnsupported on systems that do not tell.
func FreeBytes(path string) (uint64, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return 0, err
	}
	for {
		free, err := freeBytes(path)
		parent := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || parent == path {
			return free, err
		}
		path = parent
	}
}

// Locked is a run directory that this process may write. It is not safe for
// concurrent use, but for TempPath, WorkPath and SaveStatus.
type Locked struct {
	Dir
	lock *lock
}

// Lock opens the directory at path for writing layers of the run id; it creates
// directory and manifest if there are none. Stale temporary files of a process
// that crashed are removed; everything else in work/ is kept.
//
// It fails with a *LockedError while another process, or this one, has the
// directory; with ErrNotDir or ErrUnwritable; with errors that match
// corrupt.ErrForeign if the directory holds something else, with an *OtherRunError if
// it holds another run; and like manifest.Load.
func Lock(path string, id manifest.Identity) (*Locked, error) {
	l := &Locked{Dir: Dir{path: path}}
	if err := l.admit(id); err != nil {
		return nil, err
	}
	if err := l.acquire(); err != nil {
		return nil, err
	}
	// The directory may have changed before we had the lock.
	err := l.admit(id)
	if err == nil {
		err = l.prepare(id)
	}
	if err != nil {
		return nil, errors.Join(err, l.Unlock())
	}
	return l, nil
}

// admit tells whether the directory may be used for a run, changing nothing.
func (l *Locked) admit(id manifest.Identity) error {
	if err := (&manifest.Manifest{Identity: id}).Validate(); err != nil {
		return err
	}
	state, err := l.inspect()
	if err == nil && state != noDirectory {
		err = unwritable(l.path, writable(l.path))
	}
	if err != nil || state != hasManifest {
		return err
	}
	m, err := l.Manifest()
	if err != nil {
		return err
	}
	if m.Identity != id {
		return &OtherRunError{Path: l.path, Has: m.Identity, Asked: id}
	}
	return nil
}

// acquire makes the directory and takes the lock.
func (l *Locked) acquire() error {
	if err := makeDir(l.path); err != nil {
		return unwritable(l.path, err)
	}
	lock, err := acquire(filepath.Join(l.path, LockName))
	if err != nil {
		return unwritable(l.path, err)
	}
	l.lock = lock
	return nil
}

// makeDir makes a directory that survives a power cut, unless there is one.
func makeDir(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// prepare brings the directory into the state in which a solver expects it.
func (l *Locked) prepare(id manifest.Identity) error {
	if err := l.Held(); err != nil {
		return err
	}
	if err := makeDir(l.WorkPath("")); err != nil {
		return unwritable(l.path, err)
	}
	if err := errors.Join(removeTemps(l.path), removeTemps(l.WorkPath(""))); err != nil {
		return err
	}
	if _, err := os.Stat(l.ManifestPath()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return l.SaveManifest(&manifest.Manifest{Identity: id})
}

// unwritable adds ErrUnwritable to refusals of the operating system.
func unwritable(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) || readOnly(err) {
		if named, ok := errors.AsType[*fs.PathError](err); ok && named.Path == path {
			err = named.Err // the path is said once
		}
		return fmt.Errorf("%s: %w: %w", path, ErrUnwritable, err)
	}
	return err
}

// removeTemps removes the temporary files directly in the directory.
func removeTemps(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), durable.TempSuffix) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// WorkPath returns the path of name in work/.
func (l *Locked) WorkPath(name string) string { return filepath.Join(l.path, WorkName, name) }

// TempPath returns the path in work/ at which the file that is going to be
// called name is written before Publish.
func (l *Locked) TempPath(name string) string { return l.WorkPath(name + durable.TempSuffix) }

// Publish gives the complete file at TempPath(name) its final name in the run
// directory, replacing a file of that name. When it returns nil, the file
// survives a power cut. It fails as durable.Publish does, or with a *LostError.
func (l *Locked) Publish(name string) error {
	if err := l.Held(); err != nil {
		return err
	}
	return durable.Publish(l.TempPath(name), filepath.Join(l.path, name))
}

// SaveManifest replaces the manifest. When it returns nil, the new one survives
// a power cut. It fails as manifest.Manifest.Save does, or with a *LostError.
func (l *Locked) SaveManifest(m *manifest.Manifest) error {
	if err := l.Held(); err != nil {
		return err
	}
	return m.Save(l.ManifestPath())
}

// ClearWork removes everything in work/ but the status: the layer in progress was
// sealed, or its checkpoint is not wanted. It removes what it can, and returns all
// errors of the operating system, or a *LostError.
func (l *Locked) ClearWork() error {
	if err := l.Held(); err != nil {
		return err
	}
	entries, err := os.ReadDir(l.WorkPath(""))
	for _, e := range entries {
		if name := e.Name(); name == StatusName || name == StatusName+durable.TempSuffix {
			continue
		}
		err = errors.Join(err, os.RemoveAll(l.WorkPath(e.Name())))
	}
	return err
}

// Unlock lets other processes write. l must not be used afterwards.
func (l *Locked) Unlock() error { return l.lock.release() }
