//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

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
	err = takeLock(f)
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

// held fails unless the file at the path of the lock is the one that is locked.
func (l *lock) held() error {
	mine, err := l.file.Stat()
	if err != nil {
		return err
	}
	there, err := os.Lstat(l.file.Name())
	if err != nil {
		return err
	}
	if !os.SameFile(mine, there) {
		return fmt.Errorf("%s is another file than the one that was locked", l.file.Name())
	}
	return nil
}

// takeLock gets the lock unless another solver has it. Somebody who looks whether
// it is held (isHeld) has it for a moment.
func takeLock(f *os.File) error {
	for tries := 0; ; tries++ {
		err := flock(f, unix.LOCK_EX)
		if !errors.Is(err, unix.EWOULDBLOCK) || tries == 5 {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// flock takes a lock of a file without waiting for it.
func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// isHeld tells whether a process has the lock of the file at path.
func isHeld(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = flock(f, unix.LOCK_SH)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// isAlive tells whether there is a process of that id.
func isAlive(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
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
