package main

import (
	"context"
	"errors"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/frame"
	"grenier/io/layerfile"
	"grenier/io/rundir"
	"grenier/kernels/colex"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	game "grenier/layers/chemin"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/check/compare"
	"grenier/pipeline/check/scrub"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/chemin"
	"grenier/pipeline/exchange"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/repair"
	"grenier/pipeline/swap/bench"
	"grenier/pipeline/swap/search"
	"grenier/pipeline/tables"
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

// usageErrors are the errors of other packages that a different command line
// avoids.
var usageErrors = []error{
	awari.ErrPits, awari.ErrRules, awari.ErrBoard, awari.ErrCount, awari.ErrSeeds,
	rundir.ErrOtherRun, tables.ErrUnsolved, scrub.ErrNoLayer, layerfile.ErrCodec, colex.ErrRange, colex.ErrOverflow,
	frame.ErrCodec, exchange.ErrFormat, compare.ErrGame,
	swap.ErrSize, swap.ErrTiles, swap.ErrText, game.ErrBoard, game.ErrOrder, chemin.ErrOption,
	heuristic.ErrCost, heuristic.ErrPattern, heuristic.ErrTooLarge,
	search.ErrSolver, search.ErrHeuristic, search.ErrDifficulty, bench.ErrOption,
}

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
	case errors.Is(err, verify.ErrDifferences), errors.Is(err, compare.ErrDifferences), errors.Is(err, bench.ErrWrong), isType[*illegalError](err),
		isType[*repair.DifferentError](err):
		return exitDifferences
	case isUsage(err):
		return exitUsage
	}
	return exitFailure
}

func isUsage(err error) bool {
	for _, target := range usageErrors {
		if errors.Is(err, target) {
			return true
		}
	}
	return isType[usageError](err) || isMemory(err) || isType[*cpu.UnknownError](err) || isType[*cpu.UnsupportedError](err) ||
		isType[*solve.OrderError](err)
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
