//go:build unix

package vfs

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func fifo(path string) error { return unix.Mkfifo(path, 0o644) }

// socket makes a socket at path. Paths of sockets are short, so that it is made
// elsewhere first.
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
