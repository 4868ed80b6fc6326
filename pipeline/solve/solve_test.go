package solve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/internal/halfboard"
	"grenier/pipeline/solve/plan"
	"grenier/pipeline/tables"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// options are those of most tests.
func options(seeds int) solve.Options {
	return solve.Options{Seeds: seeds, Job: job.Job{Workers: 2, Family: cpu.Best()}}
}

func mustSolve(t *testing.T, dir string, game awari.Game, o solve.Options) []solve.Report {
	t.Helper()
	return must.Get(solve.Solve(t.Context(), dir, game, o))(t)
}

// sameRun fails unless two run directories hold the same bytes, the seconds in the manifest aside, and nothing else.
func sameRun(t *testing.T, want, got string) {
	t.Helper()
	a, b := must.Tree(t, want), must.Tree(t, got)
	must.Equal(t, cmp.Diff(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))), "", "files (-%s +%s)", want, got)
	for name := range a {
		should.Not(t, name != rundir.ManifestName && a[name] != b[name], "%s differs between %s and %s", name, want, got)
	}
	ignored := cmpopts.IgnoreFields(manifest.Layer{}, "Seconds")
	should.Equal(t, cmp.Diff(testrun.Manifest(t, want), testrun.Manifest(t, got), ignored), "", "manifests (-%s +%s)", want, got)
}

// tidy is what a run directory holds besides layers when nobody works on it.
func tidy(t *testing.T, dir string, layers int) {
	t.Helper()
	want := []string{".", "lock", "manifest.json", "work"}
	for n := range layers {
		want = append(want, rundir.LayerName(n))
	}
	slices.Sort(want)
	files := must.Tree(t, dir)
	should.Equal(t, cmp.Diff(want, slices.Sorted(maps.Keys(files))), "", "files of %s (-want +got)", dir)
	should.Equal(t, files["lock"], "", "the lock of %s names a process", dir)
}

func TestReports(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "run")
	o := options(7)
	var sealed []int
	o.Events = func(e solve.Event) error {
		if r, ok := e.(solve.Sealed); ok {
			sealed = append(sealed, r.Layer.Seeds)
			should.Be(t, must.Err(os.Stat(filepath.Join(dir, r.Layer.File))), nil, "layer %d reported before it is there", r.Layer.Seeds)
		}
		return nil
	}
	reports := mustSolve(t, dir, awaritest.Game(t, 6, awari.Awari), o)
	want := []int{0, 1, 2, 3, 4, 5, 6, 7}
	should.Hold(t, slices.Equal(sealed, want), "sealed %v, want %v", sealed, want)
	tidy(t, dir, 8)
	m := testrun.Manifest(t, dir)
	for n, r := range reports {
		should.Equal(t, cmp.Diff(m.Layers[n], r.Layer), "", "layer %d (-manifest +report)", n)
		should.Hold(t, len(r.Stages()) == 5 && r.Elapsed > 0 && r.Elapsed >= r.Seal, "layer %d: stages %v in %v", n, r.Stages(), r.Elapsed)
	}
}

// TestResume stops after every layer and resumes; what is solved already is left alone.
func TestResume(t *testing.T) {
	game := awaritest.Game(t, 8, awari.Strict)
	whole, parts := t.TempDir(), t.TempDir()
	mustSolve(t, whole, game, options(9))
	for n := range 10 {
		reports := mustSolve(t, parts, game, options(n))
		must.Hold(t, len(reports) == 1 && reports[0].Layer.Seeds == n, "up to %d seeds: %d reports", n, len(reports))
		before := must.Tree(t, parts)
		again := append(mustSolve(t, parts, game, options(n)), mustSolve(t, parts, game, options(n/2))...)
		should.Hold(t, len(again) == 0, "up to %d seeds again: %d reports", n, len(again))
		must.Same(t, "another result", before, must.Tree(t, parts))
	}
	sameRun(t, whole, parts)
}

// TestOtherRun: a run of other rules, or one that somebody works on, stays as it is.
func TestOtherRun(t *testing.T) {
	dir, game := t.TempDir(), awaritest.Game(t, 6, awari.Strict)
	mustSolve(t, dir, game, options(3))
	before := must.Tree(t, dir)
	for _, asked := range []awari.Game{awaritest.Game(t, 6, awari.Awari), awaritest.Game(t, 8, awari.Strict)} {
		err := must.Err(solve.Solve(t.Context(), dir, asked, options(5)))
		e := must.As[*rundir.OtherRunError](t, err)
		should.Hold(t, errors.Is(err, rundir.ErrOtherRun) && e.Path == dir && e.Has.Rules == "strict" &&
			e.Has.Pits == 6 && e.Asked == solve.Identity(asked),
			"error %+v", e)
	}
	must.Same(t, "another result", before, must.Tree(t, dir))
	locked := must.Get(rundir.Lock(dir, solve.Identity(game)))(t)
	holder := must.As[*rundir.LockedError](t, must.Err(solve.Solve(t.Context(), dir, game, options(4))))
	should.Equal(t, holder.PID, os.Getpid())
	must.OK(t, locked.Unlock())
	mustSolve(t, dir, game, options(4))
}

// TestImpossible: layers that do not exist, and what no layer fits, are refused before anything is made.
func TestImpossible(t *testing.T) {
	dir, game := filepath.Join(t.TempDir(), "run"), awaritest.Game(t, 12, awari.Awari)
	for _, seeds := range []int{-1, awari.MaxSeeds + 1} {
		should.Be(t, must.Err(solve.Solve(t.Context(), dir, game, options(seeds))), awari.ErrSeeds, "%d seeds", seeds)
	}
	for _, c := range []struct {
		o            solve.Options
		memory, need uint64
		says         string
	}{
		{options(awari.MaxSeeds), 1 << 10, 1<<10 + 1, "too little for any layer"},
		{options(awari.MaxSeeds), 1 << 30, 1<<30 + 1, "enough up to layer "},
		{retrograde(20), 100 << 20, 84_672_315 * 29, "enough up to layer "}, // as many boards
	} {
		c.o.Memory = c.memory
		err := must.Err(solve.Solve(t.Context(), dir, game, c.o))
		limit, largest := must.As[*memory.Error](t, err), strings.HasPrefix(c.says, "enough")
		should.Hold(t, limit.Need >= c.need && limit.Allowed == c.memory && strings.HasPrefix(limit.Enough, "enough") == largest &&
			strings.Contains(err.Error(), c.says), "%d bytes: %v, %+v, want %q", c.memory, err, limit, c.says)
		c.o.Memory = limit.Need
		should.Be(t, c.o.Check(game), nil, "what is said to be needed is refused")
	}
	should.Be(t, must.Err(os.Stat(dir)), fs.ErrNotExist, "the directory was made")
}

// TestLeftovers puts in work/ and beside the layers what crashes may leave.
func TestLeftovers(t *testing.T) {
	game, want, dir := awaritest.Game(t, 6, awari.Awari), t.TempDir(), t.TempDir()
	mustSolve(t, want, game, options(6))
	mustSolve(t, dir, game, options(4))
	junk := bytes.Repeat([]byte("junk"), 1000)
	layer := must.Read(t, filepath.Join(want, rundir.LayerName(4)))
	for name, text := range map[string][]byte{
		"layer-05.gl.0123456789abcdef.tmp": junk, "work/checkpoint": junk, "work/tiles.0123456789abcdef.tmp": junk,
		"manifest.json.00112233445566aa.tmp": junk, "layer-05.gl": layer, "layer-06.gl": layer[:100],
	} {
		replaceFile(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	mustSolve(t, dir, game, options(6))
	sameRun(t, want, dir)
}

// TestForeign puts into a run directory what is not of this program: it stays, and what is in the way stops the run before it begins.
func TestForeign(t *testing.T) {
	game, dir := awaritest.Game(t, 6, awari.Awari), t.TempDir()
	mustSolve(t, dir, game, options(4))
	thesis := []byte("thesis")
	names := []string{"work/thesis", "work/tiles.tmp", "thesis.gl", "layer-05.gl.tmp", "layer-5.gl"}
	for _, name := range names {
		replaceFile(t, filepath.Join(dir, filepath.FromSlash(name)), thesis)
	}
	mustSolve(t, dir, game, options(6))
	for _, name := range names {
		should.Equal(t, must.Tree(t, dir)[filepath.FromSlash(name)], string(thesis), "%s holds", name)
	}
	inTheWay := filepath.Join(dir, "layer-08.gl")
	replaceFile(t, inTheWay, thesis)
	refuses(t, dir, game, 9, inTheWay, "foreign")
}

// TestCorruptLower damages each layer that the next one needs, or puts that of another run into its place.
func TestCorruptLower(t *testing.T) {
	game, other := awaritest.Game(t, 6, awari.Awari), t.TempDir()
	mustSolve(t, other, awaritest.Game(t, 6, awari.Strict), options(5))
	for layer := range 5 {
		dir := t.TempDir()
		mustSolve(t, dir, game, options(5))
		path := filepath.Join(dir, rundir.LayerName(layer))
		text := must.Read(t, path)
		flipped := func(i int) []byte { return slices.Concat(text[:i], []byte{text[i] ^ 0x10}, text[i+1:]) }
		for name, bad := range map[string][]byte{
			"block": flipped(80), "header": flipped(9), "footer": flipped(len(text) - 9), "index": flipped(len(text) - 90),
			"short": text[:len(text)-1], "empty": {}, "missing": nil, "other rules": must.Read(t, filepath.Join(other, rundir.LayerName(layer))),
		} {
			replaceFile(t, path, bad)
			refuses(t, dir, game, 6, path, name)
		}
	}
}

// refuses checks that layer n cannot be solved because of the file at path.
func refuses(t *testing.T, dir string, game awari.Game, n int, path, name string) {
	t.Helper()
	before := must.Tree(t, dir)
	reports, err := solve.Solve(t.Context(), dir, game, options(n))
	should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), path) && len(reports) == 0,
		"%s, %s: %d reports, error %v", path, name, len(reports), err)
	should.Equal(t, cmp.Diff(before, must.Tree(t, dir)), "", "%s, %s: the directory has changed", path, name)
}

// replaceFile makes text the contents of the file, or removes it if text is nil.
func replaceFile(t *testing.T, path string, text []byte) {
	t.Helper()
	if must.OK(t, os.RemoveAll(path)); text != nil {
		must.Write(t, path, text)
	}
}

// TestLongCancel stops in every stage that reports progress, in the second layer that a run works on. The largest layers have several
// blocks to seal. The retrograde engine begins the layer again.
func TestLongCancel(t *testing.T) {
	seeds := tries.More(4, 9)
	game, want := awaritest.Game(t, 12, awari.Awari), t.TempDir()
	mustSolve(t, want, game, options(seeds))
	for _, o := range []solve.Options{options(seeds), retrograde(seeds)} {
		for _, stage := range []string{"capture", "dense", "full", "seal"} {
			dir, stopped, first := t.TempDir(), 0, -1
			for ; stopWhen(t, dir, game, o, func(p solve.Progress) bool {
				if first < 0 {
					first = p.Seeds
				}
				return p.Stage == stage && p.Seeds > first
			}); stopped++ {
				tidy(t, dir, len(testrun.Manifest(t, dir).Layers))
				first = -1
			}
			should.Not(t, stopped == 0 && (stage != "full" || o.Engine != solve.Retrograde) || stopped > seeds,
				"stopped %d times in the %s stage", stopped, stage)
			sameRun(t, want, dir)
		}
	}
}

// stopWhen solves until a report of progress, and says whether that ended the run.
func stopWhen(t *testing.T, dir string, game awari.Game, o solve.Options, when func(p solve.Progress) bool) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = progress(func(p solve.Progress) {
		if when(p) {
			cancel()
		}
	})
	_, err := solve.Solve(ctx, dir, game, o)
	must.Not(t, err != nil && !errors.Is(err, ctx.Err()), "%v", err)
	return err != nil
}

func progress(do func(p solve.Progress)) func(job.Step) {
	return func(step job.Step) { do(step.Detail.(solve.Progress)) }
}

// TestProgress looks at every report of a run and of its continuation by the other engine.
func TestProgress(t *testing.T) {
	game, dir := awaritest.Game(t, 8, awari.Awari), t.TempDir()
	for _, o := range []solve.Options{options(6), options(11), retrograde(12)} {
		o.Workers = 5
		var last solve.Progress
		o.Progress = progress(func(p solve.Progress) {
			should.Not(t, p.RunDone < last.RunDone || p.Seeds < last.Seeds || p.RunDone > p.RunTotal || p.Done > p.Positions ||
				p.Share < 0 || p.Share > 1 || p.Seeds == last.Seeds && p.Share < last.Share || !(p.Rate >= 0 && p.Rate < 1e12),
				"after %+v comes %+v", last, p)
			last = p
		})
		positions := 0.0
		for _, r := range mustSolve(t, dir, game, o) {
			positions += float64(r.Layer.Positions)
		}
		should.Hold(t, last.RunDone == last.RunTotal && last.RunTotal == positions && last.Seeds == o.Seeds && last.Stage == "seal" && last.Share == 1,
			"the end is %+v, want %v positions", last, positions)
	}
}

// TestEvents: events come while the directory is locked, the end in any case, and who fails at one ends the run.
func TestEvents(t *testing.T) {
	game, dir := awaritest.Game(t, 4, awari.Awari), filepath.Join(t.TempDir(), "run")
	refused, told, fails, seen := errors.New("refused"), "", "", map[string]bool{}
	o := options(1)
	o.Events = func(e solve.Event) error {
		name := strings.TrimPrefix(fmt.Sprintf("%T", e), "solve.")
		told += name + " "
		if !seen[name] { // a try takes a while
			should.Not(t, must.Err(rundir.Lock(dir, solve.Identity(game))) == nil, "%s: the directory is not locked", name)
			seen[name] = true
		}
		ended, _ := e.(solve.Ended)
		should.Not(t, ended.Err != nil && !errors.Is(ended.Err, refused) && !errors.Is(ended.Err, context.Canceled), "ended with %v", ended.Err)
		if name == fails {
			return refused
		}
		return nil
	}
	for _, c := range []struct {
		ctx         context.Context
		seeds       int
		fails, told string
		want        error
	}{
		{t.Context(), 1, "Locked", "Locked Ended ", refused},
		{t.Context(), 1, "Begins", "Locked Begins Ended ", refused},
		{t.Context(), 1, "Sealed", "Locked Begins Sealed Ended ", refused},
		{t.Context(), 1, "Ended", "Locked Begins Sealed Ended ", refused},
		{t.Context(), 1, "", "Locked Ended ", nil},
		{must.Ended(t), 4, "", "Locked Begins Ended ", context.Canceled},
	} {
		told, fails, o.Seeds = "", c.fails, c.seeds
		should.Be(t, must.Err(solve.Solve(c.ctx, dir, game, o)), c.want)
		should.Equal(t, told, c.told, "told")
	}
	tidy(t, dir, 2)
}

// roomy returns options for a disk on which so many bytes are free.
func roomy(seeds int, free uint64) solve.Options {
	o := options(seeds)
	o.Free = func(string) (uint64, error) { return free, nil }
	return o
}

// TestNoRoom: what has no room on the disk is refused before anything is changed, and only what is still to do counts. A disk of unknown
// size is taken to be large enough; other errors are reported.
func TestNoRoom(t *testing.T) {
	game, dir := awaritest.Game(t, 8, awari.Awari), filepath.Join(t.TempDir(), "run")
	err := must.Err(solve.Solve(t.Context(), dir, game, roomy(11, 1000)))
	e := must.As[*rundir.RoomError](t, err)
	should.Hold(t, e.Path == dir && e.Free == 1000 && e.Need >= 50e3, "%+v", e)
	should.Has(t, err.Error(), "layer 11", dir, "1000 B free", "enough up to layer ")
	should.Be(t, must.Err(os.Stat(dir)), os.ErrNotExist, "the directory was made")
	mustSolve(t, dir, game, roomy(10, 1<<20))
	mustSolve(t, dir, game, roomy(10, 0)) // nothing to do
	before := must.Tree(t, dir)
	err = must.Err(solve.Solve(t.Context(), dir, game, roomy(11, 1000)))
	next := must.As[*rundir.RoomError](t, err)
	should.Hold(t, next.Need < e.Need && strings.Contains(err.Error(), "too little for layer 11"), "error %v", err)
	should.Equal(t, len(must.Tree(t, dir)), len(before), "files")
	mustSolve(t, dir, game, roomy(11, next.Need))
	o, broken := options(12), errors.New("broken")
	o.Free = func(string) (uint64, error) { return 0, broken }
	should.Be(t, must.Err(solve.Solve(t.Context(), dir, game, o)), broken)
	planned := plan.Run{Game: game, Seeds: 12, Cores: 2}
	should.Be(t, must.Err(o.Disks(dir, planned)), broken)
	o.Free = func(string) (uint64, error) { return 0, errors.ErrUnsupported }
	disks := must.Get(o.Disks(dir, planned))(t)
	should.Hold(t, len(disks) == 1 && disks[0].Path == dir && disks[0].Need > 0 && disks[0].Free == nil, "%+v", disks)
	mustSolve(t, dir, game, o)
	o.Layers = "\x00"
	should.Not(t, must.Err(o.Disks(dir, planned)) == nil, "layers go where nothing can be")
}

// TestNoRoomForStreams: streams of layers in windows count, as a plan says.
func TestNoRoomForStreams(t *testing.T) {
	game, dir := awaritest.Game(t, 12, awari.Awari), filepath.Join(t.TempDir(), "run")
	refused := func(memory uint64) uint64 {
		t.Helper()
		o := roomy(22, 1<<20)
		o.Memory = memory
		e := must.As[*rundir.RoomError](t, must.Err(solve.Solve(t.Context(), dir, game, o)))
		r := plan.Run{Game: game, Seeds: 22, Memory: memory, Cores: o.Workers}
		peak, err := r.DiskPeak()
		should.Hold(t, err == nil && peak == e.Need, "%d bytes, planned %d, error %v", e.Need, peak, err)
		return e.Need
	}
	whole, windows := refused(0), refused(halfboard.Least(game, 22, options(0).Workers))
	should.Not(t, windows < whole+halfboard.Positions(game, 22), "%d bytes in windows, %d in one piece", windows, whole)
	should.Be(t, must.Err(os.Stat(dir)), os.ErrNotExist, "the directory was made")
}

// TestLongSkip: the last layer has the same bytes without the one below it; a resumed run leaves that out again, and one that does not
// leave it out makes the directory complete.
func TestLongSkip(t *testing.T) {
	game, last := awaritest.Game(t, 8, awari.Awari), tries.Pick(10, 15, awari.MaxSeeds-1)
	whole, dir := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "run")
	mustSolve(t, whole, game, options(last+1))
	o := options(last)
	o.Skip = last - 1
	mustSolve(t, dir, game, options(last-4)) // an earlier run
	mustSolve(t, dir, game, o)
	m := testrun.Manifest(t, dir)
	should.Hold(t, !m.Has(o.Skip) && m.Has(last), "layer %d: %+v", o.Skip, m.Layers[o.Skip:])
	sameLayer(t, whole, dir, last)
	again := mustSolve(t, dir, game, o)
	should.Hold(t, len(again) == 0, "solved again: %+v", again)
	filled := mustSolve(t, dir, game, options(last+1)) // which needs it
	should.Hold(t, len(filled) == 2 && filled[0].Layer.Seeds == o.Skip, "%+v instead of layer %d", filled, o.Skip)
	sameRun(t, whole, dir)
	should.Be(t, must.Err(solve.Solve(t.Context(), dir, game, o)), solve.ErrSkip, "leaving out a layer that is there")
}

// sameLayer fails unless two run directories hold the same bytes of a layer.
func sameLayer(t *testing.T, want, got string, n int) {
	t.Helper()
	should.Hold(t, must.Tree(t, want)[rundir.LayerName(n)] == must.Tree(t, got)[rundir.LayerName(n)], "another layer %d", n)
}

// TestSkipRefused: only the layer below the last can be left out.
func TestSkipRefused(t *testing.T) {
	game, dir := awaritest.Game(t, 8, awari.Awari), filepath.Join(t.TempDir(), "run")
	for skip, last := range map[int]int{3: 5, 6: 5, -1: 0, 5: 5} {
		o := options(last)
		o.Skip = skip
		should.Be(t, must.Err(solve.Solve(t.Context(), dir, game, o)), solve.ErrSkip, "%d of %d", skip, last)
	}
	should.Not(t, must.Err(os.Stat(dir)) == nil, "a refused run makes its directory")
}

// TestSkipResumed: the last layer resumes from its checkpoint without the one below it, and so does that one when it is filled in. The
// file of each is checked, and none is sealed whose check is interrupted. No file stays open.
func TestSkipResumed(t *testing.T) {
	const last = stepSeeds
	s := newStepper(t)
	game, dir, whole := s.game, s.dir, s.above(t)
	resume := func(o solve.Options, seeds int) {
		t.Helper()
		o.Interval = 1
		start := time.Now()
		must.Hold(t, stopIn(t, dir, game, o, "dense"), "not stopped")
		notes, sealing, checked := 0, false, false
		o.Interval = 0
		o.Note = func(string) { notes++ }
		look := func(p solve.Progress) bool {
			sealing = sealing || p.Stage == "seal"
			checked = checked || sealing && p.Stage == "check" && p.Seeds == seeds
			return checked
		}
		must.Hold(t, stopWhen(t, dir, game, o, look), "sealed")
		stopped, again := time.Since(start), time.Now()
		sealing, checked = false, false
		o.Progress = progress(func(p solve.Progress) { look(p) })
		reports := mustSolve(t, dir, game, o)
		testrun.Closed(t, dir)
		should.Hold(t, len(reports) == 1 && notes == 0 && checked, "%d notes, checked %v, %+v", notes, checked, reports)
		sumUp(t, reports[0], stopped, time.Since(again), true)
	}
	o := options(last + 1)
	o.Skip = last
	resume(o, last+1)
	sameLayer(t, whole, dir, last+1)
	resume(options(last+1), last)
	sameRun(t, whole, dir)
}

// TestSkipSteps: the steps of the last layer leave out the one that their plan leaves out.
func TestSkipSteps(t *testing.T) {
	s := newStepper(t)
	s.options.Seeds, s.options.Skip = stepSeeds+1, stepSeeds-1
	should.Be(t, must.Err(s.do(t.Context(), solve.Task{Name: solve.PlanTask})), solve.ErrSkip, "a layer further below")
	s.options.Skip = stepSeeds
	s.mustPlan(t, 2)   // a window more than the layer left out would have
	s.options.Skip = 0 // what the plan says stands
	must.OK(t, errors.Join(append(s.all(t, 2, 1), must.Err(s.do(t.Context(), publishTask)))...))
	mustSolve(t, s.dir, s.game, options(stepSeeds+1)) // fills in the other one
	sameRun(t, s.above(t), s.dir)
}

// TestFalseLower puts wrong scores under right checksums into each lower layer: the few positions that are checked give them away.
func TestFalseLower(t *testing.T) {
	game := awaritest.Game(t, 8, awari.Awari)
	for n := 1; n <= 7; n++ {
		layers := testrun.Solve(t, game, 7)
		for i, score := range layers[n] {
			layers[n][i] = testrun.Other(score)
		}
		dir := testrun.Write(t, game, layers, 64)
		refuses(t, dir, game, 8, filepath.Join(dir, rundir.LayerName(n)), "false scores")
		should.Be(t, must.Err(solve.Solve(t.Context(), dir, game, options(7))), nil, "nothing is to be built on it")
	}
}

func retrograde(seeds int) solve.Options {
	o := options(seeds)
	o.Engine = solve.Retrograde
	return o
}

// TestEngines: both engines write the same files, whatever the workers and the kernels, also one after the other, and over what an
// interrupted run of the other one has left.
func TestEngines(t *testing.T) {
	families := cpu.Available()
	for i, c := range []struct{ pits, seeds int }{{4, 7}, {8, 4}, {12, 3}} {
		for k, rules := range awari.RuleSets() {
			game := awaritest.Game(t, c.pits, rules)
			want, got, turns := t.TempDir(), t.TempDir(), t.TempDir()
			o := options(c.seeds)
			o.Workers, o.Family = []int{1, 2, 5}[i], families[k%len(families)]
			mustSolve(t, want, game, o)
			for _, r := range mustSolve(t, got, game, retrograde(c.seeds)) {
				a, s := r.Accesses, r.Engine
				should.Hold(t, a != nil && a.Init == r.Layer.Positions && a.Total >= a.Init && r.Cost == uint64(c.pits+2+r.Layer.Seeds)*a.Init,
					"%s, layer %d: accesses %+v, cost %d", game.Name(), r.Layer.Seeds, a, r.Cost)
				should.Hold(t, s.Sweeps >= 1 && s.Sweeps <= r.Layer.Seeds+1 && s.Bits == 8 && s.Windows == 1 && s.Bytes > 0,
					"%s, layer %d: %+v", game.Name(), r.Layer.Seeds, s)
			}
			sameRun(t, want, got)
			if c.pits > 4 {
				continue
			}
			for n := range c.seeds + 1 {
				mustSolve(t, turns, game, []solve.Options{options(n), retrograde(n)}[n%2])
			}
			sameRun(t, want, turns)
		}
	}
}

// given is a layer in memory.
type given struct {
	n      int
	scores []int8
	closed int
}

func (g *given) Seeds() int                          { return g.n }
func (g *given) Positions() uint64                   { return uint64(len(g.scores)) }
func (g *given) Read(start uint64, dst []int8) error { copy(dst, g.scores[start:]); return nil }
func (g *given) Close() error                        { g.closed++; return nil }

// giving returns what opens a layer.
func giving(s solve.Source) func(context.Context, *tables.Tables, vfs.Dir) (solve.Source, error) {
	return func(context.Context, *tables.Tables, vfs.Dir) (solve.Source, error) { return s, nil }
}

// TestAdd: layers that are added are the same files as those that are solved.
func TestAdd(t *testing.T) {
	game, from := awaritest.Game(t, 6, awari.Strict), t.TempDir()
	mustSolve(t, from, game, options(6))
	solved := must.Get(tables.Open(t.Context(), from))(t)
	defer solved.Close()
	dir := filepath.Join(t.TempDir(), "run")
	for n := range 7 {
		g := &given{n: n, scores: make([]int8, solved.Layers()[n].Positions)}
		must.OK(t, solved.Read(t.Context(), n, 0, g.scores))
		o, last := options(0), solve.Progress{}
		o.Progress = progress(func(p solve.Progress) { last = p })
		o.Memory = 1 << 20 // too little to solve a layer: sealing needs none of that
		report, err := solve.Add(t.Context(), dir, game, n, o, func(_ context.Context, lower *tables.Tables, work vfs.Dir) (solve.Source, error) {
			should.Hold(t, lower.MaxSeeds() == n-1 && work.Path("") == filepath.Join(dir, rundir.WorkName),
				"layer %d: layers up to %d, %s", n, lower.MaxSeeds(), work.Path(""))
			return g, nil
		})
		should.Hold(t, err == nil && g.closed == 1 && report.Layer.Hash == solved.Layers()[n].Hash && last.Done == last.Positions && last.RunDone == last.RunTotal,
			"layer %d: closed %d times, %+v, %+v, error %v", n, g.closed, report.Layer, last, err)
	}
	for n := range 7 {
		sameLayer(t, from, dir, n)
	}
}

// TestAddRefused: a layer that is not the next one, or cannot be opened, changes nothing.
func TestAddRefused(t *testing.T) {
	game, dir := awaritest.Game(t, 4, awari.Awari), filepath.Join(t.TempDir(), "run")
	broken := errors.New("broken")
	opened := 0
	open := func(context.Context, *tables.Tables, vfs.Dir) (solve.Source, error) { opened++; return nil, broken }
	var order *solve.OrderError
	_, err := solve.Add(t.Context(), dir, game, 2, options(0), open)
	should.Hold(t, errors.As(err, &order) && order.Next == 0, "error %v", err)
	mustSolve(t, dir, game, options(3))
	before := must.Tree(t, dir)
	for _, n := range []int{0, 3, 5} {
		_, err := solve.Add(t.Context(), dir, game, n, options(0), open)
		should.Hold(t, errors.As(err, &order) && order.Next == 4 && order.Seeds == n, "layer %d: error %v", n, err)
	}
	should.Be(t, must.Err(solve.Add(t.Context(), dir, awaritest.Game(t, 4, awari.Strict), 4, options(0), open)), rundir.ErrOtherRun)
	should.Be(t, must.Err(solve.Add(t.Context(), dir, game, 49, options(0), open)), awari.ErrSeeds)
	should.Not(t, opened > 0, "opened %d times", opened)
	_, err = solve.Add(t.Context(), dir, game, 4, options(0), open)
	should.Hold(t, errors.Is(err, broken) && opened == 1, "opened %d times, error %v", opened, err)
	must.Same(t, "changed", before, must.Tree(t, dir))
}

// TestAddImpossible: a layer with scores that no board of it has is not sealed, wherever the scores are.
func TestAddImpossible(t *testing.T) {
	game, dir := awaritest.Game(t, 12, awari.Awari), t.TempDir()
	mustSolve(t, dir, game, options(8))
	before := must.Tree(t, dir)
	for _, at := range []int{0, 70_000, 167_959} {
		g := &given{n: 9, scores: make([]int8, 167_960)}
		g.scores[at] = -10
		_, err := solve.Add(t.Context(), dir, game, 9, options(0), giving(g))
		should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && g.closed == 1, "rank %d: closed %d times, error %v", at, g.closed, err)
		should.Equal(t, cmp.Diff(before, must.Tree(t, dir)), "", "rank %d: the directory has changed", at)
	}
}
