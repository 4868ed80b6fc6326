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

// OpenStream is OpenFile for a file that is read from beginning to end: a FIFO or a device of
// characters will do too. A FIFO to which nobody writes is empty.
func OpenStream(path string) (*os.File, error) {
	return openIf(path, func(m fs.FileMode) bool {
		return m.IsRegular() || m&fs.ModeNamedPipe != 0 || m&fs.ModeCharDevice != 0
	})
}

// openIf opens the file at path if its mode is right, before and afterwards: it may be
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

// Begin begins the file at path, and removes remains of earlier ones after a crash. It
// fails as NewPending does.
func Begin(path string) (*Pending, error) {
	d, name, err := split(path)
	if err != nil {
		return nil, err
	}
	p, err := BeginIn(d, name)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	p.ownsDir = true
	return p, nil
}

// Nearest returns path as an absolute path, or its nearest parent that exists.
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
