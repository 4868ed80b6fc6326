package vfs

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
)

// This file is the one door to directories: whatever is written or removed, the directory was
// opened or made here. The path of a directory that a user names may lead through links (OpenDir,
// MakeDir). A directory that the program names is reached from the one that it is in, which is
// open, and must be a directory itself (Dir.Sub, MakeSub). An open directory stays the same
// whatever takes its place.

// OpenDir opens the directory at path, to which links may lead. It fails with a
// *KindError if there is something else, or with an error of the operating system.
func OpenDir(path string) (Dir, error) {
	if temp, name := intoTemp(path); temp != nil {
		root, err := temp.root.OpenRoot(name)
		if err != nil {
			return nil, temp.named("open", name, err)
		}
		return seen(&system{root, temp.Path(name)}), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &KindError{Path: path, Mode: info.Mode().Type(), Dir: true}
	}
	root, err := os.OpenRoot(path) // it is no FIFO: opening cannot block
	if err != nil {
		return nil, err
	}
	return seen(&system{root, path}), nil
}

// MakeDir is OpenDir for a directory that is made if there is none, with those that lead to it,
// so that it survives a power cut.
func MakeDir(path string) (Dir, error) {
	if temp, name := intoTemp(path); temp != nil {
		if err := temp.root.MkdirAll(name, 0o755); err != nil {
			return nil, temp.named("mkdir", name, err)
		}
		return OpenDir(path)
	}
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(path, 0o755); err == nil {
			err = within(path, func(d Dir, _ string) error { return d.Sync() })
		}
	}
	if err != nil {
		return nil, err
	}
	return OpenDir(path)
}

// MakeSub opens the directory of that name as Dir.Sub does, and makes it if there is none.
func MakeSub(d Dir, name string) (Dir, error) {
	err := d.Mkdir(name)
	if err == nil {
		err = d.Sync()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return d.Sub(name)
}

func (d *system) Mkdir(name string) error { return d.mkdir(name, 0o755) }

func (d *system) mkdir(name string, mode fs.FileMode) error {
	if err := checkName("mkdir", d.Path(name), name); err != nil {
		return err
	}
	return d.named("mkdir", name, d.root.Mkdir(name, mode))
}

func (d *system) Sub(name string) (Dir, error) {
	sub, err := d.sub(name)
	if err != nil {
		return nil, err
	}
	return sub, nil
}

// sub opens the very directory that Lstat describes: were it replaced by a link in between,
// os.Root would follow that, within the directory.
func (d *system) sub(name string) (*system, error) {
	before, err := d.lstat("open", name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, &KindError{Path: d.Path(name), Mode: before.Mode().Type(), Dir: true}
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, d.named("open", name, refused(err))
	}
	after, err := root.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = ErrReplaced
	}
	if err != nil {
		return nil, errors.Join(d.named("open", name, err), root.Close())
	}
	return &system{root, d.Path(name)}, nil
}

// refused returns the error of os.Root about an entry of which Lstat has just said that it is no link: if it is about links,
// or not the system's but that a link leads out of the directory, a link has taken its place.
func refused(err error) error {
	if errno, system := errors.AsType[syscall.Errno](err); system && errno != syscall.ELOOP {
		return err
	}
	return ErrReplaced
}

// intercept, if not nil, replaces the directory that OpenDir returns.
var intercept atomic.Pointer[func(Dir) Dir]

// Intercept makes OpenDir return see(d) instead of d, until restore is called: tests of
// whole programs let file systems fail with it. see must let other directories pass.
func Intercept(see func(d Dir) Dir) (restore func()) {
	before := intercept.Swap(&see)
	return func() { intercept.Store(before) }
}

// seen returns the Dir that tests put in the place of d.
func seen(d *system) Dir {
	if see := intercept.Load(); see != nil {
		return (*see)(d)
	}
	return d
}

// temps are the directories that TempDir made, by their paths. They stay open: a path into one
// of them leads there, whatever has taken its place.
var temps struct {
	sync.Mutex
	open map[string]*system
}

// intoTemp returns the directory of TempDir in which path is, nil if there is none, and the
// name of path there.
func intoTemp(path string) (temp *system, name string) {
	temps.Lock()
	defer temps.Unlock()
	for top, temp := range temps.open {
		if name, err := filepath.Rel(top, path); err == nil && filepath.IsLocal(name) {
			return temp, name
		}
	}
	return nil, ""
}

// TempDir makes a directory in parent, or, if parent is empty, in the system's directory for temporary
// files. Its name begins with prefix, and nobody can guess it. TempDir returns its path, and a function
// that removes it with all that is in it, but nothing that has taken its place.
func TempDir(parent, prefix string) (path string, remove func() error, err error) {
	if parent == "" {
		parent = os.TempDir()
	}
	root, err := os.OpenRoot(parent)
	if err != nil {
		return "", nil, err
	}
	in := &system{root, parent}
	temp, err := in.makeTemp(prefix)
	if err != nil {
		return "", nil, errors.Join(err, in.Close())
	}
	return temp.path, func() error { return errors.Join(in.removeTemp(temp), in.Close()) }, nil
}

func (d *system) makeTemp(prefix string) (*system, error) {
	var random [tempDigits / 2]byte
	rand.Read(random[:]) // never fails
	name := prefix + hex.EncodeToString(random[:])
	if err := d.mkdir(name, 0o700); err != nil {
		return nil, err
	}
	temp, err := d.sub(name)
	if err != nil {
		return nil, err
	}
	temps.Lock()
	defer temps.Unlock()
	if temps.open == nil {
		temps.open = map[string]*system{}
	}
	temps.open[temp.path] = temp
	return temp, nil
}

// removeTemp removes the contents of a directory of TempDir, and then its name, if that is still its.
func (d *system) removeTemp(temp *system) error {
	temps.Lock()
	delete(temps.open, temp.path)
	temps.Unlock()
	entries, err := temp.Entries()
	for _, e := range entries {
		err = errors.Join(err, temp.root.RemoveAll(e.Name()))
	}
	made, failed := temp.root.Stat(".")
	err = errors.Join(err, failed, temp.Close())
	name := filepath.Base(temp.path)
	there, failed := d.root.Lstat(name)
	if err != nil || failed != nil || !os.SameFile(made, there) {
		return errors.Join(err, absent(failed))
	}
	return d.named("remove", name, d.root.Remove(name))
}
