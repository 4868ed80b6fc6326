package rundir

import (
	"errors"
	"io"
	"io/fs"

	"grenier/io/vfs"
)

// LogName is the name of the log file.
const LogName = "solve.log"

// OpenLog opens the log file for adding lines at its end. It fails like vfs.Dir.
func (l *Locked) OpenLog() (io.WriteCloser, error) {
	f, err := l.dir.Edit(LogName)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = l.dir.Create(LogName)
	}
	if err != nil {
		return nil, err
	}
	log := &log{file: f}
	if err := log.start(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return log, nil
}

// maxLog is the most bytes of a log that are read.
const maxLog = 64 << 20

// Log returns the contents of the log, which another process may write. It fails with fs.ErrNotExist, or another error of the
// operating system.
func (d *Dir) Log() ([]byte, error) {
	dir, err := d.open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return vfs.Read(dir, LogName, maxLog)
}

// log is a log file, which nobody else writes.
type log struct {
	file vfs.File
	end  int64
}

// start finds the end, and ends the last line if a crash cut it short.
func (l *log) start() (err error) {
	if l.end, err = l.file.Size(); err != nil || l.end == 0 {
		return err
	}
	var last [1]byte
	if _, err := l.file.ReadAt(last[:], l.end-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = l.Write([]byte("\n"))
	return err
}

// Write adds to the end.
func (l *log) Write(p []byte) (int, error) {
	n, err := l.file.WriteAt(p, l.end)
	l.end += int64(n)
	return n, err
}

// Close closes the file.
func (l *log) Close() error { return l.file.Close() }
