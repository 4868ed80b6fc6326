//go:build unix

package vfs

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"grenier/internal/testkit/should"
)

// TestWritable: what is true of users who may write everywhere too.
func TestWritable(t *testing.T) {
	dir := t.TempDir()
	if here, none := Writable(dir), Writable(filepath.Join(dir, "none")); here != nil || none == nil {
		t.Errorf("%v, of a directory that is not there %v", here, none)
	}
	should.Hold(t, ReadOnly(&fs.PathError{Err: unix.EROFS}), "a disk that cannot be written is not said to be so")
}

func fifo(path string) error { return unix.Mkfifo(path, 0o644) }

// socket makes a socket at path. Paths of sockets are short, so that it is made elsewhere first.
func socket(t *testing.T, path string) error {
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		return err
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	short := filepath.Join(dir, "s")
	l, err := net.Listen("unix", short)
	if err != nil {
		return err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	t.Cleanup(func() { l.Close() })
	return os.Rename(short, path)
}
