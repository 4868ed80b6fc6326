package crashfs

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"grenier/io/vfs"
)

// dir is a directory of an FS.
type dir struct {
	fs   *FS
	path string
}

var _ vfs.Dir = dir{}

// Dir returns the directory at path, which is always there.
func (f *FS) Dir(path string) vfs.Dir { return dir{f, filepath.Clean(path)} }

func (d dir) Path(name string) string { return filepath.Join(d.path, name) }

func (d dir) Open(name string) (vfs.File, error) { return d.fs.open(d.Path(name)) }

func (d dir) Edit(name string) (vfs.File, error) { return d.fs.open(d.Path(name)) }

func (d dir) Create(name string) (vfs.File, error) { return d.fs.create(d.Path(name)) }

func (d dir) Rename(from, to string) error { return d.fs.rename(d.Path(from), d.Path(to)) }

func (d dir) Remove(name string) error { return d.fs.remove(d.Path(name)) }

func (d dir) Sync() error { return d.fs.syncDir(d.path) }

// Mkdir does nothing: every directory is there.
func (d dir) Mkdir(string) error { return fs.ErrExist }

func (d dir) Sub(name string) (vfs.Dir, error) { return d.fs.Dir(d.Path(name)), nil }

func (d dir) Close() error { return nil }

func (d dir) Lstat(name string) (fs.FileInfo, error) {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	path := d.Path(name)
	if d.fs.crashed {
		return nil, pathError("lstat", path, ErrCrashed)
	}
	file := d.fs.names[path]
	if file == nil {
		return nil, pathError("lstat", path, fs.ErrNotExist)
	}
	return info{name, int64(len(file.data))}, nil
}

func (d dir) Entries() ([]fs.FileInfo, error) {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	if d.fs.crashed {
		return nil, pathError("open", d.path, ErrCrashed)
	}
	var entries []fs.FileInfo
	for path, file := range d.fs.names {
		if filepath.Dir(path) == d.path {
			entries = append(entries, info{filepath.Base(path), int64(len(file.data))})
		}
	}
	slices.SortFunc(entries, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// info describes a file.
type info struct {
	name string
	size int64
}

func (i info) Name() string     { return i.name }
func (i info) Size() int64      { return i.size }
func (info) Mode() fs.FileMode  { return 0o644 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return false }
func (info) Sys() any           { return nil }
