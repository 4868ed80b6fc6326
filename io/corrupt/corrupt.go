// Package corrupt has the error by which all packages under io report a file
// whose contents are wrong.
//
// Every such error is an *Error, which names the file, the part of it and the
// cause, and matches ErrCorrupt under errors.Is: a caller that only wants to
// know whether data on disk is unusable (exit status 4 of the command line)
// tests for that alone. Three causes are distinguished because the remedy differs:
// ErrForeign (the file was never ours: wrong path), ErrVersion (written by a
// newer program: upgrade) and ErrMismatch (intact, but of another game or
// layer: wrong directory). Each of these matches ErrCorrupt as well.
//
// Errors of the operating system (file missing, permission denied, disk full)
// are not corruption and pass through wrapped but otherwise untouched.
package corrupt

import (
	"errors"
	"fmt"

	"grenier/io/vfs"
)

var (
	// ErrCorrupt matches every error of this package.
	ErrCorrupt = errors.New("data corrupt")
	// ErrForeign says that the file is not of the expected kind at all.
	ErrForeign = errors.New("not a file of this program")
	// ErrVersion says that the file has a format version, codec or other
	// feature that this program does not know.
	ErrVersion = errors.New("unknown format version")
	// ErrMismatch says that an intact file does not belong where it was found.
	ErrMismatch = errors.New("does not match")
)

// Error is one place where a file disagrees with its format.
type Error struct {
	File  string // path of the file
	Part  string // "header", "index", "footer", "block 7", "layer 3", ...; may be empty
	Cause error  // the fault there
}

// Error returns "file: part: cause".
func (e *Error) Error() string {
	if e.Part == "" {
		return fmt.Sprintf("%s: %v", e.File, e.Cause)
	}
	return fmt.Sprintf("%s: %s: %v", e.File, e.Part, e.Cause)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is makes every Error match ErrCorrupt; what else it matches is up to Cause.
func (e *Error) Is(target error) bool { return target == ErrCorrupt }

// New returns an *Error for a part of a file; format and args describe the
// cause as in fmt.Errorf, %w included.
func New(file, part, format string, args ...any) error {
	return &Error{File: file, Part: part, Cause: fmt.Errorf(format, args...)}
}

// Opened returns the error of opening the file at path. If something other than a file
// is there, a directory or a FIFO, it is an *Error that matches ErrForeign; all other
// errors stay.
func Opened(path string, err error) error {
	if wrong, ok := errors.AsType[*vfs.KindError](err); ok {
		return New(path, "", "%w: it is %s", ErrForeign, wrong.Kind())
	}
	return err
}
