package batch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"grenier/io/layerfile"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/batch"
	"grenier/pipeline/halfboard"
)

func long() bool { return os.Getenv("GRENIER_LONG") != "" }

// pagedSeeds is the smallest layer that can be solved out of core.
const pagedSeeds = 17

// copyRun returns a new directory with the same files.
func copyRun(t *testing.T, from string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// pagedWorkers is the most workers that solve the layer out of core.
const pagedWorkers = 4

// pagedOptions are those of a solver that adds the layer out of core.
func pagedOptions(game awari.Game) batch.Options {
	o := options(pagedSeeds)
	o.Memory, o.Interval = halfboard.Least(game, pagedSeeds, pagedWorkers), 200*time.Millisecond
	return o
}

// TestPagedSameBytes solves a layer that does not fit into memory in every way that must
// not matter, and with checkpoints from which a run goes on in another way.
func TestPagedSameBytes(t *testing.T) {
	if !long() {
		t.Skip("solves 17 seeds several times: needs GRENIER_LONG=1")
	}
	game, below := mustGame(t, 12, awari.Awari), t.TempDir()
	mustSolve(t, below, game, options(pagedSeeds-1))
	least, most := halfboard.Least(game, pagedSeeds, pagedWorkers), halfboard.Whole(game, pagedSeeds, 1)
	if least >= most {
		t.Fatalf("nothing is out of core: %d bytes are needed, of %d", least, most)
	}
	variants := []func(*batch.Options){
		func(o *batch.Options) { o.Workers = pagedWorkers },
		func(o *batch.Options) { o.Workers, o.Family = 1, cpu.Generic },
		func(o *batch.Options) { o.Codec, o.Memory = layerfile.Zstd, (least+most)/2 },
		func(o *batch.Options) { o.Memory, o.Workers = most-1, 1 },
		func(o *batch.Options) { o.Interval = time.Millisecond },
	}
	whole := map[layerfile.Codec]string{}
	for i, vary := range variants {
		o := pagedOptions(game)
		vary(&o)
		if whole[o.Codec] == "" {
			inMemory := options(pagedSeeds)
			inMemory.Codec = o.Codec
			whole[o.Codec] = copyRun(t, below)
			mustSolve(t, whole[o.Codec], game, inMemory)
		}
		want := whole[o.Codec]
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			dir := copyRun(t, below)
			solvePaged(t, dir, game, o)
			sameRun(t, want, dir)
		})
	}
}

// solvePaged solves one layer and checks that it was not in memory, and that nothing was
// noted.
func solvePaged(t *testing.T, dir string, game awari.Game, o batch.Options) batch.Report {
	t.Helper()
	o.Note = func(text string) { t.Errorf("note: %s", text) }
	reports := mustSolve(t, dir, game, o)
	if len(reports) != 1 || reports[0].Pipeline() == nil {
		t.Fatalf("not out of core: %+v", reports)
	}
	return reports[0]
}

// TestPagedContinue stops an out-of-core layer in each of its stages and continues in
// other ways, the last of which has memory enough.
func TestPagedContinue(t *testing.T) {
	if !long() {
		t.Skip("solves 17 seeds several times: needs GRENIER_LONG=1")
	}
	game, below := mustGame(t, 12, awari.Awari), t.TempDir()
	mustSolve(t, below, game, options(pagedSeeds-1))
	want := copyRun(t, below)
	mustSolve(t, want, game, options(pagedSeeds))
	next := []func(*batch.Options){
		func(o *batch.Options) { o.Workers, o.Family = 1, cpu.Generic },
		func(o *batch.Options) {
			o.Workers, o.Memory = pagedWorkers, halfboard.Whole(game, pagedSeeds, pagedWorkers)-1
		},
		func(o *batch.Options) { o.Memory = 0 },
		func(o *batch.Options) { o.Memory = 1 << 40 },
	}
	for i, stage := range []string{"capture", "dense", "full", "seal"} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			dir := copyRun(t, below)
			start := time.Now()
			if !stopIn(t, dir, game, pagedOptions(game), stage) {
				t.Fatal("not stopped")
			}
			stopped, again := time.Since(start), time.Now()
			for _, name := range []string{"tiles", "tiles.checkpoint"} {
				if _, err := os.Stat(filepath.Join(dir, rundir.WorkName, name)); err != nil {
					t.Error(err)
				}
			}
			o := pagedOptions(game)
			next[i](&o)
			took := solvePaged(t, dir, game, o)
			sameRun(t, want, dir)
			sumUp(t, took, stopped, time.Since(again))
		})
	}
}

// sumUp checks that a layer that was stopped tells of the time of both runs.
func sumUp(t *testing.T, r batch.Report, stopped, rest time.Duration) {
	t.Helper()
	stages := time.Duration(0)
	for _, took := range r.Stages() {
		stages += took
	}
	if r.Engine.Before < stopped/4 || r.Engine.Before > stopped {
		t.Errorf("stopped after %v, %v of that are known", stopped, r.Engine.Before)
	}
	if r.Elapsed <= r.Engine.Before || r.Elapsed > r.Engine.Before+rest || r.Layer.Seconds != r.Elapsed.Seconds() {
		t.Errorf("%v before and %v since make %v, %v s in the manifest", r.Engine.Before, rest, r.Elapsed, r.Layer.Seconds)
	}
	if stages > r.Elapsed || stages < r.Elapsed/4 {
		t.Errorf("stages take %v of %v", stages, r.Elapsed)
	}
}

// stopIn solves until a report of the stage that is neither its first nor its end, if
// there is one, and reports whether that stopped it.
func stopIn(t *testing.T, dir string, game awari.Game, o batch.Options, stage string) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(p batch.Progress) {
		if p.Stage == stage && (p.Done > p.Positions/3 || p.Sweep > 2) {
			cancel()
		}
	}
	return stopped(t, ctx, dir, game, o)
}

// TestPagedStale leaves the work of a layer that is sealed, as a crash just then does.
func TestPagedStale(t *testing.T) {
	if !long() {
		t.Skip("solves 18 seeds: needs GRENIER_LONG=1")
	}
	game, below := mustGame(t, 12, awari.Awari), t.TempDir()
	mustSolve(t, below, game, options(pagedSeeds-1))
	want := copyRun(t, below)
	mustSolve(t, want, game, options(pagedSeeds+1))
	stale := copyRun(t, below)
	if !stopIn(t, stale, game, pagedOptions(game), "seal") {
		t.Fatal("not stopped")
	}
	work := filepath.Join(stale, rundir.WorkName)
	mustSolve(t, below, game, options(pagedSeeds)) // sealed by now
	t.Run("nothing to do", func(t *testing.T) {
		dir := copyRun(t, below)
		if err := os.CopyFS(filepath.Join(dir, rundir.WorkName), os.DirFS(work)); err != nil {
			t.Fatal(err)
		}
		mustSolve(t, dir, game, options(pagedSeeds))
		if left, err := os.ReadDir(filepath.Join(dir, rundir.WorkName)); err != nil || len(left) > 0 {
			t.Errorf("%v is left in work/; %v", left, err)
		}
	})
	for name, memory := range map[string]uint64{"in memory": 0, "out of core": halfboard.Least(game, pagedSeeds+1, pagedWorkers)} {
		t.Run(name, func(t *testing.T) {
			dir := copyRun(t, below)
			if err := os.CopyFS(filepath.Join(dir, rundir.WorkName), os.DirFS(work)); err != nil {
				t.Fatal(err)
			}
			o := options(pagedSeeds + 1)
			o.Memory = memory
			o.Note = func(text string) { t.Errorf("note: %s", text) }
			mustSolve(t, dir, game, o)
			sameRun(t, want, dir)
		})
	}
}
