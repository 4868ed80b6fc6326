package distance_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
)

var rules = awari.RuleSets()

// options are those of most tests.
func options(workers int) distance.Options {
	return distance.Options{Job: job.Job{Family: cpu.Best(), Workers: workers}}
}

// compute computes the distances of all layers of a run directory.
func compute(t testing.TB, dir string, o distance.Options) *distance.Result {
	t.Helper()
	return must.Get(distance.Run(t.Context(), dir, o))(t)
}

// compare compares the files with the distances of all boards.
func compare(t testing.TB, dir string, want [][]int) {
	t.Helper()
	tb := must.Get(tables.Open(t.Context(), dir))(t)
	defer tb.Close()
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
	tops := tries.Pick(map[int]int{4: 12, 6: 9, 8: 8, 12: 6}, map[int]int{4: 20, 6: 14, 8: 13, 10: 10, 12: 9}, map[int]int{4: 30, 6: 20, 8: 20, 10: 12, 12: 12})
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

// TestSameBytes: any number of workers writes the same files, and a second run leaves them alone.
func TestSameBytes(t *testing.T) {
	const top = 9
	dir, _ := run(t, top)
	other := testrun.Copy(t, dir)
	compute(t, dir, options(1))
	compute(t, other, options(3))
	for n := range top + 1 {
		name := rundir.DistanceName(n)
		should.Hold(t, string(must.Read(t, filepath.Join(dir, name))) == string(must.Read(t, filepath.Join(other, name))),
			"%s depends on the workers", name)
	}
	for _, l := range compute(t, dir, options(1)).Layers {
		should.Not(t, !l.There || l.Bytes == 0, "layer %d was computed again", l.Seeds)
	}
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
	tb := must.Get(tables.Open(t.Context(), dir))(t)
	defer tb.Close()
	for n, want := range map[int]bool{6: true, 7: false} {
		var plies [1]int8
		known, err := tb.ReadDistances(t.Context(), n, 0, plies[:])
		should.Not(t, known != want || errors.Is(err, tables.ErrMismatch) == want, "layer %d: %v, %v", n, known, err)
	}
	should.Be(t, must.Err(distance.Run(t.Context(), dir, options(1))), corrupt.ErrCorrupt, "wrong scores")
}

// TestUngrounded: scores that only back each other have no distances.
func TestUngrounded(t *testing.T) {
	game := testrun.Game(t, 4, awari.Awari)
	layers := testrun.Solve(t, game, 8)
	found := false
	for n := 1; n <= 8 && !found; n++ {
		found = swap(t, game, layers, n)
	}
	must.Hold(t, found, "no scores that back each other")
}

// swap gives a layer the locally optimal scores to which the equations converge from above, if these are wrong, and reports whether it did; then no
// distances are found.
func swap(t *testing.T, game awari.Game, layers [][]int8, n int) bool {
	space, wrong := testrun.Space(t, game, n), make([]int8, len(layers[n]))
	for i := range wrong {
		wrong[i] = int8(n)
	}
	score := func(b awari.Board) int8 {
		m, rank := space.Rank(b)
		if m == n {
			return wrong[rank]
		}
		return layers[m][rank]
	}
	for range 4 * n * len(wrong) {
		changed := false
		for rank := range wrong {
			b := space.Unrank(n, uint64(rank))
			best, any := int8(-128), false
			for _, m := range space.Successors(nil, b) {
				best, any = max(best, int8(m.Reward)-score(m.To)), true
			}
			if !any {
				best = int8(space.Terminal(b))
			}
			if best != wrong[rank] {
				wrong[rank], changed = best, true
			}
		}
		if changed {
			continue
		}
		for rank, s := range wrong {
			if s != layers[n][rank] {
				all := append(append([][]int8{}, layers[:n]...), wrong)
				dir := testrun.Write(t, game, all, 1<<16)
				should.Be(t, must.Err(distance.Run(t.Context(), dir, options(1))), corrupt.ErrCorrupt, "layer %d", n)
				should.Not(t, must.Err(os.Stat(filepath.Join(dir, rundir.DistanceName(n)))) == nil, "there is a file")
				return true
			}
		}
		return false
	}
	return false
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
	_, err := distance.Run(t.Context(), dir, o)
	var e *memory.Error
	must.Hold(t, errors.As(err, &e), "%v", err)
	return e.Need
}

// TestCancel: a run that ends early keeps the layers before, and nothing else.
func TestCancel(t *testing.T) {
	dir, layers := run(t, 9)
	for i, done := range []int{4, 7} {
		before := compute(t, testrun.Copy(t, dir), options(1)) // what a whole run says
		ctx, stop := contextOf(t)
		o := options(1)
		o.Done = func(l distance.Layer) {
			if l.Seeds == done {
				stop()
			}
		}
		result, err := distance.Run(ctx, dir, o)
		if err == nil || len(result.Layers) != done+1 || len(before.Layers) != 10 {
			t.Fatalf("%d: %v, %d layers", i, err, len(result.Layers))
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*distance*"))
		should.Hold(t, len(files) == done+1, "%v", files)
	}
	compute(t, dir, options(1))
	compare(t, dir, brute(t, testrun.Game(t, 8, awari.Awari), layers))
}

// contextOf returns a context that the caller ends.
func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

// manifestOf returns the entries of distances in the manifest.
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
		should.Not(t, dry && string(must.Read(t, filepath.Join(dir, rundir.ManifestName))) != string(before),
			"a dry run has changed the manifest")
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
	interrupt := func(at string) {
		t.Helper()
		ctx, stop := contextOf(t)
		stopped := o
		stopped.Progress = func(s job.Step) {
			if strings.HasSuffix(s.Doing, at) {
				stop()
			}
		}
		must.Be(t, must.Err(distance.Run(ctx, dir, stopped)), context.Canceled, "at %q", at)
	}
	for _, plies := range []int{2, 5, 17} {
		interrupt(fmt.Sprintf(", %d plies", plies))
		f := must.Get(layerfile.Open(kept))(t)
		some := make([]int8, f.Header().Positions)
		must.OK(t, errors.Join(f.NewDecoder(cpu.Best()).Read(t.Context(), some, 0), f.Close()))
		most := int(slices.Max(some))
		should.Hold(t, most == plies-1, "interrupted in sweep %d, %d plies are kept", plies, most)
	}
	must.Same(t, "other notes", []string{"layer 9 goes on after 1 plies", "layer 9 goes on after 4 plies"}, notes)
	other := o
	other.Layers = []int{8} // leaves it alone
	compute(t, dir, other)
	data := must.Read(t, kept)

	notes, o.Progress = nil, func(s job.Step) {
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
