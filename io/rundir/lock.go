package rundir

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"grenier/io/vfs"
)

// LockedError says that a run directory is in use.
type LockedError struct {
	Path string // of the lock file
	PID  int    // of the process that has the lock; 0 if it does not say
}

// Error names the holder.
func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s: in use by another process", e.Path)
	}
	return fmt.Sprintf("%s: in use by process %d", e.Path, e.PID)
}

// LostError says that a process has lost its lock: somebody has removed or replaced
// the file. It does not unwrap to its cause, which is about another file than the one
// that was to be changed.
type LostError struct {
	Path  string // of the run directory
	Cause error
}

// Error says what that means.
func (e *LostError) Error() string {
	return fmt.Sprintf("lost the lock of %s: %v; nothing was published, for another process may be at work there", e.Path, e.Cause)
}

// guarded is a directory of a run in which nothing is published and nothing of value
// removed unless the process still has its lock: then it fails with a *LostError.
type guarded struct {
	vfs.Dir
	run  vfs.Dir // where the lock is
	lock *lock
}

func (g guarded) held() error {
	if err := g.lock.held(g.run); err != nil {
		return &LostError{Path: g.run.Path(""), Cause: err}
	}
	return nil
}

// Rename publishes: every file of value is renamed to its name.
func (g guarded) Rename(from, to string) error {
	if err := g.held(); err != nil {
		return err
	}
	return g.Dir.Rename(from, to)
}

// Remove removes temporary files in any case: this process made them.
func (g guarded) Remove(name string) error {
	if _, temporary := vfs.TempFor(name); !temporary {
		if err := g.held(); err != nil {
			return err
		}
	}
	return g.Dir.Remove(name)
}

// isLock reports whether the directory has a lock file: empty, or a process id and
// nothing else.
func isLock(d vfs.Dir) bool {
	_, ok := readPID(d)
	return ok
}

// maxLock is the largest size of a lock file.
const maxLock = 32

// readPID returns the process id in the lock file of a directory, 0 if it is empty, or
// holds zeros, which a power cut may leave of a process id; ok says that there is a lock
// file.
func readPID(d vfs.Dir) (pid int, ok bool) {
	text, err := vfs.Read(d, LockName, maxLock)
	if err != nil {
		return 0, false
	}
	if len(text) <= maxLock && strings.Trim(string(text), "\x00") == "" {
		return 0, true
	}
	pid, err = strconv.Atoi(strings.TrimSuffix(string(text), "\n"))
	return max(pid, 0), err == nil && pid > 0
}

// writePID makes the lock file say who has it.
func writePID(f vfs.File) error {
	_, err := fmt.Fprintln(f, os.Getpid())
	return err
}
