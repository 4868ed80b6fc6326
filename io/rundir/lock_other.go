//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"grenier/io/vfs"
)

// lock is a file that exists as long as the lock is held. After a crash somebody
// has to remove it: these systems offer no portable lock that ends with the
// process.
type lock struct{ dir vfs.Dir }

// acquire makes the lock file of a directory. It fails with a *LockedError.
func acquire(d vfs.Dir) (*lock, error) {
	f, err := d.Create(LockName)
	if errors.Is(err, fs.ErrExist) {
		pid, _ := readPID(d)
		return nil, &LockedError{Path: d.Path(LockName), PID: pid}
	}
	if err != nil {
		return nil, err
	}
	if err := errors.Join(writePID(f), f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", d.Path(LockName), err), d.Remove(LockName))
	}
	return &lock{d}, nil
}

// held fails unless the file names this process.
func (l *lock) held(d vfs.Dir) error {
	if pid, _ := readPID(d); pid != os.Getpid() {
		return fmt.Errorf("%s names process %d", d.Path(LockName), pid)
	}
	return nil
}

// isHeld reports whether the lock file of a directory names a process that is still
// there.
func isHeld(d vfs.Dir) (bool, error) {
	pid, _ := readPID(d)
	return pid > 0 && isAlive(pid), nil
}

// isAlive reports whether there is a process of that id, as far as the system says.
func isAlive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release()
	return true
}

// release removes the file.
func (l *lock) release() error { return l.dir.Remove(LockName) }
