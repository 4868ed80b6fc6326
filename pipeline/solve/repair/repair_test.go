//go:build unix

package repair_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/layerfiletest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/writetest"
	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/check/scrub"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/repair"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func solveOptions(seeds int) solve.Options {
	return solve.Options{Seeds: seeds, Job: job.Job{Workers: 2, Family: cpu.Best()}}
}

func solved(t *testing.T, pits int, rules awari.Rules, seeds int) string {
	t.Helper()
	game := awaritest.Game(t, pits, rules)
	dir := filepath.Join(t.TempDir(), "run")
	must.OK(t, must.Err(solve.Solve(t.Context(), dir, game, solveOptions(seeds))))
	return dir
}

var smallRun testrun.Fixture

// small is a run of the layers 0 to 7 on 6 pits.
func small(t *testing.T) string {
	t.Helper()
	return smallRun.Copy(t, func(dir string) { must.OK(t, os.CopyFS(dir, os.DirFS(solved(t, 6, awari.Awari, 7)))) })
}

func options() repair.Options { return repair.Options{Solve: solveOptions(0)} }

type file struct {
	Text  string
	Inode uint64
}

// files returns what is below dir by name, but for the lock.
func files(t *testing.T, dir string) map[string]file {
	t.Helper()
	all := map[string]file{}
	for name, text := range must.Tree(t, dir) {
		all[name] = file{Text: text}
		if info := must.Get(os.Lstat(filepath.Join(dir, name)))(t); info.Mode().IsRegular() {
			all[name] = file{text, info.Sys().(*syscall.Stat_t).Ino}
		}
	}
	delete(all, ".")
	delete(all, rundir.LockName)
	return all
}

// change does something to a run directory.
type change func(t *testing.T, dir string)

// all does several things.
func all(changes ...change) change {
	return func(t *testing.T, dir string) {
		for _, do := range changes {
			do(t, dir)
		}
	}
}

func gone(patterns ...string) change {
	return func(t *testing.T, dir string) {
		for _, pattern := range patterns {
			found := must.Get(filepath.Glob(filepath.Join(dir, pattern)))(t)
			must.Not(t, len(found) == 0, "no %s", pattern)
			for _, path := range found {
				must.OK(t, os.RemoveAll(path))
			}
		}
	}
}

func holds(name, text string) change {
	return func(t *testing.T, dir string) { must.Write(t, filepath.Join(dir, name), []byte(text)) }
}

// copied replaces a file by one of another directory, or of the same one if from is empty.
func copied(name, from, other string) change {
	return func(t *testing.T, dir string) { holds(name, read(t, cmp.Or(from, dir), other))(t, dir) }
}

func flipped(name string, at int) change {
	return func(t *testing.T, dir string) { testrun.Flip(t, filepath.Join(dir, name), at) }
}

func edited(edit func(m *manifest.Manifest)) change {
	return func(t *testing.T, dir string) { testrun.EditManifest(t, dir, edit) }
}

// shortened leaves so many layers in the manifest.
func shortened(layers int) change {
	return edited(func(m *manifest.Manifest) { m.Layers = m.Layers[:layers] })
}

// emptied leaves nothing but a file.
func emptied(name, text string) change {
	return func(t *testing.T, dir string) {
		must.OK(t, os.RemoveAll(dir))
		must.OK(t, os.Mkdir(dir, 0o755))
		if name != "" {
			holds(name, text)(t, dir)
		}
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	return string(must.Read(t, filepath.Join(dir, name)))
}

// clean fails unless scrub and verify find nothing wrong with so many layers.
func clean(t *testing.T, dir string, layers int) {
	t.Helper()
	s, err := scrub.Run(t.Context(), dir, scrub.Options{Job: job.Job{Workers: 2}})
	should.Hold(t, err == nil && s.Err() == nil && len(s.Layers) == layers, "scrub: %v, %+v", err, s)
	for _, l := range s.Layers {
		should.Not(t, l.Unlisted, "layer %d is not listed", l.Seeds)
	}
	o := verify.Options{Job: job.Job{Workers: 2, Family: cpu.Best()}}
	if !tries.Long() {
		o.Sample, o.Seed = 300, rand.Uint64()
		t.Logf("sample %d", o.Seed)
	}
	v, err := verify.Run(t.Context(), dir, o)
	should.Hold(t, err == nil && v.Err() == nil && len(v.Layers) == layers, "verify: %v, %+v", err, v)
}

// sameLayers fails unless two directories have the same layer files, and manifests that differ in nothing but times.
func sameLayers(t *testing.T, want, got string) {
	t.Helper()
	for name := range files(t, want) {
		should.Not(t, strings.HasSuffix(name, ".gl") && read(t, want, name) != read(t, got, name), "%s differs", name)
	}
	should.Equal(t, gocmp.Diff(testrun.Manifest(t, want), testrun.Manifest(t, got), cmpopts.IgnoreFields(manifest.Layer{}, "Seconds")), "",
		"manifests")
}

// actions returns the first letters of what layers need.
func actions(r *repair.Result) string {
	text := ""
	for _, l := range r.Layers {
		text += string(l.Action[0])
	}
	return text
}

// TestLongRepair: 14 layers, no manifest, layer 9 cut short, layer 11 missing.
func TestLongRepair(t *testing.T) {
	dir := solved(t, tries.More(8, 10), awari.Awari, 13)
	whole := testrun.Copy(t, dir)
	nine, eleven := rundir.LayerName(9), rundir.LayerName(11)
	gone(rundir.ManifestName, eleven)(t, dir)
	must.OK(t, os.Truncate(filepath.Join(dir, nine), 3000))
	before := files(t, dir)

	o := options()
	o.DryRun = true
	r, err := repair.Run(t.Context(), dir, o)
	should.Hold(t, err == nil && !r.OK && actions(r) == "lllllllllslsll", "dry run: %+v, %v", r, err)
	must.Same(t, "a dry run changed", before, files(t, dir))

	o = options()
	begun, mended, last := false, 0, job.Step{}
	o.Begin, o.Mended = func(*rundir.Locked) { begun = true }, func(repair.Layer) { mended++ }
	o.Solve.Progress = func(s job.Step) {
		if s.Pace == nil {
			return // it reads
		}
		should.Not(t, s.Total < last.Total || s.Done < last.Done || s.Done > s.Total || s.Seeds == 9 && s.Pace.Rate > 0 && s.Pace.Run <= s.Pace.Layer,
			"%+v, %+v after %+v", s, s.Pace, last)
		last = s
	}
	r = must.Get(repair.Run(t.Context(), dir, o))(t)
	should.Not(t, r.OK || actions(r) != "lllllllllslsll" || !begun || mended != 14 || last.Done < last.Total || r.Layers[9].Problem == "", "%+v", r)
	after := files(t, dir)
	for name, f := range before {
		should.Not(t, name != nine && after[name] != f, "%s was touched", name)
	}
	sameLayers(t, whole, dir)
	clean(t, dir, 14)
	r = must.Get(repair.Run(t.Context(), dir, options()))(t)
	should.Hold(t, r.OK && actions(r) == "kkkkkkkkkkkkkk", "again: %+v", r)
	must.Same(t, "repair of a good directory changed", after, files(t, dir))
}

// TestLongDamages damages a run in many ways, and repairs it.
func TestLongDamages(t *testing.T) {
	whole, some := small(t), rand.IntN(3)
	for i, c := range []struct {
		name, want string
		aside      int // how many files are set aside
		damage     change
	}{
		{"nothing", "kkkkkkkk", 0, all()},
		{"first layer missing", "skkkkkkk", 0, gone("layer-00.gl")},
		{"last layer missing", "kkkkkkks", 0, gone("layer-07.gl")},
		{"all layers missing", "ssssssss", 0, gone("layer-*.gl")},
		{"manifest without last layers", "kkkkklll", 0, shortened(5)},
		{"manifest without damaged layers", "kkkkklsl", 0, all(shortened(5), flipped("layer-06.gl", 200))},
		{"manifest with another histogram", "kkkkklkk", 0, edited(func(m *manifest.Manifest) { // the sums stay
			h := &m.Layers[5].Histogram
			h[1]--
			h[3]++
		})},
		{"empty manifest", "llllllll", 0, shortened(0)},
		{"no manifest, no layer 0", "slllllll", 0, gone("layer-00.gl", rundir.ManifestName)},
		{"link to nothing", "kkkskkkk", 1, all(gone(three), linked("nowhere", three))},
		{"damaged layer on another disk", "kkkskkkk", 1, all(flipped(three, 50), away(three))},
		{"good layer on another disk", "kkkkkkkk", 0, away(three)},
		{"manifest on another disk", "llllllll", 1, away(rundir.ManifestName)},
		{"empty layer", "kkkskkkk", 1, holds(three, "")},
		{"foreign layer", "kkkskkkk", 1, holds(three, "Dear diary")},
		{"newer layer", "kkkskkkk", 1, flipped(three, 9)},
		{"layer of another place", "kkkskkkk", 1, copied(three, "", "layer-04.gl")},
		{"directory", "kkkskkkk", 1, directory(three)},
		{"fifo", "kkkskkkk", 1, fifo(three)},
		{"manifest is a directory", "llllllll", 1, directory(rundir.ManifestName)},
		{"manifest is a FIFO", "llllllll", 1, fifo(rundir.ManifestName)},
		{"layers and nothing else", "llllllll", 0, gone(rundir.ManifestName, rundir.LockName, rundir.WorkName)},
		{"foreign manifest", "llllllll", 1, holds(rundir.ManifestName, foreign)},
		{"foreign file beside", "kkkkkkkk", 0, holds("layer-20.gl", "Dear diary")},
		{"gap above", "kkkkkkkkss", 1, copied("layer-09.gl", "", "layer-07.gl")},
		{"forged scores, no manifest", "lllllsll", 1, all(gone(rundir.ManifestName), forged(5))},
		{"forged scores", "kkkkkskk", 1, forged(5)},
	} {
		if !tries.Long() && i%3 != some {
			continue // any third of them will do: those beside each other are alike
		}
		t.Run(c.name, func(t *testing.T) {
			dir := testrun.Copy(t, whole)
			c.damage(t, dir)
			before, o := files(t, dir), options()
			o.SetAside = !strings.HasPrefix(c.name, "forged") // no others are made from layers that are not there
			r := must.Get(repair.Run(t.Context(), dir, o))(t)
			should.Hold(t, actions(r) == c.want, "%s: %+v", actions(r), r)
			after := files(t, dir)
			aside := 0
			for name, f := range after {
				if old, _, ok := strings.Cut(name, ".damaged-"); ok && !strings.Contains(name, "/") {
					aside++
					should.Hold(t, before[old] == f, "%s is not what %s was", name, old)
				}
			}
			should.Hold(t, aside == c.aside, "%d set aside: %v", aside, slices.Sorted(maps.Keys(after)))
			clean(t, dir, len(c.want))
			if c.name != "gap above" {
				sameLayers(t, whole, dir)
			}
		})
	}
}

// three is the layer that most damages are of, and foreign the manifest of another program.
const three, foreign = "layer-03.gl", `{"name": "web app"}`

func directory(name string) change {
	return all(gone(name), func(t *testing.T, dir string) { must.OK(t, os.MkdirAll(filepath.Join(dir, name, "thesis"), 0o755)) })
}

func fifo(name string) change {
	return all(gone(name), func(t *testing.T, dir string) { must.OK(t, syscall.Mkfifo(filepath.Join(dir, name), 0o644)) })
}

func linked(target, name string) change {
	return func(t *testing.T, dir string) {
		err := os.Symlink(target, filepath.Join(dir, name))
		tries.SkipIf(t, err != nil, fmt.Sprint(err))
	}
}

// away moves a file elsewhere and leaves a link.
func away(name string) change {
	return func(t *testing.T, dir string) {
		away := filepath.Join(t.TempDir(), name)
		must.OK(t, os.Rename(filepath.Join(dir, name), away))
		before := must.Read(t, away)
		linked(away, name)(t, dir)
		t.Cleanup(func() {
			after, err := os.ReadFile(away)
			should.Hold(t, err == nil && string(after) == string(before), "%s: what the link led to was changed: %v", name, err)
		})
	}
}

// forged turns the scores of a layer round, under right checksums.
func forged(n int) change {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, rundir.LayerName(n))
		h, scores := writetest.Read(t, path)
		for i, score := range scores {
			scores[i] = -score
		}
		h.Model = ""
		must.OK(t, os.Remove(path))
		writetest.File(t, path, h, scores)
	}
}

// TestRefused: what is no run, or more than one, stays as it is.
func TestRefused(t *testing.T) {
	strict := solved(t, 6, awari.Strict, 7)
	for _, c := range []struct {
		name   string
		want   error
		text   string
		change change
	}{
		{"mixed", corrupt.ErrMismatch, "layer-04.gl of game awari, rules strict, 6 pits", copied("layer-04.gl", strict, "layer-04.gl")},
		{
			"mixed without manifest", corrupt.ErrMismatch, "and 3 more of game awari, rules awari, 6 pits; ",
			all(gone(rundir.ManifestName), copied("layer-04.gl", strict, "layer-04.gl")),
		},
		{
			"manifest of another run", corrupt.ErrMismatch, "manifest.json of game awari, rules strict, 6 pits",
			copied(rundir.ManifestName, strict, rundir.ManifestName),
		},
		{"nothing", rundir.ErrMissing, "", emptied("", "")},
		{"foreign", corrupt.ErrForeign, "thesis.tex", emptied("thesis.tex", "x")},
		{"foreign layers", corrupt.ErrForeign, "layer-0", all(emptied("layer-00.gl", "Dear diary"), holds("layer-01.gl", "Dear diary"))},
		{"foreign manifest", corrupt.ErrForeign, "no layer file", emptied(rundir.ManifestName, foreign)},
		{"manifest damaged, no layers", corrupt.ErrCorrupt, "no layer file", emptied(rundir.ManifestName, read(t, strict, rundir.ManifestName)[:100])},
		{"foreign lock", nil, "lock: it is no lock file", all(gone(rundir.ManifestName), holds(rundir.LockName, "of the door"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := small(t)
			c.change(t, dir)
			before := files(t, dir)
			lock, _ := os.ReadFile(filepath.Join(dir, rundir.LockName))
			_, err := repair.Run(t.Context(), dir, options())
			should.Not(t, err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text),
				"%v, want %v with %q", err, c.want, c.text)
			must.Same(t, "changed", before, files(t, dir))
			after, _ := os.ReadFile(filepath.Join(dir, rundir.LockName))
			should.Hold(t, string(after) == string(lock), "the lock is now %q", after)
		})
	}
}

// TestSetAside: a layer that was made from another one than the one below, which is solved again, is solved again too.
func TestSetAside(t *testing.T) {
	for aside, want := range map[bool]string{false: "lllllsll", true: "lllllsls"} { // if it stays, it was made from the right one after all
		dir, o := small(t), options()
		all(gone(rundir.ManifestName), forged(5))(t, dir)
		o.SetAside = aside
		r := must.Get(repair.Run(t.Context(), dir, o))(t)
		should.Hold(t, actions(r) == want && slices.Equal(r.Layers[7].MadeFrom, map[bool][]int{true: {5}}[aside]), "%s: %+v", actions(r), r.Layers[7])
		sameLayers(t, small(t), dir)
	}
	dir, o := small(t), options()
	all(gone(rundir.LayerName(5)), edited(func(m *manifest.Manifest) { m.Layers[5].Hash++ }))(t, dir)
	o.SetAside, o.DryRun = true, true
	r := must.Get(repair.Run(t.Context(), dir, o))(t)
	should.Hold(t, actions(r) == "kkkkksks" && slices.Equal(r.Layers[7].MadeFrom, []int{5}), "%s: %+v", actions(r), r.Layers[7])
}

// TestLongDifferent: a layer that is not what an intact manifest says is not published.
func TestLongDifferent(t *testing.T) {
	dir := small(t)
	testrun.EditManifest(t, dir, func(m *manifest.Manifest) { m.Layers[4].Hash++ })
	gone("layer-02.gl")(t, dir)
	before := files(t, dir)
	err := must.Err(repair.Run(t.Context(), dir, options()))
	should.Hold(t, must.As[*repair.DifferentError](t, err).Seeds == 4 && !errors.Is(err, corrupt.ErrCorrupt), "%v", err)
	after := files(t, dir)
	delete(after, "layer-02.gl") // it was right, and is there
	for name, f := range after { // the other one says nothing against its file
		if old, _, ok := strings.Cut(name, ".damaged-"); ok {
			delete(after, name)
			after[old] = f
		}
	}
	must.Same(t, "changed", before, after)
	// As the message says: without the manifest, the files count.
	gone(rundir.ManifestName)(t, dir)
	must.Get(repair.Run(t.Context(), dir, options()))(t)
	clean(t, dir, 8)
}

// TestMemory: what cannot be solved again, or where layers are not to be found or a solver is, is refused before anything is changed. What is in order takes no memory.
func TestMemory(t *testing.T) {
	dir, o := small(t), options()
	o.Solve.Memory = 1000
	must.OK(t, must.Err(repair.Run(t.Context(), dir, o))) // nothing to solve
	gone("layer-02.gl", rundir.ManifestName)(t, dir)
	before := files(t, dir)
	must.As[*memory.Error](t, must.Err(repair.Run(t.Context(), dir, o)))
	elsewhere := options()
	elsewhere.LayersIn = []string{filepath.Join(dir, "none")}
	should.Be(t, must.Err(repair.Run(t.Context(), dir, elsewhere)), os.ErrNotExist, "layers elsewhere")
	l := must.Get(rundir.LockDamaged(dir))(t)
	defer l.Unlock()
	for _, o.DryRun = range []bool{true, false} {
		should.Equal(t, must.As[*rundir.LockedError](t, must.Err(repair.Run(t.Context(), dir, o))).PID, os.Getpid())
	}
	must.Same(t, "changed", before, files(t, dir))
}

// TestLongInterrupted ends a repair after every report of progress, and resumes it.
func TestLongInterrupted(t *testing.T) {
	whole := small(t)
	dir := testrun.Copy(t, whole)
	gone(rundir.ManifestName)(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	o := options()
	o.Mended = func(l repair.Layer) {
		if l.Seeds == 6 {
			cancel()
		}
	}
	should.Be(t, must.Err(repair.Run(ctx, dir, o)), context.Canceled, "before the last layer is compared")
	gone("layer-02.gl", "layer-05.gl")(t, dir)
	checkpoint := "checkpoint of layer 8"
	holds("work/tiles", checkpoint)(t, dir)
	o = options()
	for stop, ends := 1, false; !ends; stop += 7 {
		calls := 0
		at := func(job.Step) bool { calls++; return calls == stop }
		ends = runstest.Ends(t, &o.Solve.Job, at, func(ctx context.Context) error { return must.Err(repair.Run(ctx, dir, o)) })
	}
	sameLayers(t, whole, dir)
	clean(t, dir, 8)
	// What a solver was at is not lost.
	should.Equal(t, read(t, dir, "work/tiles"), checkpoint, "work/tiles")
}

// TestLongPaged solves a layer again that does not fit into memory.
func TestLongPaged(t *testing.T) {
	tries.NeedsLong(t, "solves layer 16 twice")
	const last = 16
	whole := solved(t, 12, awari.Awari, last)
	dir := testrun.Copy(t, whole)
	gone(rundir.LayerName(last))(t, dir)
	o := options()
	game, _ := awari.New(12, awari.Awari)
	tooLittle := solveOptions(last)
	tooLittle.Memory = 1
	o.Solve.Memory = must.As[*memory.Error](t, tooLittle.Check(game)).Need
	must.OK(t, must.Err(repair.Run(t.Context(), dir, o)))
	sameLayers(t, whole, dir)
	should.Equal(t, read(t, dir, rundir.ManifestName), read(t, whole, rundir.ManifestName), "the manifest has changed")
	entries, err := os.ReadDir(filepath.Join(dir, "work"))
	should.Hold(t, err == nil && len(entries) == 0, "left in work: %v, %v", entries, err)
}

// TestZstd: a run with a layer in zstd, which earlier versions wrote, is not damaged: repair and solve say what it is, and change nothing.
func TestZstd(t *testing.T) {
	game := must.Get(awari.New(6, awari.Awari))(t)
	for name, change := range map[string]change{
		"as it was":            all(),
		"manifest lost":        gone(rundir.ManifestName),
		"not listed":           shortened(7),
		"another damaged":      holds(three, "Dear diary"),
		"manifest not of ours": holds(rundir.ManifestName, foreign),
	} {
		t.Run(name, func(t *testing.T) {
			dir := small(t)
			layerfiletest.MarkZstd(t, filepath.Join(dir, rundir.LayerName(7)))
			change(t, dir)
			before := files(t, dir)
			o := options()
			o.SetAside = true
			for _, o.DryRun = range []bool{true, false} {
				_, err := repair.Run(t.Context(), dir, o)
				should.Hold(t, errors.Is(err, layerfile.ErrZstd) && errors.Is(err, corrupt.ErrCorrupt), "repair: %v", err)
			}
			if name == "as it was" {
				should.Be(t, must.Err(solve.Solve(t.Context(), dir, game, solveOptions(8))), layerfile.ErrZstd, "solve")
			}
			should.Hold(t, maps.Equal(before, files(t, dir)), "files changed")
		})
	}
}
