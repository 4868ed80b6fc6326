package solve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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
	"grenier/io/spill"
	"grenier/io/vfs"
	"grenier/layers/awari"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/repair"
)

// forger changes what streams hold, under right checksums.
type forger struct {
	t     *testing.T
	rng   *rand.Rand
	work  vfs.Dir
	other vfs.Dir // streams of the layer under other rules
}

func (f *forger) must(err error) { f.t.Helper(); must.OK(f.t, err) }

// contents returns the header of a stream and what it holds.
func (f *forger) contents(d vfs.Dir, name string) (spill.Header, []byte) {
	f.t.Helper()
	h, err := spill.ReadHeader(d, name)
	f.must(err)
	r, err := spill.Open(d, name, h, 1)
	f.must(err)
	data, err := io.ReadAll(r)
	f.must(errors.Join(err, r.Close()))
	return h, data
}

// headOf is the length of the history, which most streams begin with, and of the base behind it.
const headOf = 68

// forge changes a random stream of the work directory and says how.
func (f *forger) forge() string {
	var names []string
	entries, err := f.work.Entries()
	f.must(err)
	for _, e := range entries {
		if e.Mode().IsRegular() && e.Name() != rundir.StatusName {
			names = append(names, e.Name())
		}
	}
	name := names[f.rng.IntN(len(names))]
	h, data := f.contents(f.work, name)
	how := f.change(name, names, data)
	f.write(name, h, data)
	return name + ": " + how
}

// write replaces what a stream holds.
func (f *forger) write(name string, h spill.Header, data []byte) {
	f.t.Helper()
	w, err := spill.Create(f.work, name, h, spill.LZ4, 1)
	f.must(err)
	_, err = w.Write(data)
	f.must(errors.Join(err, w.Publish()))
}

// change changes what a stream holds.
func (f *forger) change(name string, names []string, data []byte) string {
	at := min(headOf, len(data)) + f.rng.IntN(max(1, len(data)-headOf))
	end := min(len(data), at+1+f.rng.IntN(1<<f.rng.IntN(17)))
	switch f.rng.IntN(4) {
	case 0:
		for i := at; i < end; i++ {
			data[i] = byte(f.rng.Uint32())
		}
		return fmt.Sprintf("%d random bytes", end-at)
	case 1:
		if at < len(data) {
			data[at] ^= 1 << f.rng.IntN(8)
		}
		return "a bit"
	case 2:
		from := names[f.rng.IntN(len(names))]
		_, other := f.contents(f.work, from)
		copy(data[min(headOf, len(data)):], other[min(headOf, len(other)):])
		return "those of " + from
	}
	if ok, err := vfs.Exists(f.other, name); err == nil && ok {
		_, other := f.contents(f.other, name)
		copy(data[min(headOf, len(data)):], other[min(headOf, len(other)):])
	}
	return "those of other rules"
}

// TestExchangedScores: of what an earlier run has found in a window, a few scores have changed places. The sample that is drawn meanwhile may not
// have these; that of a resumed layer does, and the layer is not sealed. (In memory, sweeps correct them.)
func TestExchangedScores(t *testing.T) {
	const seeds, bytes = 12, 128
	game, stopped := awaritest.Game(t, 12, awari.Awari), filepath.Join(t.TempDir(), "run")
	mustSolve(t, stopped, game, options(seeds-1))
	whole, name, rng := testrun.Copy(t, stopped), rundir.LayerName(seeds), tries.Rand(t)
	mustSolve(t, whole, game, options(seeds))
	o := options(seeds)
	o.Interval, o.Bits = 1, 4
	must.Hold(t, stopIn(t, stopped, game, o, "seal"), "not stopped")
	refused := 0
	for range 6 {
		dir := testrun.Copy(t, stopped)
		work := must.Get(vfs.OpenDir(filepath.Join(dir, rundir.WorkName)))(t)
		f := &forger{t: t, work: work}
		h, data := f.contents(work, rundir.WindowName(0, 0))
		at := headOf + rng.IntN(len(data)-headOf-bytes)
		slices.Reverse(data[at : at+bytes])
		f.write(rundir.WindowName(0, 0), h, data)
		must.OK(t, work.Close())
		switch _, err := solve.Solve(t.Context(), dir, game, o); {
		case errors.Is(err, corrupt.ErrCorrupt):
			refused++
		case err != nil:
			t.Fatal(err)
		case string(must.Read(t, filepath.Join(dir, name))) != string(must.Read(t, filepath.Join(whole, name))):
			v, err := verify.Run(t.Context(), dir, verify.Options{Layers: []int{seeds}})
			if err != nil || v.Layers[0].Mismatches > fewWrong {
				t.Errorf("bytes %d to %d are reversed, and the layer is sealed with %d wrong scores; %v", at, at+bytes-1, v.Layers[0].Mismatches, err)
			}
		}
	}
	should.Not(t, refused == 0, "no layer is refused")
}

// TestChangedMeanwhile: scores that change places between being found and being sealed, in the same run, are seen by the sample that was drawn.
func TestChangedMeanwhile(t *testing.T) {
	const seeds = 12
	game, dir := awaritest.Game(t, 12, awari.Awari), filepath.Join(t.TempDir(), "run")
	mustSolve(t, dir, game, options(seeds-1))
	o, changed := options(seeds), 0
	o.Bits = 4
	o.Progress = func(step job.Step) {
		if step.Detail.(solve.Progress).Stage != "full" || changed > 0 {
			return
		}
		work := must.Get(vfs.OpenDir(filepath.Join(dir, rundir.WorkName)))(t)
		f := &forger{t: t, work: work}
		for part := range 9 {
			if there, err := vfs.Exists(work, rundir.WindowName(0, part)); err != nil || !there {
				continue
			}
			h, data := f.contents(work, rundir.WindowName(0, part))
			slices.Reverse(data[len(data)/2:])
			f.write(rundir.WindowName(0, part), h, data)
			changed++
		}
		must.OK(t, work.Close())
	}
	if _, err := solve.Solve(t.Context(), dir, game, o); !errors.Is(err, corrupt.ErrCorrupt) || changed == 0 || len(testrun.Manifest(t, dir).Layers) > seeds {
		t.Errorf("%d streams changed: %v", changed, err)
	}
}

// fewWrong is how many wrong scores a sample of a third of layer 12 may not show.
const fewWrong = 30

// TestLongForgedStreams resumes layers with streams that hold something else under right checksums: the layer is right, or it is not
// sealed, or so few of its scores are wrong, or wrong in such a way, that no sample shows it.
func TestLongForgedStreams(t *testing.T) {
	const seeds = 12
	rng := tries.Rand(t)
	game := awaritest.Game(t, 12, awari.Awari)
	whole := filepath.Join(t.TempDir(), "run")
	mustSolve(t, whole, game, options(seeds-1))
	below := testrun.Copy(t, whole)
	mustSolve(t, whole, game, options(seeds))
	strict := filepath.Join(t.TempDir(), "strict")
	mustSolve(t, strict, awaritest.Game(t, 12, awari.Strict), options(seeds-1))
	right, refused, wrong := 0, 0, 0
	for range tries.Pick(2, 10, 200) {
		o := options(seeds)
		o.Interval, o.Bits = 1, []int{8, 6, 4, 3, 2}[rng.IntN(5)]
		stage := []string{"dense", "sparse", "full", "seal"}[rng.IntN(4)]
		dir, other := testrun.Copy(t, below), testrun.Copy(t, strict)
		if !stopIn(t, dir, game, o, stage) {
			continue
		}
		stopIn(t, other, awaritest.Game(t, 12, awari.Strict), o, stage)
		how := forgeIn(t, rng, dir, other)
		_, err := solve.Solve(t.Context(), dir, game, o)
		name := rundir.LayerName(seeds)
		switch {
		case err != nil && errors.Is(err, corrupt.ErrCorrupt):
			refused++
			if !strings.Contains(err.Error(), rundir.WorkName) || len(testrun.Manifest(t, dir).Layers) != seeds {
				t.Errorf("%d bits, %s: %v, and %d layers are listed", o.Bits, how, err, len(testrun.Manifest(t, dir).Layers))
			}
		case err != nil:
			t.Fatal(err)
		case string(must.Read(t, filepath.Join(dir, name))) == string(must.Read(t, filepath.Join(whole, name))):
			right++
		default:
			wrong++
			v, err := verify.Run(t.Context(), dir, verify.Options{Layers: []int{seeds}})
			if err != nil || v.Layers[0].Mismatches > fewWrong {
				t.Errorf("%d scores are wrong; %v", v.Layers[0].Mismatches, err)
			}
			t.Logf("%d bits, stopped in %s, %s: other bytes; %d scores do not follow from their moves", o.Bits, stage, how, v.Layers[0].Mismatches)
		}
		must.OK(t, errors.Join(os.RemoveAll(dir), os.RemoveAll(other)))
	}
	t.Logf("%d right, %d refused, %d let through", right, refused, wrong)
}

// forgeIn forges a stream in a run directory.
func forgeIn(t *testing.T, rng *rand.Rand, dir, other string) string {
	f := &forger{t: t, rng: rng}
	var err error
	f.work, err = vfs.OpenDir(filepath.Join(dir, rundir.WorkName))
	f.must(err)
	f.other, err = vfs.OpenDir(filepath.Join(other, rundir.WorkName))
	f.must(err)
	defer func() { f.must(errors.Join(f.work.Close(), f.other.Close())) }()
	return f.forge()
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

// TestLongReplacedBelow replaces a layer below by a wrong one and by the right one again, between and within runs that are stopped at any
// moment. In the end the layer is right, or solve says that it was made from another one, and repair makes it right.
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
