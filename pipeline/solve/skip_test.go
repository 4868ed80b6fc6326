package solve_test

import (
	"os"
	"path/filepath"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/solve"
)

// TestLongSkip: the last layer has the same bytes without the one below it; a resumed run leaves that out again, and one
// that does not leave it out makes the directory complete.
func TestLongSkip(t *testing.T) {
	game, last := awaritest.Game(t, 8, awari.Awari), tries.Pick(12, 16, awari.MaxSeeds)
	whole, dir := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "run")
	mustSolve(t, whole, game, options(last))
	o := options(last)
	o.Skip = last - 1
	mustSolve(t, dir, game, options(last-4)) // an earlier run
	mustSolve(t, dir, game, o)
	m := testrun.Manifest(t, dir)
	if m.Has(o.Skip) || !m.Has(last) || m.Layers[last].Checksum != testrun.Manifest(t, whole).Layers[last].Checksum {
		t.Errorf("layer %d: %+v", o.Skip, m.Layers[o.Skip:])
	}
	name := rundir.LayerName(last)
	must.Same(t, "another layer", string(must.Read(t, filepath.Join(whole, name))), string(must.Read(t, filepath.Join(dir, name))))
	again := mustSolve(t, dir, game, o)
	should.Hold(t, len(again) == 0, "solved again: %+v", again)
	filled := mustSolve(t, dir, game, options(last))
	should.Hold(t, len(filled) == 1 && filled[0].Layer.Seeds == o.Skip, "%+v instead of layer %d", filled, o.Skip)
	sameRun(t, whole, dir)
	should.Be(t, must.Err(solve.Solve(t.Context(), dir, game, o)), solve.ErrSkip, "leaving out a layer that is there")
}

// TestSkipRefused: only the layer below the last can be left out, and a run beyond that solves it.
func TestSkipRefused(t *testing.T) {
	game, dir := awaritest.Game(t, 8, awari.Awari), filepath.Join(t.TempDir(), "run")
	for skip, last := range map[int]int{3: 5, 6: 5, -1: 0, 5: 5} {
		o := options(last)
		o.Skip = skip
		should.Be(t, must.Err(solve.Solve(t.Context(), dir, game, o)), solve.ErrSkip, "%d of %d", skip, last)
	}
	should.Not(t, must.Err(os.Stat(dir)) == nil, "a refused run makes its directory")
	o := options(6)
	o.Skip = 5
	mustSolve(t, dir, game, o)
	mustSolve(t, dir, game, options(8)) // which needs layer 5
	whole := filepath.Join(t.TempDir(), "whole")
	mustSolve(t, whole, game, options(8))
	sameRun(t, whole, dir)
}

// TestSkipResumed: the last layer resumes from its checkpoint without the one below it, and so does that one when it is filled in.
func TestSkipResumed(t *testing.T) {
	const last = stepSeeds
	game := awaritest.Game(t, 8, awari.Awari)
	dir := stepRuns.below.Copy(t, func(dir string) { mustSolve(t, dir, game, options(last-1)) })
	whole := filepath.Join(t.TempDir(), "whole")
	must.OK(t, os.CopyFS(whole, os.DirFS(dir)))
	mustSolve(t, whole, game, options(last+1))
	resume := func(o solve.Options) {
		t.Helper()
		o.Interval = 1
		must.Hold(t, stopIn(t, dir, game, o, "dense"), "not stopped")
		notes := 0
		o.Note = func(string) { notes++ }
		reports := mustSolve(t, dir, game, o)
		should.Hold(t, len(reports) == 1 && notes == 0, "%d notes, %+v", notes, reports)
	}
	o := options(last + 1)
	o.Skip = last
	resume(o)
	name := rundir.LayerName(last + 1)
	must.Same(t, "another layer", string(must.Read(t, filepath.Join(whole, name))), string(must.Read(t, filepath.Join(dir, name))))
	resume(options(last + 1))
	sameRun(t, whole, dir)
}

// TestSkipSteps: the steps of the last layer leave out the one that their plan leaves out.
func TestSkipSteps(t *testing.T) {
	s := newStepper(t)
	s.options.Seeds, s.options.Skip = stepSeeds+1, stepSeeds-1
	plan := solve.Task{Name: solve.PlanTask}
	should.Be(t, must.Err(s.do(t.Context(), plan)), solve.ErrSkip, "a layer further below")
	s.options.Skip = stepSeeds
	s.mustPlan(t, 4)
	s.options.Skip = 0 // what the plan says stands
	for _, err := range s.all(t, 3, 2) {
		must.OK(t, err)
	}
	must.OK(t, must.Err(s.do(t.Context(), publishTask)))
	mustSolve(t, s.dir, s.game, options(stepSeeds+1)) // fills in the other one
	mustSolve(t, s.want, s.game, options(stepSeeds+1))
	sameRun(t, s.want, s.dir)
}

// TestFalseLower puts wrong scores under right checksums into each lower layer: the few positions
// that are checked give them away.
func TestFalseLower(t *testing.T) {
	game := awaritest.Game(t, 8, awari.Awari)
	for n := 1; n <= 7; n++ {
		layers := testrun.Solve(t, game, 7)
		for i, score := range layers[n] {
			if layers[n][i] = -score; score == 0 {
				layers[n][i] = 1
			}
		}
		dir := testrun.Write(t, game, layers, 64)
		path := filepath.Join(dir, rundir.LayerName(n))
		refuses(t, dir, game, 8, path, "false scores")
		should.Be(t, must.Err(solve.Solve(t.Context(), dir, game, options(7))), nil, "nothing is to be built on it")
	}
}
