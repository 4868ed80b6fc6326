package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// split opens the directory of path and returns the last element.
func split(path string) (Dir, string, error) {
	name := filepath.Base(path)
	if checkName("", "", name) != nil { // "..", say
		return nil, "", &KindError{Path: path, Mode: fs.ModeDir}
	}
	d, err := OpenDir(filepath.Dir(path))
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return d, name, nil
}

// within opens the directory of path and does something to the last element in it.
func within(path string, do func(d Dir, name string) error) error {
	d, name, err := split(path)
	if err != nil {
		return err
	}
	return errors.Join(do(d, name), d.Close())
}

// ReadFile returns the contents of the file at path, which must not be a link, as
// Read does.
func ReadFile(path string, limit int64) (data []byte, err error) {
	err = within(path, func(d Dir, name string) error {
		data, err = Read(d, name, limit)
		return err
	})
	return data, err
}

// OpenFile opens the file at path for reading, following links. It fails with a
// *KindError for anything but a regular file, which it does not wait for, or with an
// error of the operating system.
func OpenFile(path string) (*os.File, error) {
	return openIf(path, fs.FileMode.IsRegular)
}

// OpenStream is OpenFile for what is read from beginning to end: a FIFO or a device of
// characters will do too. A FIFO to which nobody writes is empty.
func OpenStream(path string) (*os.File, error) {
	return openIf(path, func(m fs.FileMode) bool {
		return m.IsRegular() || m&fs.ModeNamedPipe != 0 || m&fs.ModeCharDevice != 0
	})
}

// openIf opens what is at path if its mode is right, before and afterwards: it may be
// replaced in between.
func openIf(path string, right func(fs.FileMode) bool) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	wrong := func(m fs.FileMode) error { return &KindError{Path: path, Mode: m.Type()} }
	if !right(info.Mode()) {
		return nil, wrong(info.Mode())
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !right(info.Mode()) {
		err = wrong(info.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// WriteFile replaces the contents of the file at path by data, as Write does.
func WriteFile(path string, data []byte) error {
	return within(path, func(d Dir, name string) error { return Write(d, name, data) })
}

// CheckFile fails if no file can be written at path, whatever its contents:
// something other than a file is there, or the directory is missing or read-only.
// It is called before work whose result goes to path.
func CheckFile(path string) error {
	return within(path, func(d Dir, name string) error {
		p, err := NewPending(d, name)
		if err != nil {
			return err
		}
		return p.Abort()
	})
}

// Begin begins the file at path, and removes what a crash left of earlier ones. It
// fails as NewPending does.
func Begin(path string) (*Pending, error) {
	d, base, err := split(path)
	if err != nil {
		return nil, err
	}
	if err := RemoveStale(d, func(final string) bool { return final == base }); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	p, err := NewPending(d, base)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	p.ownsDir = true
	return p, nil
}

// MakeDir makes the directory at path, and those that lead to it, so that it
// survives a power cut; one that is there stays as it is.
func MakeDir(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	return within(path, func(d Dir, _ string) error { return d.Sync() })
}

// Nearest returns the absolute path of what is at path, or of its nearest parent that exists.
func Nearest(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(path)
		parent := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || parent == path {
			return path, err
		}
		path = parent
	}
}

// MakeSub opens the directory of that name, and makes it if there is none.
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

// TempDir makes a directory in parent, whose name begins with prefix and which
// nobody can guess, and returns its path and a function that removes it with all
// that is in it.
func TempDir(parent, prefix string) (path string, remove func() error, err error) {
	path, err = os.MkdirTemp(parent, prefix)
	return path, func() error { return os.RemoveAll(path) }, err
}
