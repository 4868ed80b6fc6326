//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package rundir

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lock is an open lock file with a flock, which the operating system releases
// when the process ends, however it ends. The file stays where it is: removing
// it would let two processes lock two files of the same name.
type lock struct{ file *os.File }

// acquire locks the file at path, making it if there is none. It fails with a
// *LockedError.
func acquire(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	err = flock(f)
	if errors.Is(err, unix.EWOULDBLOCK) {
		f.Close()
		return nil, &LockedError{Path: path, PID: readPID(path)}
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		err = writePID(f)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), f.Close())
	}
	return &lock{f}, nil
}

func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// release empties the file, so that it does not name a process of the past, and
// closes it, which ends the flock.
func (l *lock) release() error {
	return errors.Join(l.file.Truncate(0), l.file.Close())
}

// readOnly tells whether err says that a file system is mounted read-only.
func readOnly(err error) bool { return errors.Is(err, unix.EROFS) }

// writable fails if the operating system does not let this process make files in
// the directory.
func writable(path string) error { return unix.Access(path, unix.W_OK|unix.X_OK) }
