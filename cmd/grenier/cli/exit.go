package cli

import (
	"context"
	"errors"
	"fmt"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/kernels/fault"
)

// Exit statuses. Scripts rely on them.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitDifferences = 3
	ExitCorrupt     = 4
	ExitMissing     = 5
	ExitBug         = 70
	ExitPaused      = 75
	ExitInterrupted = 130
	ExitUnread      = 141
)

// ExitHelp is the part about exit statuses of the help of the root. The help of a command
// has an EXIT STATUS of its own only where that differs.
const ExitHelp = `
EXIT STATUS
  0    done, or nothing to do
  1    failed: a file or directory is missing, unreadable or in use, the disk is
       full, a request was refused
  2    bad usage, another command line is needed: an unknown flag, an impossible
       board, a layer that is not solved, more memory than allowed, a directory
       of another run
  3    a check found differences
  4    a file is corrupt, of a newer version, or not of this program
  5    not complete: parts (--part) are missing; nothing is known to be wrong
  70   a bug of this program; what it has written is intact
  75   paused: stopped on request (awari solve --until, awari stop), or not yet
       (awari step); the same command goes on, later
  130  interrupted by Ctrl-C, or the signal TERM or HUP; what a directory holds
       is intact, and the same command resumes
  141  output closed; otherwise like 130`

// usageError is an error about the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Is makes it bad usage.
func (e usageError) Is(target error) bool { return target == fault.Usage }

// Usagef returns an error about the command line; format and args are as in fmt.Errorf.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// StatusOf maps the error of a command whose context is ctx to the exit status.
func StatusOf(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return ExitOK
	case IsType[*crew.PanicError](err):
		return ExitBug
	case errors.Is(err, errUnread):
		return ExitUnread
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.Is(err, corrupt.ErrCorrupt):
		return ExitCorrupt
	case errors.Is(err, fault.Difference):
		return ExitDifferences
	case errors.Is(err, fault.Usage):
		return ExitUsage
	case errors.Is(err, fault.Missing):
		return ExitMissing
	case errors.Is(err, fault.Pause):
		return ExitPaused
	}
	return ExitFailure
}

// IsType reports whether an error of type E is in the tree of err.
func IsType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
