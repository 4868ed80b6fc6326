package solve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/repair"
)

// A layer is never computed from parts that rest on different layers below: what is in work/ knows what it
// was made from, and so does a sealed layer.

// wrongRun returns a run directory with the layers below one of the given seeds. A few scores of layer n are wrong,
// so few that no sample of it shows them.
func wrongRun(t *testing.T, rng *rand.Rand, game awari.Game, seeds, n int) string {
	layers := testrun.Solve(t, game, seeds-1)
	for range 1 + len(layers[n])/8000 {
		i := rng.IntN(len(layers[n]))
		layers[n][i] = int8(rng.IntN(2*n+1) - n)
	}
	return testrun.Write(t, game, layers, layerfile.MaxBlockSize)
}

// replacement is a run whose layers are replaced by wrong ones and by the right ones again.
type replacement struct {
	t            *testing.T
	rng          *rand.Rand
	game         awari.Game
	seeds        int
	dir          string
	right, wrong string // run directories
	options      solve.Options
	notes        []string
}

// attempt solves the layer, or stops, or has a layer below replaced while it is solved.
func (r *replacement) attempt(lower int) error {
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	o, calls, during := r.options, 1+r.rng.IntN(1<<r.rng.IntN(7)), r.rng.IntN(8) == 0
	o.Progress = func(step job.Step) {
		p := step.Detail.(solve.Progress)
		if calls--; calls != 0 || p.Stage == "check" {
			return
		}
		if during {
			testrun.TakeLayer(r.t, r.dir, r.source(), lower)
		} else {
			cancel()
		}
	}
	_, err := solve.Solve(ctx, r.dir, r.game, o)
	must.Not(r.t, err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, corrupt.ErrCorrupt), "%v", err)
	return err
}

// source returns one of the directories.
func (r *replacement) source() string { return []string{r.right, r.wrong}[r.rng.IntN(2)] }

// TestLongReplacedBelow replaces a layer below by a wrong one and by the right one again, between and within runs that are
// stopped at any moment. In the end the layer is right, or solve says that it was made from
// another one, and repair makes it right.
func TestLongReplacedBelow(t *testing.T) {
	const seeds = 13
	game, rng := awaritest.Game(t, 8, awari.Awari), tries.Rand(t)
	whole := filepath.Join(t.TempDir(), "run")
	mustSolve(t, whole, game, options(seeds-1))
	right := testrun.Copy(t, whole)
	mustSolve(t, whole, game, options(seeds))
	before := testrun.Write(t, game, testrun.Solve(t, game, seeds-1), layerfile.MaxBlockSize) // files that name no layers below
	noted, stale := 0, 0
	for round := range tries.Pick(6, 20, 300) {
		least, most := game.CapturesLeadTo(seeds)
		lower := max(least, most-rng.IntN(5)) // of small ones, samples show each wrong score
		r := &replacement{t: t, rng: rng, game: game, seeds: seeds, right: before, wrong: wrongRun(t, rng, game, seeds, lower)}
		if rng.IntN(4) == 0 {
			r.right = right
		}
		r.dir = testrun.Copy(t, r.right)
		r.options = options(seeds)
		r.options.Interval, r.options.Bits = 1, []int{0, 8, 6, 4, 3, 2}[rng.IntN(6)]
		r.options.Note = func(text string) { r.notes = append(r.notes, text) }
		if rng.IntN(8) == 0 {
			r.options.Engine, r.options.Bits = solve.Retrograde, 0
		}
		for range 1 + rng.IntN(4) {
			testrun.TakeLayer(t, r.dir, r.source(), lower)
			if r.attempt(lower) == nil {
				break
			}
		}
		testrun.TakeLayer(t, r.dir, r.right, lower)
		_, err := solve.Solve(t.Context(), r.dir, game, r.options)
		if err != nil {
			stale++
			r.mend(err, lower)
		}
		if strings.Contains(strings.Join(r.notes, "\n"), fmt.Sprintf("layer %d is computed from the beginning", seeds)) {
			noted++
		}
		name := rundir.LayerName(seeds)
		must.Hold(t, bytes.Equal(must.Read(t, filepath.Join(r.dir, name)), must.Read(t, filepath.Join(whole, name))),
			"round %d, layer %d replaced, %d bits: another layer %d; notes %q", round, lower, r.options.Bits, seeds, r.notes)
		must.OK(t, os.RemoveAll(r.dir))
	}
	t.Logf("%d began anew, %d layers were made from another one", noted, stale)
	should.Not(t, tries.Full() && (noted == 0 || stale == 0), "too few")
}

// mend checks what solve says of a layer that was sealed over a wrong one, and solves it again.
func (r *replacement) mend(err error, lower int) {
	made, ok := errors.AsType[*manifest.StaleError](err)
	must.Hold(r.t, ok && errors.Is(err, corrupt.ErrCorrupt) && made.Seeds == r.seeds && len(made.From) == 1 && made.From[0] == lower,
		"%v", err)
	o := repair.Options{Solve: r.options}
	o.Solve.Progress = nil
	result, err := repair.Run(r.t.Context(), r.dir, o)
	must.Hold(r.t, err == nil && !result.OK && errors.As(result.Err(), &made) && made.Seeds == r.seeds, "%v %v", err, result)
	o.SetAside = true
	for _, o.DryRun = range []bool{true, false} {
		result, err := repair.Run(r.t.Context(), r.dir, o)
		must.Hold(r.t, err == nil && result.Err() == nil && slices.Equal(result.Layers[r.seeds].MadeFrom, []int{lower}) && result.Layers[r.seeds].Action == repair.Solve,
			"%v %v", err, result)
	}
	aside, err := filepath.Glob(filepath.Join(r.dir, rundir.LayerName(r.seeds)+".damaged-*"))
	should.Hold(r.t, err == nil && len(aside) == 1, "set aside: %q, %v", aside, err)
}
