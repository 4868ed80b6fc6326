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
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/spilltest"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/layers/awari"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/repair"
)

// anyStream draws one of those in a work directory that hold more than so many bytes.
func anyStream(t *testing.T, rng *rand.Rand, work vfs.Dir, bytes int) string {
	t.Helper()
	var all []string
	for _, e := range must.Get(work.Entries())(t) {
		if !e.Mode().IsRegular() || e.Name() == rundir.StatusName {
			continue
		}
		if _, data := spilltest.Read(t, work, e.Name()); len(data) > bytes {
			all = append(all, e.Name())
		}
	}
	return all[rng.IntN(len(all))]
}

// headOf is the length of the history, which most streams begin with, and of the base behind it.
const headOf = 68

// TestExchangedScores: of what an earlier run has stored, a few bytes have changed places, under right checksums. The sample that is drawn
// meanwhile may not have the scores of a window; that of a resumed layer does, and the layer is not sealed. (In memory, sweeps correct
// them.) Other streams lead to the right layer, to none, or to so few wrong scores that no sample shows them.
func TestExchangedScores(t *testing.T) {
	const seeds, bytes, fewWrong = stepSeeds, 128, 30
	layer := newStepper(t)
	game, rng := layer.game, layer.rng
	o, refused := options(seeds), map[string]int{}
	o.Interval, o.Bits = 50*time.Millisecond, 4
	for stage, rounds := range map[string]int{"seal": 2, "full": 1} {
		stopped := testrun.Copy(t, layer.dir)
		must.Hold(t, stopIn(t, stopped, game, o, stage), "not stopped")
		for range rounds {
			dir := testrun.Copy(t, stopped)
			work := must.Get(vfs.OpenDir(filepath.Join(dir, rundir.WorkName)))(t)
			name := rundir.WindowName(0, 0)
			if stage == "full" {
				name = anyStream(t, rng, work, headOf+bytes)
			}
			h, data := spilltest.Read(t, work, name)
			at := headOf + rng.IntN(len(data)-headOf-bytes)
			slices.Reverse(data[at : at+bytes])
			spilltest.Write(t, work, name, h, data)
			must.OK(t, work.Close())
			if _, err := solve.Solve(t.Context(), dir, game, o); err != nil {
				must.Be(t, err, corrupt.ErrCorrupt)
				should.Hold(t, strings.Contains(err.Error(), rundir.WorkName) && len(testrun.Manifest(t, dir).Layers) == seeds,
					"%s: %v", name, err)
				refused[stage]++
			} else if must.Tree(t, dir)[rundir.LayerName(seeds)] != must.Tree(t, layer.want)[rundir.LayerName(seeds)] {
				v, err := verify.Run(t.Context(), dir, verify.Options{Layers: []int{seeds}})
				should.Not(t, err != nil || v.Layers[0].Mismatches > fewWrong,
					"%s: bytes %d to %d are reversed, and the layer is sealed with %d wrong scores; %v", name, at, at+bytes-1, v.Layers[0].Mismatches, err)
			}
		}
	}
	t.Logf("refused: %v", refused)
	should.Not(t, refused["seal"] == 0, "no layer is refused")
}

// TestChangedMeanwhile: scores that change places between being found and being sealed, in the same run, are seen by the sample that was
// drawn.
func TestChangedMeanwhile(t *testing.T) {
	layer, o, changed := newStepper(t), options(stepSeeds+2), 0
	dir := layer.above(t) // which lacks a layer that takes long enough
	o.Bits = 4
	o.Progress = progress(func(p solve.Progress) {
		if p.Stage != "seal" || changed > 0 {
			return
		}
		work := must.Get(vfs.OpenDir(filepath.Join(dir, rundir.WorkName)))(t)
		for part := range 9 {
			name := rundir.WindowName(0, part)
			if !must.Get(vfs.Exists(work, name))(t) {
				continue
			}
			h, data := spilltest.Read(t, work, name)
			slices.Reverse(data[len(data)/2:])
			spilltest.Write(t, work, name, h, data)
			changed++
		}
		must.OK(t, work.Close())
	})
	_, err := solve.Solve(t.Context(), dir, layer.game, o)
	should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && changed > 0 && len(testrun.Manifest(t, dir).Layers) == stepSeeds+2,
		"%d streams changed: %v", changed, err)
}

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
	o.Progress = progress(func(p solve.Progress) {
		if calls--; calls != 0 || p.Stage == "check" {
			return
		}
		if during {
			testrun.TakeLayer(r.t, r.dir, r.source(), lower)
		} else {
			cancel()
		}
	})
	_, err := solve.Solve(ctx, r.dir, r.game, o)
	must.Not(r.t, err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, corrupt.ErrCorrupt), "%v", err)
	return err
}

func (r *replacement) source() string { return []string{r.right, r.wrong}[r.rng.IntN(2)] }

// TestLongReplacedBelow replaces a layer below by a wrong one and by the right one again, between and within runs that are stopped at any
// moment. In the end the layer is right, or solve says that it was made from another one, and repair makes it right.
func TestLongReplacedBelow(t *testing.T) {
	const seeds = stepSeeds
	s := newStepper(t)
	game, rng, right, whole := s.game, s.rng, s.dir, s.want
	before := testrun.Write(t, game, testrun.Solve(t, game, seeds-1), layerfile.MaxBlockSize) // files that name no layers below
	noted, stale := 0, 0
	for round := range tries.Pick(2, 8, 300) {
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
	made := must.As[*manifest.StaleError](r.t, err)
	must.Hold(r.t, errors.Is(err, corrupt.ErrCorrupt) && made.Seeds == r.seeds && slices.Equal(made.From, []int{lower}), "%v", err)
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
