package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// system is a directory of the operating system.
type system struct {
	root *os.Root
	path string
}

func (d *system) Path(name string) string { return filepath.Join(d.path, name) }

func (d *system) Open(name string) (File, error) { return d.open(name, os.O_RDONLY, false) }

func (d *system) Edit(name string) (File, error) { return d.open(name, os.O_RDWR, true) }

// open opens the very entry that Lstat describes: were it replaced by a link in
// between, os.Root would follow that, within the directory.
func (d *system) open(name string, flags int, alone bool) (File, error) {
	before, err := d.file("open", name)
	if err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, flags|nonBlocking, 0)
	if err != nil {
		return nil, d.named("open", name, refused(err))
	}
	after, err := f.Stat()
	switch {
	case err != nil:
	case !os.SameFile(before, after):
		err = d.named("open", name, ErrReplaced)
	case alone && names(after) > 1:
		err = &KindError{Path: d.Path(name), Mode: after.Mode().Type()}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return file{f}, nil
}

// file describes a regular file. It fails with a *KindError for anything else.
func (d *system) file(op, name string) (fs.FileInfo, error) {
	info, err := d.lstat(op, name)
	if err == nil && !info.Mode().IsRegular() {
		err = &KindError{Path: d.Path(name), Mode: info.Mode().Type()}
	}
	return info, err
}

func (d *system) lstat(op, name string) (fs.FileInfo, error) {
	if err := checkName(op, d.Path(name), name); err != nil {
		return nil, err
	}
	info, err := d.root.Lstat(name)
	return info, d.named(op, name, err)
}

func (d *system) Create(name string) (File, error) {
	if err := checkName("create", d.Path(name), name); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|nonBlocking, 0o644)
	if err != nil {
		return nil, d.named("create", name, err)
	}
	return file{f}, nil
}

func (d *system) Rename(from, to string) error {
	if _, err := d.file("rename", from); err != nil {
		return err
	}
	if _, err := d.file("rename", to); absent(err) != nil {
		return err
	}
	return d.named("rename", to, d.root.Rename(from, to))
}

func (d *system) Remove(name string) error {
	if _, err := d.file("remove", name); err != nil {
		return err
	}
	return d.named("remove", name, d.root.Remove(name))
}

func (d *system) Lstat(name string) (fs.FileInfo, error) { return d.lstat("lstat", name) }

func (d *system) Entries() ([]fs.FileInfo, error) {
	entries, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return nil, d.named("open", "", err)
	}
	infos := make([]fs.FileInfo, 0, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, d.named("lstat", e.Name(), err)
		}
		infos = append(infos, info)
	}
	return infos, nil
}

func (d *system) Sync() error {
	if !syncsDirs {
		return nil
	}
	f, err := d.root.Open(".")
	if err != nil {
		return d.named("open", "", err)
	}
	return d.named("sync", "", errors.Join(f.Sync(), f.Close()))
}

func (d *system) Close() error { return d.root.Close() }

// named puts the path into an error of os.Root, which only knows names.
func (d *system) named(op, name string, err error) error {
	cause := err
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		cause = e.Err
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		cause = e.Err
	}
	if err == nil || strings.HasPrefix(cause.Error(), d.path) {
		return err
	}
	return &fs.PathError{Op: op, Path: d.Path(name), Err: cause}
}

// absent returns nil if err says that something does not exist.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// file is a file of the operating system.
type file struct{ *os.File }

// Size returns the length of the file.
func (f file) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
