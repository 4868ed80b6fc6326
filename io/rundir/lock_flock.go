//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"grenier/io/vfs"
)

// lock is an open lock file with a flock, which the operating system releases
// when the process ends in any way. The file stays where it is: removing it
// would let two processes lock two files of the same name.
type lock struct{ file vfs.File }

// acquire locks the lock file of a directory, making it if there is none. It fails
// with a *LockedError, and does not touch a file that is not a lock file.
func acquire(d vfs.Dir) (*lock, error) {
	f, err := openLock(d)
	if err != nil {
		return nil, err
	}
	err = takeLock(f)
	if err == vfs.ErrLocked {
		pid, _ := readPID(d)
		return nil, errors.Join(&LockedError{Path: d.Path(LockName), PID: pid}, f.Close())
	}
	if err == nil && !isLock(d) {
		err = errors.New("it is no lock file: move it away")
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		err = writePID(f)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", d.Path(LockName), err), f.Close())
	}
	return &lock{f}, nil
}

// held fails unless the lock file of the directory is the one that is locked.
func (l *lock) held(d vfs.Dir) error {
	mine, err := vfs.System(l.file).Stat()
	if err != nil {
		return err
	}
	there, err := d.Lstat(LockName)
	if err != nil {
		return err
	}
	if !os.SameFile(mine, there) {
		return fmt.Errorf("%s is another file than the one that was locked", d.Path(LockName))
	}
	return nil
}

// openLock opens or makes the lock file, whatever others do at the same time.
func openLock(d vfs.Dir) (f vfs.File, err error) {
	for range 5 {
		if f, err = d.Edit(LockName); !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		if f, err = d.Create(LockName); !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, err
}

// takeLock gets the lock unless another solver has it. Somebody who looks whether
// it is held (isHeld) has it for a moment.
func takeLock(f vfs.File) error {
	for tries := 0; ; tries++ {
		err := vfs.TryLock(f, false)
		if err != vfs.ErrLocked || tries == 5 {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// isHeld reports whether a process has the lock of a directory.
func isHeld(d vfs.Dir) (bool, error) {
	f, err := d.Open(LockName)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = vfs.TryLock(f, true)
	if err == vfs.ErrLocked {
		return true, nil
	}
	return false, err
}

// isAlive reports whether there is a process of that id.
func isAlive(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}

// release empties the file, so that it does not name a process of the past, and
// closes it, which ends the flock.
func (l *lock) release() error {
	return errors.Join(l.file.Truncate(0), l.file.Close())
}
