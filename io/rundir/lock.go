package rundir

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
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

// LostError says that a process does not have the lock any more that it took: somebody
// has removed or replaced the file.
type LostError struct {
	Path  string // of the run directory
	Cause error
}

// Error says what that means.
func (e *LostError) Error() string {
	return fmt.Sprintf("lost the lock of %s: %v; nothing was published, for another process may be at work there", e.Path, e.Cause)
}

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Cause }

// Held fails with a *LostError unless l still has its lock. The methods that make
// something visible to others ask it; whoever writes a checkpoint should.
func (l *Locked) Held() error {
	if err := l.lock.held(); err != nil {
		return &LostError{Path: l.path, Cause: err}
	}
	return nil
}

// isLock tells whether the file at path is a lock file: empty, or a process id
// and nothing else.
func isLock(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && (info.Size() == 0 || readPID(path) > 0)
}

// readPID returns the process id in a lock file, 0 if there is none.
func readPID(path string) int {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSuffix(string(text), "\n"))
	if err != nil {
		return 0
	}
	return pid
}

// writePID makes the lock file say who has it.
func writePID(f *os.File) error {
	_, err := fmt.Fprintln(f, os.Getpid())
	return err
}
