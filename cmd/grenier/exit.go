package main

import (
	"context"
	"errors"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/kernels/fault"
)

// Exit statuses, promised to scripts.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitDifferences = 3
	exitCorrupt     = 4
	exitBug         = 70
	exitInterrupted = 130
	exitUnread      = 141
)

// exitHelp is the end of every long help text.
const exitHelp = `
EXIT STATUS
  0    ok
  1    failure: a file or directory is missing, locked or unwritable, the disk is full, ...
  2    bad usage: unknown flag, bad board, grid or set-up, more seeds than are solved, more
       memory than allowed, a directory that holds something else, ...
  3    a check found differences, set-ups that are not legal, or a manifest that is wrong
  4    data on disk is corrupt, of a newer version or not of this program
  70   a bug of this program: an internal error; data on disk stays whole
  130  interrupted (Ctrl-C, or the signal TERM or HUP); what is kept in a
       directory is whole and the same command continues
  141  nobody reads stdout or stderr any more; otherwise like 130`

// usageError is an error about the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Is makes it bad usage.
func (e usageError) Is(target error) bool { return target == fault.Usage }

// statusOf maps an error to the exit status.
func statusOf(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return exitOK
	case isType[*crew.PanicError](err):
		return exitBug
	case errors.Is(err, errUnread):
		return exitUnread
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, corrupt.ErrCorrupt):
		return exitCorrupt
	case errors.Is(err, fault.Difference):
		return exitDifferences
	case errors.Is(err, fault.Usage), errors.Is(err, fault.Memory):
		return exitUsage
	}
	return exitFailure
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
