// Package vfs is the one way in which this program touches files: everything
// that is written, renamed or removed goes through a Dir, an open directory, or
// through one of the functions that take a path and open its directory first.
//
// A Dir knows its entries by name, and a name is a single path element: code
// with a Dir reaches nothing beyond it. On the operating system (OpenDir) it is
// an os.Root. These rules hold for every Dir:
//
//   - No symbolic link is followed for writing, truncating, renaming or
//     removing; a link in place of a file is refused with a *KindError.
//   - Only regular files are opened, renamed, replaced and removed, and none is
//     waited for: a FIFO, a device or a directory is refused before it is opened.
//   - A file that has a second name (a hard link) is not opened for writing.
//   - A new file never replaces another: Create fails with fs.ErrExist. A file that
//     is to replace another is a Pending, written under a name that nobody can guess
//     and that says which file it is for.
//
// Paths that a user gives may lead through links to the directory that is meant;
// only the last element is held to the rules. OpenFile alone follows a link there
// too, for reading: people move sealed layers to other disks. Directories that the
// program names are opened from the one that they are in, and are no links: door.go
// is the one place where directories are opened and made.
//
// Package crashfs has another Dir, which lives in memory and crashes on demand.
package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Dir is an open directory. Names name entries directly in it. All
// methods are safe for concurrent use.
type Dir interface {
	// Path returns the path of an entry, for messages; the path of the directory
	// itself for "".
	Path(name string) string
	// Open opens a file for reading.
	Open(name string) (File, error)
	// Edit opens a file for reading and writing.
	Edit(name string) (File, error)
	// Create makes a file and opens it for reading and writing. It fails with
	// fs.ErrExist if there is anything of that name.
	Create(name string) (File, error)
	// Rename gives the file from the name to, replacing a file of that name.
	Rename(from, to string) error
	// Remove removes the name of a file.
	Remove(name string) error
	// Lstat describes an entry, be it a link.
	Lstat(name string) (fs.FileInfo, error)
	// Entries describes all entries, in the order of their names.
	Entries() ([]fs.FileInfo, error)
	// Mkdir makes a directory. It fails with fs.ErrExist like Create.
	Mkdir(name string) error
	// Sub opens the directory of that name, which must not be a link.
	Sub(name string) (Dir, error)
	// Sync waits until the names in the directory are on disk.
	Sync() error
	// Close closes the directory. Files that were opened stay open.
	Close() error
}

// File is an open regular file. All methods but Write are safe for concurrent
// use, as with an os.File.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Writer // behind the bytes written with Write before; the first byte is byte 0
	io.Closer
	// Truncate changes the length of the file.
	Truncate(size int64) error
	// Sync waits until all that was written is on disk.
	Sync() error
	// Size returns the length of the file.
	Size() (int64, error)
}

// ErrReplaced is the cause if a file or directory was replaced while it was being
// opened. Nothing was changed.
var ErrReplaced = errors.New("something else took its place while it was being opened; try again")

// KindError reports something that is not a file which may be opened, replaced or
// removed: a link, a directory, a FIFO, a device, a file with several names.
type KindError struct {
	Path string
	Mode fs.FileMode // its type
	Dir  bool        // a directory was wanted, not a file
}

// Error names the kind that is there and the kind wanted.
func (e *KindError) Error() string {
	switch {
	case e.Dir && e.Mode&fs.ModeSymlink != 0:
		return fmt.Sprintf("%s is %s, not a directory; links may lead to %s, but not on from there", e.Path, e.Kind(), filepath.Dir(e.Path))
	case e.Dir:
		return fmt.Sprintf("%s is %s, not a directory", e.Path, e.Kind())
	case e.Mode.IsRegular():
		return fmt.Sprintf("%s has other names too (hard links), which would be changed with it: move it away", e.Path)
	}
	return fmt.Sprintf("%s is %s, not a file", e.Path, e.Kind())
}

// Kind names the kind of the entry that is there.
func (e *KindError) Kind() string {
	switch m := e.Mode; {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m.IsRegular():
		return "a file"
	}
	return "something else"
}

// checkName fails with fs.ErrInvalid unless name is a single path element.
func checkName(op, path, name string) error {
	if name != filepath.Base(name) || !filepath.IsLocal(name) || name == "." {
		return &fs.PathError{Op: op, Path: path, Err: fs.ErrInvalid}
	}
	return nil
}

// System returns the file of the operating system behind f, nil if there is none. A File
// that wraps another one has a method System, too.
func System(f File) *os.File {
	switch f := f.(type) {
	case file:
		return f.File
	case interface{ System() *os.File }:
		return f.System()
	}
	return nil
}

// Exists reports whether there is an entry of that name, whatever it is.
func Exists(d Dir, name string) (bool, error) {
	_, err := d.Lstat(name)
	return err == nil, absent(err)
}

// Renew makes an empty file for reading and writing. A file of that name is removed,
// not emptied: it may have another name.
func Renew(d Dir, name string) (File, error) {
	if err := RemoveIfThere(d, name); err != nil {
		return nil, err
	}
	return d.Create(name)
}

// RemoveIfThere removes the name of a file, if there is one.
func RemoveIfThere(d Dir, name string) error { return absent(d.Remove(name)) }

// Read returns the contents of a file of at most limit bytes, of a longer one the
// first limit+1.
func Read(d Dir, name string, limit int64) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, 0, limit+1))
}
