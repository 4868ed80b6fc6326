// Package tabletest solves layers by the engine, and opens tables, for tests.
package tabletest

import (
	"errors"
	"os"
	"sync"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

// Open opens tables until the test ends, which may close them before.
func Open(t testing.TB, place string, options ...tables.Option) *tables.Tables {
	t.Helper()
	tab := must.Get(tables.Open(t.Context(), place, options...))(t)
	t.Cleanup(func() {
		err := tab.Close()
		should.Not(t, err != nil && !errors.Is(err, os.ErrClosed), "%v", err)
	})
	return tab
}

type run struct {
	game  awari.Game
	seeds int
}

// runs has a testrun.Fixture for each run.
var runs sync.Map

// Solve returns a new run directory with the layers 0 to seeds, by the engine. A process solves them once.
func Solve(t testing.TB, game awari.Game, seeds int) string {
	t.Helper()
	made, _ := runs.LoadOrStore(run{game, seeds}, new(testrun.Fixture))
	return made.(*testrun.Fixture).Copy(t, func(dir string) {
		_, err := solve.Solve(t.Context(), dir, game, solve.Options{Seeds: seeds, Job: job.Job{Workers: 2, Family: cpu.Best()}})
		must.OK(t, err)
	})
}

// Solved opens the tables of such a run.
func Solved(t testing.TB, game awari.Game, seeds int) *tables.Tables {
	t.Helper()
	return Open(t, Solve(t, game, seeds))
}
