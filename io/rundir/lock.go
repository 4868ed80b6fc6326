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
