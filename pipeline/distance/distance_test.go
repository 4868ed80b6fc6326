package distance_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/writetest"
	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/io/tally"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

// brute returns the distances of all boards of layers 0 to seeds, from the plain rules and true scores alone, 0 for those worth 0: it
// writes down the equations of the definition, and repeats them until all hold. They have one solution.
func brute(t testing.TB, game awari.Game, layers [][]int8) [][]int {
	t.Helper()
	space := testrun.Space(t, game, len(layers)-1)
	all := make([][]int, len(layers))
	for n, scores := range layers {
		equations := make([]equation, len(scores))
		for rank := range scores {
			equations[rank] = equationOf(space, layers, space.Unrank(n, uint64(rank)), scores[rank])
		}
		plies := make([]int, len(scores))
		for changed := true; changed; {
			changed = false
			for rank, score := range scores {
				if d := equations[rank].value(score, plies); d != plies[rank] {
					plies[rank], changed = d, true
				}
			}
		}
		for rank, score := range scores {
			if (score == 0) != (plies[rank] == 0) {
				t.Fatalf("layer %d: board %v is worth %d, its distance is %d", n, space.Unrank(n, uint64(rank)), score, plies[rank])
			}
		}
		all[n] = plies
	}
	return all
}

// equation has what the distance of a board follows from: whether a capture keeps the score, and the ranks behind the quiet moves that do.
type equation struct {
	capture bool
	quiet   []uint64
}

func equationOf(space *awari.Space, layers [][]int8, b awari.Board, score int8) (e equation) {
	for _, m := range space.Successors(nil, b) {
		n, rank := space.Rank(m.To)
		switch keeps := m.Reward-int(layers[n][rank]) == int(score); {
		case keeps && m.Reward > 0:
			e.capture = true
		case keeps:
			e.quiet = append(e.quiet, rank)
		}
	}
	return e
}

// value returns the distance that the equation gives, 0 if there is none or too little is known yet.
func (e *equation) value(score int8, plies []int) int {
	least, greatest, open := 0, 0, false
	for _, rank := range e.quiet {
		d := plies[rank]
		greatest, open = max(greatest, d), open || d == 0
		if least == 0 || d > 0 && d < least {
			least = d
		}
	}
	switch {
	case score == 0, score < 0 && open, score > 0 && !e.capture && least == 0:
		return 0
	case score < 0:
		return 1 + greatest // 1 if no quiet move keeps the score: a capture, or the end
	case e.capture:
		return 1
	}
	return 1 + least
}

var rules = awari.RuleSets()

func options(workers int) distance.Options {
	return distance.Options{Job: job.Job{Family: cpu.Best(), Workers: workers}}
}

func compute(t testing.TB, dir string, o distance.Options) *distance.Result {
	t.Helper()
	return must.Get(distance.Run(t.Context(), dir, o))(t)
}

func compare(t testing.TB, dir string, want [][]int) {
	t.Helper()
	tb := tabletest.Open(t, dir)
	for n, plies := range want {
		got := make([]int8, len(plies))
		known, err := tb.ReadDistances(t.Context(), n, 0, got)
		must.Hold(t, known && err == nil, "layer %d: %v, %v", n, known, err)
		for rank, d := range plies {
			must.Hold(t, int(uint8(got[rank])) == d, "layer %d, rank %d: %d plies, want %d", n, rank, uint8(got[rank]), d)
		}
	}
}

// TestLongEveryBoard compares every distance with brute force, also in short tests, where layers are small. Layers on disk get the files that
// they get in memory, whatever the number of workers.
func TestLongEveryBoard(t *testing.T) {
	tops := tries.Pick(map[int]int{4: 10, 6: 8, 8: 7, 12: 5}, map[int]int{4: 16, 6: 11, 8: 10, 10: 8, 12: 7}, map[int]int{4: 30, 6: 20, 8: 20, 10: 12, 12: 12})
	rng := tries.Rand(t)
	for pits, top := range tops {
		for _, r := range rules {
			t.Run(fmt.Sprintf("%d-%v", pits, r), func(t *testing.T) {
				game, layers, dir := testrun.Run(t, pits, r, top, layerfile.MaxBlockSize)
				disk := testrun.Copy(t, dir)
				found := timeless(compute(t, dir, options(2)))
				compare(t, dir, brute(t, game, layers))
				must.Same(t, "another result", found, timeless(compute(t, disk, onDisk(1+rng.IntN(4)))))
				same(t, dir, disk, top)
			})
		}
	}
}

// run makes a run directory of 8 pits.
func run(t testing.TB, seeds int) (dir string, layers [][]int8) {
	game := testrun.Game(t, 8, awari.Awari)
	layers = testrun.Solve(t, game, seeds)
	return testrun.Write(t, game, layers, layerfile.MaxBlockSize), layers
}

// TestResult: what a run says of a layer is so.
func TestResult(t *testing.T) {
	dir, layers := run(t, 9)
	want := brute(t, testrun.Game(t, 8, awari.Awari), layers)
	space := testrun.Space(t, testrun.Game(t, 8, awari.Awari), 9)
	for _, l := range compute(t, dir, options(2)).Layers {
		longest, first, valued := 0, "", uint64(0)
		for rank, d := range want[l.Seeds] {
			if d > 0 {
				valued++
			}
			if d > longest {
				longest, first = d, space.Text(space.Unrank(l.Seeds, uint64(rank)))
			}
		}
		should.Hold(t, l.Longest == longest && l.Board == first && l.Valued == valued && !l.There,
			"layer %d: %+v, want %d plies from %s, %d distances", l.Seeds, l, longest, first, valued)
	}
}

// TestReplaced: a damaged file, and one of other scores, are replaced; what is no file of ours stays.
func TestReplaced(t *testing.T) {
	dir, layers := run(t, 7)
	compute(t, dir, options(1))
	good := must.Read(t, filepath.Join(dir, rundir.DistanceName(7)))

	must.Write(t, filepath.Join(dir, rundir.DistanceName(7)), good[:len(good)-1])
	stale := filepath.Join(dir, rundir.DistanceName(6))
	other := testrun.Write(t, testrun.Game(t, 8, awari.Strict), testrun.Solve(t, testrun.Game(t, 8, awari.Strict), 6), 1<<16)
	compute(t, other, options(1))
	must.Write(t, stale, must.Read(t, filepath.Join(other, rundir.DistanceName(6))))
	result := compute(t, dir, options(1))
	for n, l := range result.Layers {
		should.Equal(t, l.There, n < 6, "layer %d: there", n)
	}
	compare(t, dir, brute(t, testrun.Game(t, 8, awari.Awari), layers))

	must.Write(t, stale, []byte("my own words"))
	should.Be(t, must.Err(distance.Run(t.Context(), dir, options(1))), corrupt.ErrForeign, "a foreign file")
	should.Hold(t, string(must.Read(t, stale)) == "my own words", "a foreign file was replaced")
}

// TestStale: distances are refused once the scores of their layer are others.
func TestStale(t *testing.T) {
	dir, layers := run(t, 7)
	compute(t, dir, options(1))
	layers[7][5] = testrun.Other(layers[7][5])
	testrun.TakeLayer(t, dir, testrun.Write(t, testrun.Game(t, 8, awari.Awari), layers, 1<<16), 7)
	tb := tabletest.Open(t, dir)
	for n, want := range map[int]bool{6: true, 7: false} {
		var plies [1]int8
		known, err := tb.ReadDistances(t.Context(), n, 0, plies[:])
		should.Not(t, known != want || errors.Is(err, tables.ErrMismatch) == want, "layer %d: %v, %v", n, known, err)
	}
	should.Be(t, must.Err(distance.Run(t.Context(), dir, options(1))), corrupt.ErrCorrupt, "wrong scores")
}

// circle makes a run directory in which scores of layer 2 back each other in a circle: docs/proof.md.
func circle(t *testing.T) (dir string, positions int) {
	game := testrun.Game(t, 4, awari.Awari)
	layers := testrun.Solve(t, game, 2)
	layers[2] = []int8{-2, -2, 2, -2, -2, 2, 2, 2, -2, 2}
	return testrun.Write(t, game, layers, layerfile.MaxBlockSize), len(layers[2])
}

// TestUngrounded: scores that only back each other have no distances.
func TestUngrounded(t *testing.T) {
	dir, _ := circle(t)
	should.Be(t, must.Err(distance.Run(t.Context(), dir, options(1))), corrupt.ErrCorrupt)
	should.Be(t, must.Err(os.Stat(filepath.Join(dir, rundir.DistanceName(2)))), os.ErrNotExist, "there is a file")
}

// TestMemory: too little memory is refused with a number that suffices, for a layer on disk; with more some of it is in memory, and then all.
func TestMemory(t *testing.T) {
	const top = 13
	dir, _ := run(t, top)
	want := testrun.Copy(t, dir)
	compute(t, want, options(1))
	least := needed(t, dir, options(1), 1<<20)
	for memory, wantDisk := range map[uint64]bool{least: true, least + 100<<10: true, least + 300<<10: true, 64 << 20: false} {
		got, disk := testrun.Copy(t, dir), false
		o := options(2)
		o.Memory, o.Layers = memory, []int{top}
		o.Memory += needed(t, dir, o, 1<<20) - least // for the second worker
		o.Progress = func(job.Step) {
			files := must.Get(filepath.Glob(filepath.Join(got, rundir.WorkName, rundir.DistancesName+".*.tmp")))(t)
			disk = disk || len(files) > 0
		}
		compute(t, got, o)
		should.Equal(t, disk, wantDisk, "%d bytes above the least: on disk", memory-least)
		compute(t, got, options(1))
		same(t, want, got, top)
	}
	needed(t, dir, options(1), least-100)
}

// needed returns how much memory is needed, when that allowed is too little.
func needed(t *testing.T, dir string, o distance.Options, allowed uint64) uint64 {
	t.Helper()
	o.Memory = allowed
	return must.As[*memory.Error](t, must.Err(distance.Run(t.Context(), dir, o))).Need
}

// TestCancel: a run that ends early keeps the layers before, and nothing else.
func TestCancel(t *testing.T) {
	dir, layers := run(t, 9)
	for _, done := range []int{4, 7} {
		ctx, stop := context.WithCancel(t.Context())
		o := options(1)
		o.Done = func(l distance.Layer) {
			if l.Seeds == done {
				stop()
			}
		}
		result, err := distance.Run(ctx, dir, o)
		must.Hold(t, err != nil && len(result.Layers) == done+1, "%v, %d layers", err, len(result.Layers))
		files, _ := filepath.Glob(filepath.Join(dir, "*distance*"))
		should.Hold(t, len(files) == done+1, "%v", files)
	}
	compute(t, dir, options(1))
	compare(t, dir, brute(t, testrun.Game(t, 8, awari.Awari), layers))
}

func manifestOf(t *testing.T, dir string) (all []manifest.Distances) {
	for _, l := range testrun.Manifest(t, dir).Layers {
		all = append(all, l.Distances)
	}
	return all
}

// TestListed: the manifest lists the files, also those that are there already.
func TestListed(t *testing.T) {
	dir, _ := run(t, 7)
	before := must.Read(t, filepath.Join(dir, rundir.ManifestName))
	compute(t, dir, options(1))
	listed := manifestOf(t, dir)
	for n, d := range listed {
		f := must.Get(layerfile.Open(filepath.Join(dir, rundir.DistanceName(n))))(t)
		should.Hold(t, d == manifest.NewDistances(f.Footer()) && d.Listed(), "layer %d: %+v", n, d)
		must.OK(t, f.Close())
	}
	must.Write(t, filepath.Join(dir, rundir.ManifestName), before)
	for _, l := range compute(t, dir, options(1)).Layers {
		should.Hold(t, l.There, "layer %d was computed again", l.Seeds)
	}
	must.Same(t, "another list", listed, manifestOf(t, dir))
}

// TestMend: of the files that are there or listed, those that are damaged or lost are computed again, and no others.
func TestMend(t *testing.T) {
	dir, layers := run(t, 8)
	o := options(2)
	o.Layers = []int{3, 5, 6, 7, 8}
	compute(t, dir, o)
	path := func(n int) string { return filepath.Join(dir, rundir.DistanceName(n)) }
	good := must.Read(t, path(8))
	must.Write(t, path(8), changed(good, len(good)/2)) // a block: the ends are in order
	must.OK(t, os.Remove(path(6)))
	testrun.EditManifest(t, dir, func(m *manifest.Manifest) {
		m.Layers[5].Distances, m.Layers[7].Distances.Hash = manifest.Distances{}, 1
	})

	o = options(1)
	o.Mend, o.DryRun = true, true
	before := must.Read(t, filepath.Join(dir, rundir.ManifestName))
	for _, dry := range []bool{true, false} {
		o.DryRun = dry
		there := map[int]bool{}
		for _, l := range compute(t, dir, o).Layers {
			there[l.Seeds] = l.There
			should.Hold(t, l.There == (l.Problem == ""), "%+v", l)
		}
		must.Same(t, "other layers", map[int]bool{3: true, 5: true, 6: false, 7: false, 8: false}, there)
		should.Not(t, dry && string(must.Read(t, filepath.Join(dir, rundir.ManifestName))) != string(before), "a dry run changes the manifest")
	}
	should.Hold(t, string(must.Read(t, path(8))) == string(good), "other bytes")
	for n, d := range manifestOf(t, dir) {
		should.Hold(t, d.Listed() == (n == 3 || n > 4), "layer %d: %+v", n, d)
	}
	compute(t, dir, options(1))
	compare(t, dir, brute(t, testrun.Game(t, 8, awari.Awari), layers))
}

// TestResume: a layer that is interrupted, in any sweep, goes on from there without another look at its scores, and gets the same file. What was
// kept is not believed if it is damaged, or of another layer.
func TestResume(t *testing.T) {
	dir, layers := run(t, 9)
	whole := testrun.Copy(t, dir)
	compute(t, whole, options(1))
	good := must.Read(t, filepath.Join(whole, rundir.DistanceName(9)))
	kept := filepath.Join(dir, rundir.WorkName, rundir.DistancesName)
	var notes []string
	o := options(2)
	o.Layers, o.Note = []int{9}, func(text string) { notes = append(notes, text) }
	must.Hold(t, stopped(t, dir, o, 17), "not interrupted")
	_, some := writetest.Read(t, kept)
	should.Equal(t, slices.Max(some), 16, "plies are kept")
	other := o
	other.Layers = []int{8} // leaves it alone
	compute(t, dir, other)
	data := must.Read(t, kept)

	o.Progress = func(s job.Step) {
		should.Not(t, s.Done > s.Begun && s.Done <= float64(len(layers[9])), "scores are compared again: %+v", s)
	}
	l := compute(t, dir, o).Layers[0]
	should.Not(t, string(must.Read(t, filepath.Join(dir, rundir.DistanceName(9)))) != string(good) || l.Valued == 0 || l.Longest == 0 || l.Board == "",
		"another file, %+v", l)
	should.Be(t, must.Err(os.Stat(kept)), os.ErrNotExist, "%s stays", kept)
	must.Same(t, "other notes", []string{"layer 9 goes on after 16 plies"}, notes)

	must.OK(t, os.Remove(filepath.Join(dir, rundir.DistanceName(9))))
	must.Write(t, kept, changed(data, len(data)/2))
	notes, o.Progress = nil, nil
	compute(t, dir, o)
	should.Hold(t, string(must.Read(t, filepath.Join(dir, rundir.DistanceName(9)))) == string(good) && len(notes) == 1 && strings.HasPrefix(notes[0], "layer 9 begins again: "),
		"what was kept is damaged: %q", notes)
}

func onDisk(workers int) distance.Options {
	o := options(workers)
	o.OnDisk = true
	return o
}

// same fails unless two runs have the same files of distances, and no files are left that were to be written.
func same(t testing.TB, want, got string, seeds int) {
	t.Helper()
	for n := range seeds + 1 {
		name := rundir.DistanceName(n)
		must.Hold(t, string(must.Read(t, filepath.Join(want, name))) == string(must.Read(t, filepath.Join(got, name))), "%s differs", name)
	}
	left, err := filepath.Glob(filepath.Join(got, "*", "*.tmp"))
	must.Hold(t, err == nil && len(left) == 0, "left behind: %q, %v", left, err)
}

func timeless(r *distance.Result) string {
	for i := range r.Layers {
		r.Layers[i].Seconds = 0
	}
	return fmt.Sprintf("%+v", r.Layers)
}

// stopped runs until the sweep that finds distances of the given plies begins, and reports whether there was one.
func stopped(t *testing.T, dir string, o distance.Options, plies int) bool {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	o.Progress = func(s job.Step) {
		if strings.HasSuffix(s.Doing, fmt.Sprintf(", %d plies", plies)) {
			stop()
		}
	}
	err := must.Err(distance.Run(ctx, dir, o))
	must.Not(t, err != nil && !errors.Is(err, context.Canceled), "%v", err)
	return err != nil
}

// TestDiskResumes: a layer that is interrupted in each sweep, on disk or in memory, goes on from the sweep before, there or here.
func TestDiskResumes(t *testing.T) {
	const top = 9
	dir, _ := run(t, top)
	want := testrun.Copy(t, dir)
	compute(t, want, options(1))
	for turn := range 2 { // on disk always, and every second time
		got := testrun.Copy(t, dir)
		o := options(2)
		o.Layers = []int{top}
		var notes []string
		o.Note = func(text string) { notes = append(notes, text) }
		plies := 1
		for ; ; plies++ {
			if o.OnDisk = turn == 0 || plies%(turn+1) > 0; !stopped(t, got, o, plies) {
				break
			}
			if plies > 2 {
				must.Same(t, "another note", fmt.Sprintf("layer 9 goes on after %d plies", plies-2), notes[len(notes)-1])
			}
		}
		should.Not(t, plies < 10, "only %d sweeps", plies)
		compute(t, got, onDisk(1))
		same(t, want, got, top)
		must.Empty(t, filepath.Join(got, rundir.WorkName))
	}
}

// TestLongDiskFails lets each operation on the disk fail, or end the program, in a run that goes on from what an earlier one has kept; short tests try some of them.
// What was kept stays then, and the next run makes the file.
func TestLongDiskFails(t *testing.T) {
	const top = 8
	dir, _ := run(t, top)
	want := testrun.Copy(t, dir)
	compute(t, want, options(1))
	o := onDisk(2)
	o.Layers = []int{top}
	must.Hold(t, stopped(t, dir, o, 5), "too few plies")
	kept := must.Read(t, filepath.Join(dir, rundir.WorkName, rundir.DistancesName))
	rng := tries.Rand(t)
	for _, fails := range []error{crashfs.ErrCrashed, syscall.ENOSPC, syscall.EIO} {
		for k := 1; ; k += 1 + rng.IntN(tries.Pick(80, 20, 1)) {
			got := testrun.Copy(t, dir)
			err, ended := failing(t, got, o, k, fails)
			if ended {
				must.OK(t, err)
				break
			}
			_, missing := os.Stat(filepath.Join(got, rundir.DistanceName(top)))
			must.Not(t, !errors.Is(err, fails) && (err != nil || missing != nil),
				"operation %d: %v, want %v", k, err, fails) // once all is there, it may end well
			should.Not(t, missing != nil && string(must.Read(t, filepath.Join(got, rundir.WorkName, rundir.DistancesName))) != string(kept),
				"operation %d: what was kept is lost", k)
			compute(t, got, onDisk(1))
			same(t, want, got, top)
		}
	}
}

// failing runs on a disk of which operation k and all after it fail, and reports whether there was no such one.
func failing(t *testing.T, dir string, o distance.Options, k int, fails error) (err error, ended bool) {
	disk := crashfs.New()
	ops := 0
	if fails == crashfs.ErrCrashed {
		disk.CrashAt(k)
	}
	disk.Fail(func(op crashfs.Op, _ string) error {
		if ops++; ops >= k && op != crashfs.Remove && fails != crashfs.ErrCrashed {
			return fails
		}
		return nil
	})
	defer vfs.Intercept(func(d vfs.Dir) vfs.Dir {
		if strings.HasPrefix(d.Path(""), dir) {
			return disk.Mirror(d)
		}
		return d
	})()
	_, err = distance.Run(t.Context(), dir, o)
	return err, ops < k
}

// TestLongLayer16 has a layer of millions of positions within 40 MiB.
func TestLongLayer16(t *testing.T) {
	tries.NeedsLong(t, "it takes ten seconds")
	const top = 16
	dir := tabletest.Solve(t, testrun.Game(t, 12, rules[0]), top)
	o := options(1)
	o.Layers = []int{top}
	compute(t, dir, o)
	name := filepath.Join(dir, rundir.DistanceName(top))
	want := must.Read(t, name)
	must.OK(t, os.Remove(name))
	o.Memory = 40 << 20
	compute(t, dir, o)
	should.Hold(t, string(must.Read(t, name)) == string(want), "other bytes")
}

// TestDistancesOfOthers: what was kept of other scores, or of another layer, is not gone on from.
func TestDistancesOfOthers(t *testing.T) {
	const top = 7
	dir, layers := run(t, top)
	want := testrun.Copy(t, dir)
	compute(t, want, options(1))
	m := testrun.Manifest(t, dir)
	for n, hash := range map[int]tally.Hash{top: m.Layers[top].Hash + 1, top - 1: m.Layers[top-1].Hash} {
		h := catalog.DistanceHeader(m, n)
		h.Below = layerfile.Below("").With(n, hash)
		got := testrun.Copy(t, dir)
		work := filepath.Join(got, rundir.WorkName)
		must.OK(t, os.MkdirAll(work, 0o755))
		writetest.File(t, filepath.Join(work, rundir.DistancesName), h, slices.Repeat([]int8{1}, len(layers[n])))
		o := options(1)
		o.Layers = []int{top}
		compute(t, got, o)
		name := rundir.DistanceName(top)
		must.Same(t, "other distances", string(must.Read(t, filepath.Join(want, name))), string(must.Read(t, filepath.Join(got, name))))
	}
}
