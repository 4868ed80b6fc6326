package vfs

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// CheckUnnamed makes a file without a name in the directory at path (O_TMPFILE), which is gone at
// once. It fails with an error of the operating system where the file system has no such files.
func CheckUnnamed(path string) error {
	fd, err := unix.Open(path, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return unix.Close(fd)
}
