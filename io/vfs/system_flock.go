//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package vfs

import (
	"errors"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonBlocking opens files without waiting: a FIFO that takes the place of a file at
// the last moment does not hang the program.
const nonBlocking = syscall.O_NONBLOCK

// syncsDirs reports whether names can be made durable.
const syncsDirs = true

// names returns how many names a file has.
func names(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// SameDevice reports whether two files or directories are in one file system, as far
// as the operating system says.
func SameDevice(a, b fs.FileInfo) bool {
	s, ok := a.Sys().(*syscall.Stat_t)
	t, fine := b.Sys().(*syscall.Stat_t)
	return !ok || !fine || s.Dev == t.Dev
}

// Writable fails if the operating system does not let this process make files in
// the directory at path.
func Writable(path string) error { return unix.Access(path, unix.W_OK|unix.X_OK) }

// ReadOnly reports whether err says that a file system is mounted read-only.
func ReadOnly(err error) bool { return errors.Is(err, unix.EROFS) }

// TryLock locks a file for this process until it is closed or the process ends: for
// itself alone, or shared with others who share. It fails with ErrLocked if
// somebody has the lock, with errors.ErrUnsupported where there is no such lock, or
// with an error of the operating system.
func TryLock(f File, shared bool) error {
	s := System(f)
	if s == nil {
		return errors.ErrUnsupported
	}
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	for {
		switch err := unix.Flock(int(s.Fd()), how|unix.LOCK_NB); err {
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return ErrLocked
		default:
			return err
		}
	}
}
