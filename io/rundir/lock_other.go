//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// lock is a file that exists as long as the lock is held. After a crash somebody
// has to remove it: these systems offer no portable lock that ends with the
// process.
type lock struct{ path string }

// acquire makes the file at path. It fails with a *LockedError.
func acquire(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, &LockedError{Path: path, PID: readPID(path)}
	}
	if err != nil {
		return nil, err
	}
	if err := errors.Join(writePID(f), f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), os.Remove(path))
	}
	return &lock{path}, nil
}

// held fails unless the file names this process.
func (l *lock) held() error {
	if pid := readPID(l.path); pid != os.Getpid() {
		return fmt.Errorf("%s names process %d", l.path, pid)
	}
	return nil
}

// isHeld tells whether the file at path names a process that is still there.
func isHeld(path string) (bool, error) {
	pid := readPID(path)
	return pid > 0 && isAlive(pid), nil
}

// isAlive tells whether there is a process of that id, as far as the system says.
func isAlive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release()
	return true
}

// release removes the file.
func (l *lock) release() error { return os.Remove(l.path) }

func readOnly(error) bool { return false }

// writable cannot tell; making the lock file will.
func writable(string) error { return nil }
