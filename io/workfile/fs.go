package workfile

import (
	"io"
	"os"

	"grenier/io/durable"
)

// FS is what a File needs of a file system: OS, or one that crashes in a test.
// All methods are safe for concurrent use.
type FS interface {
	// Create opens the file at path for reading and writing; it makes it, or
	// makes it empty.
	Create(path string) (Handle, error)
	// Open opens the file at path for reading and writing.
	Open(path string) (Handle, error)
	// Rename gives the file at from the name to, replacing what had that name.
	Rename(from, to string) error
	// Remove removes the name of a file.
	Remove(path string) error
	// SyncDir waits until the names in the directory are on disk.
	SyncDir(path string) error
}

// Handle is an open file. All methods are safe for concurrent use, as those of
// an os.File are.
type Handle interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Truncate changes the length of the file.
	Truncate(size int64) error
	// Sync waits until all that was written is on disk.
	Sync() error
	// Size returns the length of the file.
	Size() (int64, error)
}

// OS is the file system of the operating system.
var OS FS = system{}

type system struct{}

func (system) Create(path string) (Handle, error) {
	return openFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

func (system) Open(path string) (Handle, error) { return openFile(path, os.O_RDWR) }

func (system) Rename(from, to string) error { return os.Rename(from, to) }

func (system) Remove(path string) error { return os.Remove(path) }

func (system) SyncDir(path string) error { return durable.SyncDir(path) }

type file struct{ *os.File }

func openFile(path string, flags int) (Handle, error) {
	f, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

func (f file) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// ReadFile returns the contents of the file at path: of a checkpoint, for
// Unseal. It fails with fs.ErrNotExist if there is none.
func ReadFile(fs FS, path string) ([]byte, error) {
	h, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	size, err := h.Size()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(h, 0, size))
}
