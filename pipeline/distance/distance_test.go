package distance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/endgames"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
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
	"grenier/pipeline/check/prove"
	"grenier/pipeline/check/scrub"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
	"grenier/pipeline/play/line"
	"grenier/pipeline/play/search"
	"grenier/pipeline/play/uci"
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
		equations, plies := make([]equation, len(scores)), make([]int, len(scores))
		for rank, b := range testrun.Boards(space, n, n) {
			equations[rank] = equationOf(space, layers, b, scores[rank])
		}
		for changed := true; changed; {
			changed = false
			for rank, score := range scores {
				if d := equations[rank].value(score, plies); d != plies[rank] {
					plies[rank], changed = d, true
				}
			}
		}
		for rank, score := range scores {
			must.Hold(t, (score == 0) == (plies[rank] == 0), "layer %d, rank %d: the score is %d, the distance %d", n, rank, score, plies[rank])
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

// TestLongEveryBoard compares every distance, and what a run says of a layer, with brute force, also in short tests, where layers are small. Layers on
// disk get the files that they get in memory, whatever the number of workers.
func TestLongEveryBoard(t *testing.T) {
	tops := tries.Pick(map[int]int{4: 8, 6: 6, 8: 5, 12: 3}, map[int]int{4: 16, 6: 11, 8: 10, 10: 8, 12: 7}, map[int]int{4: 30, 6: 20, 8: 20, 10: 12, 12: 12})
	rng := tries.Rand(t)
	for pits, top := range tops {
		for _, r := range rules {
			t.Run(fmt.Sprintf("%d-%v", pits, r), func(t *testing.T) {
				game, layers, dir := testrun.Run(t, pits, r, top, layerfile.MaxBlockSize)
				disk, space := testrun.Copy(t, dir), testrun.Space(t, game, top)
				found, want := compute(t, dir, options(2)).Layers, brute(t, game, layers)
				tb := tabletest.Open(t, dir)
				onDisk := compute(t, disk, onDisk(1+rng.IntN(4))).Layers
				for n, plies := range want {
					stored := make([]int8, len(plies))
					known, err := tb.ReadDistances(t.Context(), n, 0, stored)
					must.Hold(t, known && err == nil, "layer %d: %v, %v", n, known, err)
					l, longest, first, valued := found[n], 0, "", uint64(0)
					for rank, d := range plies {
						must.Equal(t, int(uint8(stored[rank])), d, "layer %d, rank %d: plies", n, rank)
						if d > 0 {
							valued++
						}
						if d > longest {
							longest, first = d, space.Text(space.Unrank(n, uint64(rank)))
						}
					}
					should.Hold(t, l.Longest == longest && l.Board == first && l.Valued == valued && !l.There,
						"layer %d: %+v, want %d plies from %s, %d distances", n, l, longest, first, valued)
					l.Seconds = onDisk[n].Seconds
					must.Equal(t, onDisk[n], l, "on disk")
				}
				same(t, dir, disk, 0, top)
			})
		}
	}
}

// run makes a run directory of 8 pits.
func run(t testing.TB, seeds int) (dir string, layers [][]int8) {
	_, layers, dir = testrun.Run(t, 8, awari.Awari, seeds, layerfile.MaxBlockSize)
	return dir, layers
}

var wholes [16]testrun.Fixture // by seeds

// whole makes such a directory with all distances, which are computed once.
func whole(t testing.TB, seeds int) (dir string, layers [][]int8) {
	game := testrun.Game(t, 8, awari.Awari)
	layers = testrun.Solve(t, game, seeds)
	return wholes[seeds].Copy(t, func(dir string) {
		testrun.WriteTo(t, dir, game, layers, layerfile.MaxBlockSize)
		compute(t, dir, options(1))
	}), layers
}

// readFile returns the file of the distances of a layer.
func readFile(t testing.TB, dir string, n int) string {
	t.Helper()
	return string(must.Read(t, filepath.Join(dir, rundir.DistanceName(n))))
}

// TestReplaced: a damaged file, and one of other scores, are replaced; what is no file of ours stays.
func TestReplaced(t *testing.T) {
	dir, _ := whole(t, 7)
	want := testrun.Copy(t, dir)
	path := filepath.Join(dir, rundir.DistanceName(7))
	must.OK(t, os.Truncate(path, int64(len(must.Read(t, path))-1)))
	stale := filepath.Join(dir, rundir.DistanceName(6))
	other := testrun.Dir(t, 8, awari.Strict, 6, layerfile.MaxBlockSize)
	compute(t, other, options(1))
	must.Write(t, stale, []byte(readFile(t, other, 6)))
	for n, l := range compute(t, dir, options(1)).Layers {
		should.Equal(t, l.There, n < 6, "layer %d: there", n)
	}
	same(t, want, dir, 0, 7)

	must.Write(t, stale, []byte("my own words"))
	should.Be(t, must.Err(distance.Run(t.Context(), dir, options(1))), corrupt.ErrForeign, "a foreign file")
	should.Equal(t, readFile(t, dir, 6), "my own words")
}

// TestMemory: too little memory is refused with a number that suffices, for a layer on disk; with more some of it is in memory, and then all.
func TestMemory(t *testing.T) {
	const top = 12
	dir := tabletest.Solve(t, testrun.Game(t, 8, awari.Awari), top)
	o := distance.Options{Layers: []int{top}, Job: options(1).Job}
	want, least := testrun.Copy(t, dir), needed(t, dir, o, 1<<20)
	compute(t, want, o)
	for memory, wantDisk := range map[uint64]bool{least: true, least + 60<<10: true, least + 200<<10: true, 64 << 20: false} {
		got, disk := testrun.Copy(t, dir), false
		o := distance.Options{Layers: []int{top}, Job: options(2).Job}
		o.Memory = memory + needed(t, dir, o, 1<<20) - least // for the second worker
		o.Progress = func(job.Step) {
			files := must.Get(filepath.Glob(filepath.Join(got, rundir.WorkName, rundir.DistancesName+".*.tmp")))(t)
			disk = disk || len(files) > 0
		}
		compute(t, got, o)
		should.Equal(t, disk, wantDisk, "%d bytes above the least: on disk", memory-least)
		same(t, want, got, top, top)
	}
	needed(t, dir, o, least-100)
	with, without := tabletest.Open(t, want).Overhead(1), tabletest.Open(t, dir).Overhead(1)
	should.Hold(t, with > without, "%d bytes for tables with distances, %d without", with, without)
}

// needed returns how much memory is needed, when that allowed is too little.
func needed(t *testing.T, dir string, o distance.Options, allowed uint64) uint64 {
	t.Helper()
	o.Memory = allowed
	return must.As[*memory.Error](t, must.Err(distance.Run(t.Context(), dir, o))).Need
}

// TestCancel: a run that ends early keeps the layers before, and nothing else.
func TestCancel(t *testing.T) {
	want, _ := whole(t, 8)
	dir, _ := run(t, 8)
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
	same(t, want, dir, 0, 8)
}

// TestListed: the manifest lists the files, also those that are there already.
func TestListed(t *testing.T) {
	dir, _ := whole(t, 7)
	listed := testrun.Manifest(t, dir)
	for n, l := range listed.Layers {
		f := must.Get(layerfile.Open(filepath.Join(dir, rundir.DistanceName(n))))(t)
		should.Hold(t, l.Distances == manifest.NewDistances(f.Footer()) && l.Distances.Listed(), "layer %d: %+v", n, l.Distances)
		must.OK(t, f.Close())
	}
	testrun.EditManifest(t, dir, func(m *manifest.Manifest) {
		for n := range m.Layers {
			m.Layers[n].Distances = manifest.Distances{}
		}
	})
	for _, l := range compute(t, dir, options(1)).Layers {
		should.Hold(t, l.There, "layer %d was computed again", l.Seeds)
	}
	must.Same(t, "another manifest", listed, testrun.Manifest(t, dir))
}

// TestMend: of the files that are there or listed, those that are damaged or lost are computed again, and no others.
func TestMend(t *testing.T) {
	want, _ := whole(t, 8)
	dir, _ := run(t, 8)
	compute(t, dir, distance.Options{Layers: []int{3, 5, 6, 7, 8}, Job: options(2).Job})
	path := func(n int) string { return filepath.Join(dir, rundir.DistanceName(n)) }
	testrun.Flip(t, path(8), len(must.Read(t, path(8)))/2) // a block: the ends are in order
	must.OK(t, os.Remove(path(6)))
	testrun.EditManifest(t, dir, func(m *manifest.Manifest) {
		m.Layers[5].Distances, m.Layers[7].Distances.Hash = manifest.Distances{}, 1
	})

	o := distance.Options{Mend: true, Job: options(1).Job}
	before := must.Read(t, filepath.Join(dir, rundir.ManifestName))
	for _, o.DryRun = range []bool{true, false} {
		there := map[int]bool{}
		for _, l := range compute(t, dir, o).Layers {
			there[l.Seeds] = l.There
			should.Hold(t, l.There == (l.Problem == ""), "%+v", l)
		}
		must.Same(t, "other layers", map[int]bool{3: true, 5: true, 6: false, 7: false, 8: false}, there)
		should.Not(t, o.DryRun && string(must.Read(t, filepath.Join(dir, rundir.ManifestName))) != string(before), "a dry run changes the manifest")
	}
	for n, l := range testrun.Manifest(t, dir).Layers {
		should.Hold(t, l.Distances.Listed() == (n == 3 || n > 4), "layer %d: %+v", n, l.Distances)
	}
	compute(t, dir, options(1))
	same(t, want, dir, 0, 8)
}

// TestResume: a layer that is interrupted, in any sweep, goes on from there without another look at its scores, and gets the same file. What was
// kept is not believed if it is damaged, or of another layer.
func TestResume(t *testing.T) {
	const top = 9
	dir, layers := run(t, top)
	kept := filepath.Join(dir, rundir.WorkName, rundir.DistancesName)
	var notes []string
	o := options(2)
	o.Layers, o.Note = []int{top}, func(text string) { notes = append(notes, text) }
	whole := testrun.Copy(t, dir)
	compute(t, whole, o)
	must.Hold(t, stopped(t, dir, o, 17), "not interrupted")
	_, some := writetest.Read(t, kept)
	should.Equal(t, slices.Max(some), 16, "plies are kept")
	other := o
	other.Layers = []int{8} // leaves it alone
	compute(t, dir, other)
	data := must.Read(t, kept)

	o.Progress = func(s job.Step) {
		should.Not(t, s.Done > s.Begun && s.Done <= float64(len(layers[top])), "scores are compared again: %+v", s)
	}
	l := compute(t, dir, o).Layers[0]
	same(t, whole, dir, top, top)
	should.Not(t, l.Valued == 0 || l.Longest == 0 || l.Board == "", "%+v", l)
	should.Be(t, must.Err(os.Stat(kept)), os.ErrNotExist, "%s stays", kept)
	must.Same(t, "other notes", []string{"layer 9 goes on after 16 plies"}, notes)

	must.OK(t, os.Remove(filepath.Join(dir, rundir.DistanceName(top))))
	must.Write(t, kept, data)
	testrun.Flip(t, kept, len(data)/2)
	notes, o.Progress = nil, nil
	compute(t, dir, o)
	same(t, whole, dir, top, top)
	should.Hold(t, len(notes) == 1 && strings.HasPrefix(notes[0], "layer 9 begins again: "), "what was kept is damaged: %q", notes)
}

func onDisk(workers int) distance.Options {
	return distance.Options{Job: options(workers).Job, OnDisk: true}
}

// same fails unless two runs have the same files of distances of the layers from..to, and no files are left that were to be written.
func same(t testing.TB, want, got string, from, to int) {
	t.Helper()
	for n := from; n <= to; n++ {
		must.Hold(t, readFile(t, want, n) == readFile(t, got, n), "distances of layer %d differ", n)
	}
	left, err := filepath.Glob(filepath.Join(got, "*", "*.tmp"))
	must.Hold(t, err == nil && len(left) == 0, "left behind: %q, %v", left, err)
}

// stopped runs until the sweep that finds distances of the given plies begins, and reports whether there was one.
func stopped(t *testing.T, dir string, o distance.Options, plies int) bool {
	t.Helper()
	at := func(s job.Step) bool { return strings.HasSuffix(s.Doing, fmt.Sprintf(", %d plies", plies)) }
	return !runstest.Ends(t, &o.Job, at, func(ctx context.Context) error { return must.Err(distance.Run(ctx, dir, o)) })
}

// TestDiskResumes: a layer that is interrupted in each sweep, on disk or in memory, goes on from the sweep before, there or here.
func TestDiskResumes(t *testing.T) {
	const top = 8
	dir, _ := run(t, top)
	want, _ := whole(t, top)
	for turn := range 2 { // on disk always, and every second time
		got := testrun.Copy(t, dir)
		var notes []string
		o, plies := options(2), 1
		o.Layers, o.Note = []int{top}, func(text string) { notes = append(notes, text) }
		for ; ; plies++ {
			if o.OnDisk = turn == 0 || plies%(turn+1) > 0; !stopped(t, got, o, plies) {
				break
			}
			if plies > 2 {
				must.Same(t, "another note", fmt.Sprintf("layer 8 goes on after %d plies", plies-2), notes[len(notes)-1])
			}
		}
		should.Not(t, plies < 10, "only %d sweeps", plies)
		same(t, want, got, top, top)
		must.Empty(t, filepath.Join(got, rundir.WorkName))
	}
}

// TestLongDiskFails lets each operation on the disk fail, or end the program, in a run that goes on from what an earlier one has kept; short tests try some of them.
// What was kept stays then, and the next run makes the file.
func TestLongDiskFails(t *testing.T) {
	const top = 8
	want, _ := whole(t, top)
	dir, _ := run(t, top)
	o := distance.Options{Layers: []int{top}, Job: options(2).Job, OnDisk: true}
	must.Hold(t, stopped(t, dir, o, 5), "too few plies")
	kept := must.Read(t, filepath.Join(dir, rundir.WorkName, rundir.DistancesName))
	rng := tries.Rand(t)
	for _, fails := range []error{crashfs.ErrCrashed, syscall.ENOSPC, syscall.EIO} {
		for k := 1; ; k += 1 + rng.IntN(tries.Pick(160, 20, 1)) {
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
			compute(t, got, o)
			same(t, want, got, top, top)
		}
	}
}

// failing runs on a disk of which operation k and all after it fail, and reports whether there was no such one.
func failing(t *testing.T, dir string, o distance.Options, k int, fails error) (err error, ended bool) {
	disk, ops := crashfs.New(), 0
	if fails == crashfs.ErrCrashed {
		disk.CrashAt(k)
	}
	disk.Fail(func(op crashfs.Op, _ string) error {
		if ops++; ops >= k && op != crashfs.Remove && fails != crashfs.ErrCrashed {
			return fails
		}
		return nil
	})
	defer disk.Intercept(dir)()
	return must.Err(distance.Run(t.Context(), dir, o)), ops < k
}

// TestLongLayer16 has a layer of millions of positions within 40 MiB.
func TestLongLayer16(t *testing.T) {
	tries.NeedsLong(t, "it takes ten seconds")
	const top = 16
	dir := tabletest.Solve(t, testrun.Game(t, 12, rules[0]), top)
	o := distance.Options{Layers: []int{top}, Job: options(1).Job}
	compute(t, dir, o)
	want := readFile(t, dir, top)
	must.OK(t, os.Remove(filepath.Join(dir, rundir.DistanceName(top))))
	o.Memory = 40 << 20
	compute(t, dir, o)
	should.Hold(t, readFile(t, dir, top) == want, "other bytes")
}

// TestDistancesOfOthers: what was kept of other scores, or of another layer, is not gone on from.
func TestDistancesOfOthers(t *testing.T) {
	const top = 7
	want, layers := whole(t, top)
	dir, _ := run(t, top)
	m := testrun.Manifest(t, dir)
	for n, hash := range map[int]tally.Hash{top: m.Layers[top].Hash + 1, top - 1: m.Layers[top-1].Hash} {
		h := catalog.DistanceHeader(m, n)
		h.Below = layerfile.Below("").With(n, hash)
		got := testrun.Copy(t, dir)
		work := filepath.Join(got, rundir.WorkName)
		must.OK(t, os.MkdirAll(work, 0o755))
		writetest.File(t, filepath.Join(work, rundir.DistancesName), h, slices.Repeat([]int8{1}, len(layers[n])))
		compute(t, got, distance.Options{Layers: []int{top}, Job: options(1).Job})
		same(t, want, got, top, top)
	}
}

// verified verifies some layers, or all.
func verified(t testing.TB, dir string, bytes int64, layers ...int) []verify.Layer {
	t.Helper()
	o := verify.Options{Job: options(2).Job, Layers: layers, MemoryBytes: bytes}
	return must.Get(verify.Run(t.Context(), dir, o))(t).Layers
}

func writeDistances(t testing.TB, dir string, n int, change func(plies []int8)) {
	t.Helper()
	_, plies := writetest.Read(t, filepath.Join(dir, rundir.DistanceName(n)))
	change(plies)
	newDistances(t, dir, n, plies)
}

// newDistances writes a file of distances of layer n that all checksums fit, and lists it.
func newDistances(t testing.TB, dir string, n int, plies []int8) {
	t.Helper()
	d := must.Get(vfs.OpenDir(dir))(t)
	defer d.Close()
	p := must.Get(vfs.NewPending(d, rundir.DistanceName(n)))(t)
	s := writetest.Layer(t, p, catalog.DistanceHeader(testrun.Manifest(t, dir), n), plies)
	testrun.EditManifest(t, dir, func(m *manifest.Manifest) { m.Layers[n].Distances = manifest.NewDistances(s.Footer) })
}

// TestLongVerify: true distances pass in panels of any size; each wrong one is found, with its board and the true one.
func TestLongVerify(t *testing.T) {
	rng := tries.Rand(t)
	top := tries.More(6, 9)
	for _, r := range rules {
		game, layers, dir := testrun.Run(t, 8, r, top, layerfile.MaxBlockSize)
		compute(t, dir, options(2))
		want := brute(t, game, layers)
		for _, bytes := range []int64{0, 1, 9000} {
			for n, l := range verified(t, dir, bytes) {
				must.Hold(t, len(l.Problems) == 0 && l.Checked == l.Positions, "%v, layer %d, %d bytes: %+v", r, n, bytes, l)
			}
		}
		for range tries.Pick(3, 30, 240) {
			n := 3 + rng.IntN(top-2)
			rank := rng.IntN(len(want[n]))
			wrong := (want[n][rank] + 1 + rng.IntN(255)) % 256
			other := testrun.Copy(t, dir)
			writeDistances(t, other, n, func(plies []int8) { plies[rank] = int8(wrong) })
			l := verified(t, other, 9000, n)[0]
			text := fmt.Sprintf("rank %d: the distance is %d plies, but its moves give %d", rank, wrong, want[n][rank])
			found := slices.ContainsFunc(l.Problems, func(p verify.Problem) bool { return strings.HasSuffix(p.Text, text) })
			must.Hold(t, found, "%v, layer %d: %q is not said in %+v", r, n, text, l)
		}
	}
}

// TestVerifyDamage: a damaged file of distances, and one of other scores, are found, and scores are compared all the same. Tables, and who computes
// distances, refuse other scores.
func TestVerifyDamage(t *testing.T) {
	dir, layers := whole(t, 7)
	path := filepath.Join(dir, rundir.DistanceName(7))
	good := must.Read(t, path)
	for name, damage := range map[string]func(){
		"cut": func() { must.Write(t, path, good[:len(good)-3]) }, "changed": func() { testrun.Flip(t, path, len(good)/2) },
		"foreign": func() { must.Write(t, path, []byte("words")) },
	} {
		must.Write(t, path, good)
		damage()
		l := verified(t, dir, 0, 7)[0]
		should.Hold(t, len(l.Problems) > 0 && errors.Is(l.Problems[0].Damage, corrupt.ErrCorrupt) && l.Checked == l.Positions, "%s: %+v", name, l)
	}
	must.Write(t, path, good)
	should.Equal(t, len(verified(t, dir, 0, 7)[0].Problems), 0, "problems")
	for what, change := range map[string]func(d *manifest.Distances){
		"bytes": func(d *manifest.Distances) { d.Bytes++ }, "hash": func(d *manifest.Distances) { d.Hash++ }, "checksum": func(d *manifest.Distances) { d.Checksum++ },
	} {
		listed := testrun.Copy(t, dir)
		testrun.EditManifest(t, listed, func(m *manifest.Manifest) { change(&m.Layers[7].Distances) })
		l := verified(t, listed, 0, 7)[0]
		should.Not(t, len(l.Problems) == 0 || !errors.Is(l.Problems[0].Damage, corrupt.ErrMismatch), "other %s are listed: %+v", what, l)
	}
	// Two positions of a cycle may exchange scores, but then the distances are not of these scores.
	layers[7][5] = testrun.Other(layers[7][5])
	testrun.TakeLayer(t, dir, testrun.Write(t, testrun.Game(t, 8, 0), layers, 1<<16), 7)
	l := verified(t, dir, 0, 7)[0]
	should.Not(t, len(l.Problems) == 0 || !errors.Is(l.Problems[0].Damage, tables.ErrMismatch) || l.Mismatches == 0, "%+v", l)
	tb := tabletest.Open(t, dir)
	for n, want := range map[int]bool{6: true, 7: false} {
		var plies [1]int8
		known, err := tb.ReadDistances(t.Context(), n, 0, plies[:])
		should.Not(t, known != want || errors.Is(err, tables.ErrMismatch) == want, "layer %d: %v, %v", n, known, err)
	}
	should.Be(t, must.Err(distance.Run(t.Context(), dir, options(1))), corrupt.ErrCorrupt, "wrong scores")
}

// TestNoted: a verification that was interrupted before there were distances compares them.
func TestNoted(t *testing.T) {
	dir, _ := run(t, 7)
	o := verify.Options{Job: job.Job{Workers: 1, Family: cpu.Best()}, Resume: true}
	runstest.Interrupt(t, &o.Job, func(s job.Step) bool { return s.Seeds == 7 }, func(ctx context.Context) error {
		return must.Err(verify.Run(ctx, dir, o))
	})
	compute(t, dir, options(1))
	writeDistances(t, dir, 5, func(plies []int8) { plies[len(plies)/2]++ })
	result := must.Get(verify.Run(t.Context(), dir, o))(t)
	should.Not(t, result.OK || result.Layers[5].Before != nil, "%+v", result.Layers[5])
}

// TestScrub: scrub reads distances, and tells damaged ones and those of other scores from intact ones.
func TestScrub(t *testing.T) {
	dir, _ := run(t, 5)
	compute(t, dir, distance.Options{Layers: []int{1, 2, 3, 4, 5}, Job: options(1).Job})
	for _, n := range []int{1, 3} {
		must.OK(t, os.Remove(filepath.Join(dir, rundir.DistanceName(n))))
	}
	must.OK(t, os.Mkdir(filepath.Join(dir, rundir.DistanceName(3)), 0o755))
	testrun.Flip(t, filepath.Join(dir, rundir.DistanceName(4)), -120)
	other := testrun.Dir(t, 8, awari.Strict, 5, layerfile.MaxBlockSize)
	compute(t, other, options(1))
	must.Write(t, filepath.Join(dir, rundir.DistanceName(5)), []byte(readFile(t, other, 5)))
	var last job.Step
	result := must.Get(scrub.Run(t.Context(), dir, scrub.Options{Job: job.Job{Workers: 2, Progress: func(s job.Step) { last = s }}}))(t)
	should.Hold(t, last.Total-last.Done < float64(len(readFile(t, dir, 5))), "amid the last file: %+v", last)
	for n, want := range []scrub.State{"", scrub.Missing, scrub.Intact, scrub.Damaged, scrub.Damaged, scrub.Stale} {
		l := result.Layers[n]
		should.Hold(t, l.Distances == want && l.State == scrub.Intact && (l.Count > 0) == (n > 2 || n == 1), "layer %d: %+v", n, l)
	}
	size := len(must.Read(t, filepath.Join(dir, rundir.LayerName(2)))) + len(readFile(t, dir, 2))
	should.Equal(t, result.Layers[2].Bytes, int64(size), "bytes of scores and distances")
	should.Not(t, result.OK || !errors.Is(result.Err(), corrupt.ErrCorrupt), "%v", result.Err())
}

// TestParts: what verify and scrub say of distances is the same in parts.
func TestParts(t *testing.T) {
	const top = 6
	dir, _ := whole(t, top)
	path := filepath.Join(dir, rundir.DistanceName(top))
	good := must.Read(t, path)
	text := func(result any, err error) string {
		must.OK(t, err)
		data := must.Get(json.Marshal(result))(t)
		return regexp.MustCompile(`"seconds":[^}]*`).ReplaceAllString(string(data), "")
	}
	verified := func(p job.Part) string {
		return text(verify.Run(t.Context(), dir, verify.Options{Job: job.Job{Family: cpu.Best()}, Part: p}))
	}
	scrubbed := func(p job.Part) string { return text(scrub.Run(t.Context(), dir, scrub.Options{Part: p})) }
	for name, damage := range map[string]func(){
		"none":    func() {},
		"wrong":   func() { writeDistances(t, dir, top, func(plies []int8) { plies[len(plies)/3]++ }) },
		"changed": func() { testrun.Flip(t, path, len(good)/2) },
		"cut":     func() { must.Write(t, path, good[:len(good)-3]) },
	} {
		must.Write(t, path, good)
		damage()
		for _, check := range []func(job.Part) string{verified, scrubbed} {
			want := check(job.Part{})
			for _, i := range []int{2, 3, 1, 2} {
				check(job.Part{Index: i, Of: 3})
			}
			should.Equal(t, check(job.Part{All: true}), want, "%s", name)
			must.Write(t, path, must.Read(t, path)) // another file: nothing is known of it
			must.Touch(t, path)
			got := check(job.Part{All: true})
			should.Not(t, strings.Contains(got, `"ok":true`), "%s, replaced: %s", name, got)
		}
	}
}

func proved(t testing.TB, dir string) *prove.Result {
	t.Helper()
	return must.Get(prove.Run(t.Context(), dir, prove.Options{Job: job.Job{Workers: 2, Family: cpu.Best()}}))(t)
}

// TestProof: distances prove the layers that have them, without a pass, and prove the same as passes do.
func TestProof(t *testing.T) {
	for _, r := range rules {
		const top = 6
		dir := testrun.Dir(t, 8, r, top, layerfile.MaxBlockSize)
		want := proved(t, dir)
		compute(t, dir, distance.Options{Layers: []int{2, top - 1, top}, Job: options(2).Job})
		got := proved(t, dir)
		must.Hold(t, want.OK && got.OK, "%v %v", want.Err(), got.Err())
		for n, l := range got.Layers {
			by, passes := *l.Proof, *want.Layers[n].Proof
			there := n == 2 || n >= top-1
			should.Not(t, n > 0 && there != (by.Passes == 0), "layer %d: %d passes", n, by.Passes) // layer 0 needs none
			by.Passes, passes.Passes = 0, 0
			must.Same(t, fmt.Sprintf("layer %d", n), fmt.Sprintf("%+v", passes), fmt.Sprintf("%+v", by))
		}
	}
}

// TestLongNoProof: scores that back each other in a circle are locally optimal, and no distances follow from them: those of the true ones do not, nor
// do any others. Short tests try fewer.
func TestLongNoProof(t *testing.T) {
	rng := tries.Rand(t)
	layers := testrun.Solve(t, testrun.Game(t, 4, awari.Awari), 2)
	layers[2] = []int8{-2, -2, 2, -2, -2, 2, 2, 2, -2, 2} // see docs/proof.md
	dir := testrun.Write(t, testrun.Game(t, 4, awari.Awari), layers, layerfile.MaxBlockSize)
	r := proved(t, dir)
	must.Not(t, r.OK || r.Layers[2].Proof.Ungrounded == 0, "%+v is proved", r.Layers[2])
	should.Be(t, must.Err(distance.Run(t.Context(), dir, options(1))), corrupt.ErrCorrupt) // but layers 0 and 1 have distances now
	should.Be(t, must.Err(os.Stat(filepath.Join(dir, rundir.DistanceName(2)))), os.ErrNotExist, "there is a file")
	for range tries.Runs(300) {
		plies := make([]int8, len(layers[2]))
		for i := range plies {
			plies[i] = int8(rng.IntN([]int{3, 8, 256}[rng.IntN(3)]))
		}
		newDistances(t, dir, 2, plies)
		r := proved(t, dir)
		must.Not(t, r.OK || r.Layers[2].Proof != nil, "%+v is proved by %v", r.Layers[2], plies)
	}
}

type scoresOnly struct{ line.Scores }

// TestLongSameLines: moves found by distances are those of the search in package line, with as many plies, on every board.
func TestLongSameLines(t *testing.T) {
	for _, c := range []struct{ pits, seeds int }{{4, tries.More(7, 8)}, {6, tries.More(5, 6)}, {8, tries.More(4, 5)}} {
		for _, r := range rules {
			game, _, dir := testrun.Run(t, c.pits, r, c.seeds, 1<<16)
			compute(t, dir, options(1))
			tb, space := tabletest.Open(t, dir), testrun.Space(t, game, c.seeds)
			for _, b := range testrun.Boards(space, 0, c.seeds) {
				got, ok, err := line.Next(t.Context(), tb, b, line.Options{})
				must.OK(t, err)
				want, wantOK, err := line.Next(t.Context(), scoresOnly{tb}, b, line.Options{})
				must.OK(t, err)
				must.Hold(t, got == want && ok == wantOK, "%v, board %s: %+v, %v; searched %+v, %v", r, game.Text(b), got, ok, want, wantOK)
			}
		}
	}
}

// TestLongUCIWins: the UCI engine wins won endgames, and no board comes twice as long as it can win anything more.
func TestLongUCIWins(t *testing.T) {
	dir := tabletest.Solve(t, testrun.Game(t, 12, awari.Awari), tries.Pick(7, 11, 14))
	compute(t, dir, options(2))
	tb := tabletest.Open(t, dir)
	endgames.Win(t, tb, tries.Rand(t), tries.Pick(4, 50, 200), func(b awari.Board) int { return askUCI(t, tb, b) })
}

var bestMove = regexp.MustCompile(`bestmove ([A-F])`)

func askUCI(t *testing.T, tb *tables.Tables, b awari.Board) int {
	var out strings.Builder
	session := uci.New(uci.Options{
		Name: "Test", Author: "Nobody", Scores: tb, Blocks: search.NewBlocks(tb, 1<<24), Bytes: 1 << 20, MostBytes: 1 << 20, Workers: 1,
	})
	fen := strings.ReplaceAll(tb.Game().Text(b), " ", "-") + "-" + strconv.Itoa(awari.MaxSeeds-b.Seeds()) + "-0-S"
	must.OK(t, session.Run(t.Context(), strings.NewReader(fmt.Sprintf("position fen %s\ngo depth 1\n", fen)), &out))
	m := bestMove.FindStringSubmatch(out.String())
	must.Not(t, m == nil, "board %s: %s", fen, out.String())
	return int(m[1][0] - 'A')
}

// TestMany: asked together, boards of all layers have the distances that they have one by one.
func TestMany(t *testing.T) {
	dir, _ := run(t, 8)
	compute(t, dir, distance.Options{Layers: []int{3, 6, 8}, Job: options(2).Job})
	tb, rng := tabletest.Open(t, dir), tries.Rand(t)
	space, boards, got := testrun.Space(t, tb.Game(), 8), make([]awari.Board, 500), make([]int16, 500)
	for i := range boards {
		n := rng.IntN(9)
		boards[i] = space.Unrank(n, rng.Uint64N(space.Size(n)))
	}
	must.OK(t, tb.Distances(t.Context(), boards, got))
	for i, b := range boards {
		plies, known, err := tb.Distance(t.Context(), b)
		must.OK(t, err)
		n := b.Seeds()
		should.Not(t, known != (n == 3 || n == 6 || n == 8) || known && int(got[i]) != plies || !known && got[i] != -1,
			"board %v: %d, one by one %d, %v", b, got[i], plies, known)
	}
	should.Be(t, tb.Distances(t.Context(), append(boards, awari.Board{9}), make([]int16, 501)), tables.ErrUnsolved)
}

// TestLongContradiction: a distance that the moves do not give is damage for a player, not a move.
func TestLongContradiction(t *testing.T) {
	rng := tries.Rand(t)
	dir, layers := whole(t, 7)
	space := testrun.Space(t, testrun.Game(t, 8, awari.Awari), 7)
	for range tries.Runs(200) {
		rank := rng.IntN(len(layers[7]))
		if layers[7][rank] == 0 {
			continue
		}
		other := testrun.Copy(t, dir)
		writeDistances(t, other, 7, func(plies []int8) { plies[rank] += 100 })
		tb := tabletest.Open(t, other)
		m, _, err := line.Next(t.Context(), tb, space.Unrank(7, uint64(rank)), line.Options{})
		must.Hold(t, errors.Is(err, corrupt.ErrCorrupt), "rank %d: %+v, %v", rank, m, err)
	}
}
