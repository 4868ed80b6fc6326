package solve_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
)

// TestLostLock removes the lock in the midst of a layer and lets a second solver finish:
// the first one ends without touching what the second one makes.
func TestLostLock(t *testing.T) {
	game, dir, whole := awaritest.Game(t, 8, awari.Awari), filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "whole")
	mustSolve(t, whole, game, options(8))
	o, stolen := options(8), false
	o.Progress = func(step job.Step) {
		p := step.Detail.(solve.Progress)
		if stolen || p.Seeds != 6 {
			return
		}
		stolen = true
		should.OK(t, os.Remove(filepath.Join(dir, rundir.LockName)))
		mustSolve(t, dir, game, options(7))
	}
	reports, err := solve.Solve(t.Context(), dir, game, o)
	lost, ok := errors.AsType[*rundir.LostError](err)
	must.Hold(t, ok && lost.Path == dir && len(reports) == 6, "%d layers, error %v", len(reports), err)
	mustSolve(t, dir, game, options(8))
	sameRun(t, whole, dir)
}
