package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// LogName is the name of the log file.
const LogName = "solve.log"

// OpenLog opens the log file for adding lines at its end. It fails with an error of
// the operating system, or if there is something else than a file.
func (l *Locked) OpenLog() (*os.File, error) {
	path := filepath.Join(l.path, LogName)
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	if err := endLine(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// endLine ends the last line of a file that a crash cut short.
func endLine(f *os.File) error {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], info.Size()-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = f.Write([]byte("\n"))
	return err
}
