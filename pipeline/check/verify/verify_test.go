package verify_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run verifies a directory and fails the test if that is not possible.
func run(t testing.TB, dir string, o verify.Options) *verify.Result {
	t.Helper()
	return must.Get(verify.Run(t.Context(), dir, o))(t)
}

// ways are options that must not change the outcome: one worker or several, one panel or as many as there can be.
func ways() map[string]verify.Options {
	return map[string]verify.Options{
		"plain":  {},
		"memory": {Job: job.Job{Workers: 3, Family: cpu.Best()}},
		"some":   {Job: job.Job{Workers: 2}, MemoryBytes: 2000},
		"least":  {Job: job.Job{Workers: 2}, MemoryBytes: 1},
	}
}

func TestLongIntact(t *testing.T) {
	for _, c := range []struct{ pits, seeds, block int }{{4, tries.More(10, 12), 50}, {8, tries.More(6, 8), 1000}} {
		for _, rules := range awari.RuleSets() {
			game, layers, dir := testrun.Run(t, c.pits, rules, c.seeds, c.block)
			for name, o := range ways() {
				result := run(t, dir, o)
				must.Hold(t, result.OK && result.Err() == nil && len(result.Layers) == c.seeds+1, "%s, %s: %+v", game.Name(), name, result)
				for n, l := range result.Layers {
					size := uint64(len(layers[n]))
					should.Hold(t, l.Seeds == n && l.Positions == size && l.Checked == size && l.Mismatches == 0, "%s, %s: %+v", game.Name(), name, l)
				}
			}
		}
	}
}

func TestJSON(t *testing.T) {
	game := testrun.Game(t, 4, awari.Awari)
	layers := testrun.Solve(t, game, 2)
	layers[2][1] = 1 // no move leads there
	result := run(t, testrun.Write(t, game, layers, 64), verify.Options{Layers: []int{2, 0, 2}, Seed: 7})
	result.Seconds = 0.5
	got := must.Get(json.Marshal(result))(t)
	want := `{"ok":false,"sample":0,"seed":7,"layers":[` + `{"seeds":0,"positions":1,"checked":1,"mismatches":0,"problems":[]},` +
		`{"seeds":2,"positions":10,"checked":10,"mismatches":1,"problems":[` +
		`{"text":"board 0 0 1 1, rank 1: the score is 1, but its moves give -2",` +
		`"difference":{"rank":1,"board":"0 0 1 1","stored":1,"expected":-2}}]}],"seconds":0.5}`
	should.Hold(t, string(got) == want, "%s, want\n%s", got, want)
}

// TestFalseScores has correct checksums on wrong scores.
func TestFalseScores(t *testing.T) {
	game, layers, _ := testrun.Run(t, 8, awari.Awari, 8, 1000)
	truth := layers[8][4000]
	layers[8][4000] = testrun.Other(truth)
	for i := range 30 {
		layers[7][100*i] = testrun.Other(layers[7][100*i])
	}
	dir := testrun.Write(t, game, layers, 100)
	want := run(t, dir, verify.Options{})
	err := want.Err()
	must.Not(t, want.OK || !errors.Is(err, verify.ErrDifferences) || errors.Is(err, corrupt.ErrCorrupt), "%v", err)
	found := slices.ContainsFunc(want.Layers[8].Problems, func(p verify.Problem) bool {
		return *p.Difference == verify.Difference{
			Rank: 4000, Board: game.Text(testrun.Space(t, game, 8).Unrank(8, 4000)), Stored: int(testrun.Other(truth)), Expected: int(truth),
		}
	})
	should.Hold(t, found, "rank 4000 is missing in %+v", want.Layers[8])
	l := want.Layers[7]
	should.Hold(t, l.Mismatches >= 30 && len(l.Problems) == verify.MaxDifferences && l.Problems[0].Difference.Rank == 0, "%+v", l)
	for name, o := range ways() {
		must.Same(t, name, want.Layers, run(t, dir, o).Layers)
	}
}

func TestSample(t *testing.T) {
	game, layers, _ := testrun.Run(t, 8, awari.Strict, 9, 1000)
	for i := range layers[9] {
		layers[9][i] = 1
	}
	dir := testrun.Write(t, game, layers, 1000)
	const sampled = 2500 // with little memory that is three batches
	sample := func(o verify.Options, seed uint64) verify.Layer {
		o.Sample, o.Seed = sampled, seed
		result := run(t, dir, o)
		for n, l := range result.Layers {
			should.Not(t, l.Checked != min(sampled, uint64(len(layers[n]))) || n < 9 && len(l.Problems) > 0, "%+v", l)
		}
		return result.Layers[9]
	}
	want := sample(verify.Options{}, 1)
	should.Hold(t, want.Mismatches >= sampled/3 && len(want.Problems) == verify.MaxDifferences, "%+v", want)
	for name, o := range ways() {
		must.Same(t, name, want, sample(o, 1))
	}
	should.Not(t, reflect.DeepEqual(sample(verify.Options{}, 2), want), "another seed, the same sample")
	run(t, testrun.Write(t, game, layers[:1], 1000), verify.Options{Sample: sampled}) // nothing is below
}

// TestDamage changes the file of layer 5 and wants that layer, and those above from which captures lead there, to be reported, with the
// name of the file.
func TestDamage(t *testing.T) {
	_, _, right := testrun.Run(t, 4, awari.Awari, 8, 8)
	file := func(dir string, n int) []byte { return must.Read(t, filepath.Join(dir, rundir.LayerName(n))) }
	whole := file(right, 5)
	blocks := bytes.Clone(whole)
	for i, at := range blocksOf(whole)[:2] {
		blocks[at] ^= byte(1 + i)
	}
	for name, c := range map[string]struct {
		file   []byte
		want   error
		errors int // expected of layer 5
	}{
		"two blocks":    {blocks, corrupt.ErrCorrupt, 2},
		"truncated":     {whole[:len(whole)-100], corrupt.ErrCorrupt, 1},
		"missing":       {nil, fs.ErrNotExist, 1},
		"another layer": {file(right, 4), corrupt.ErrMismatch, 1},
		"other rules":   {file(testrun.Dir(t, 4, awari.Strict, 5, 8), 5), corrupt.ErrMismatch, 1},
	} {
		dir := testrun.Copy(t, right)
		path := filepath.Join(dir, rundir.LayerName(5))
		if must.OK(t, os.Remove(path)); c.file != nil {
			must.Write(t, path, c.file)
		}
		for way, o := range ways() {
			result := run(t, dir, o)
			err := result.Err()
			should.Hold(t, !result.OK && errors.Is(err, corrupt.ErrCorrupt) && errors.Is(err, c.want), "%s, %s: %v", name, way, err)
			for n, l := range result.Layers {
				want := map[int]int{5: c.errors, 7: 1, 8: 1}[n]
				should.Hold(t, len(l.Problems) == want && (want == 0) == (l.Checked == l.Positions), "%s, %s: %+v, want %d problems", name, way, l, want)
				for _, p := range l.Problems {
					should.Hold(t, p.Difference == nil && strings.Contains(p.Text, path), "%s, %s, layer %d: %s", name, way, n, p.Text)
				}
			}
		}
	}
}

// blocksOf returns where the blocks of a layer file begin.
func blocksOf(file []byte) (all []uint64) {
	footer := len(file) - 76
	for index := file[binary.LittleEndian.Uint64(file[footer:]):footer]; len(index) >= 24; index = index[24:] {
		all = append(all, binary.LittleEndian.Uint64(index))
	}
	return all
}

// TestDamageBelow damages each block below a layer, which alone is verified: it is in order only if all of it could be compared.
func TestDamageBelow(t *testing.T) {
	const n = 7
	for _, rules := range awari.RuleSets() {
		dir, damaged := testrun.Dir(t, 4, rules, n, 8), 0
		for k := range n {
			path := filepath.Join(dir, rundir.LayerName(k))
			right := must.Read(t, path)
			for _, at := range blocksOf(right) {
				testrun.Flip(t, path, int(at))
				r := run(t, dir, verify.Options{Layers: []int{n}})
				if l := r.Layers[0]; r.OK && l.Checked != l.Positions {
					t.Errorf("%v, a block of layer %d: %+v", rules, k, l)
				} else if !r.OK {
					damaged++
				}
				must.Write(t, path, right)
			}
		}
		should.Not(t, damaged == 0, "%v: no block is missed", rules)
	}
}

// TestFalseManifest has a manifest that is right in all sums but one histogram.
func TestFalseManifest(t *testing.T) {
	dir := testrun.Dir(t, 4, awari.Awari, 5, 64)
	testrun.EditManifest(t, dir, func(m *manifest.Manifest) {
		h := &m.Layers[5].Histogram
		h[5], h[4] = h[5]-1, h[4]+1
	})
	err := run(t, dir, verify.Options{}).Err()
	should.Says(t, err, corrupt.ErrMismatch, "histogram")
	should.Hold(t, strings.HasPrefix(fmt.Sprint(err), "layer 5: "), "%v", err)
}

func TestRefused(t *testing.T) {
	should.Be(t, must.Err(verify.Run(t.Context(), filepath.Join(t.TempDir(), "none"), verify.Options{})), rundir.ErrMissing, "no directory")
	game, _, dir := testrun.Run(t, 4, awari.Awari, 3, 64)
	for _, n := range []int{-1, 4} {
		should.Says(t, must.Err(verify.Run(t.Context(), dir, verify.Options{Layers: []int{n}})), tables.ErrUnsolved, fmt.Sprintf("layer %d, but ", n))
	}
	tab := must.Get(tables.Open(t.Context(), dir))(t)
	defer tab.Close()
	for less, want := range map[uint64]bool{0: false, 16: true} { // of memory for the smallest panel
		o := verify.Options{Job: job.Job{Workers: 2, Memory: memory.Need(verify.Fixed(tab, 3, 2) + verify.Least(game, 3) - less)}}
		_, err := verify.Run(t.Context(), dir, o)
		_, got := errors.AsType[*memory.Error](err)
		should.Hold(t, got == want, "%d bytes too few: %v", less, err)
	}
	result := run(t, testrun.Write(t, game, nil, 64), verify.Options{})
	should.Hold(t, result.OK && len(result.Layers) == 0, "nothing is solved: %+v", result)
}

func TestProgress(t *testing.T) {
	dir := testrun.Dir(t, 8, awari.Awari, 7, 64)
	os.Remove(filepath.Join(dir, rundir.LayerName(6)))
	var last job.Step
	run(t, dir, verify.Options{Job: job.Job{Workers: 2, Progress: func(p job.Step) {
		should.Not(t, p.Seeds < last.Seeds || p.Done < last.Done || p.Done > p.Total, "%+v after %+v", p, last)
		last = p
	}}})
	should.Hold(t, last.Seeds == 7 && last.Done == last.Total && last.Total == 6435, "%+v", last) // 15 choose 8
	parts := 0.0
	for i := range 3 {
		run(t, dir, verify.Options{Sample: 100, Layers: []int{5}, Part: job.Part{Index: i + 1, Of: 3}, Job: job.Job{Progress: func(p job.Step) { last = p }}})
		parts += last.Total
	}
	should.Hold(t, parts == 100, "parts of a sample of 100 have %v", parts)
}

func TestCancel(t *testing.T) {
	dir := testrun.Dir(t, 8, awari.Awari, 7, 64)
	o := verify.Options{Job: job.Job{Workers: 2}}
	runstest.Interrupt(t, &o.Job, func(p job.Step) bool { return p.Seeds == 5 }, func(ctx context.Context) error {
		result, err := verify.Run(ctx, dir, o)
		should.Not(t, len(result.Layers) < 5 || len(result.Layers) > 6, "%+v", result)
		return err
	})
}

// interrupt verifies until stop says so, and wants notes.
func interrupt(t *testing.T, dir string, o verify.Options, stop func(job.Step) bool) {
	t.Helper()
	o.Resume = true
	runstest.Interrupt(t, &o.Job, stop, func(ctx context.Context) error {
		return must.Err(verify.Run(ctx, dir, o))
	})
	must.Hold(t, noted(dir), "nothing is noted")
}

func noted(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, rundir.WorkName, rundir.VerifyName))
	return err == nil
}

func before(r *verify.Result) (all []int) {
	for _, l := range r.Layers {
		if l.Before != nil {
			all = append(all, l.Seeds)
		}
	}
	return all
}

// TestResume: what was verified is not verified again, unless a file changed.
func TestResume(t *testing.T) {
	dir := testrun.Dir(t, 8, awari.Awari, 7, 64)
	at := func(n int) func(job.Step) bool { return func(p job.Step) bool { return p.Seeds == n } }
	for name, c := range map[string]struct {
		change func()
		o      verify.Options
		want   int // layers that are not verified again
	}{
		"same":     {func() {}, verify.Options{}, 5},
		"restart":  {func() {}, verify.Options{Restart: true}, 0},
		"sample":   {func() {}, verify.Options{Sample: 5}, 0},
		"replaced": {func() { must.Touch(t, filepath.Join(dir, rundir.LayerName(2))) }, verify.Options{}, 3}, // 0, 1, 3
	} {
		interrupt(t, dir, verify.Options{Restart: true}, at(5))
		c.change()
		c.o.Resume = true
		skipped := uint64(0)
		c.o.Progress = func(p job.Step) { skipped = uint64(p.Begun) }
		r := run(t, dir, c.o)
		for _, n := range before(r) {
			skipped -= r.Layers[n].Positions
		}
		should.Hold(t, skipped == 0, "%s: begun with others than %v", name, before(r))
		should.Hold(t, len(before(r)) == c.want && r.OK && len(r.Layers) == 8, "%s: %v, %+v", name, before(r), r)
		should.Equal(t, noted(dir), c.o.Sample > 0, "%s: notes at the end", name)
	}
	interrupt(t, dir, verify.Options{Restart: true}, at(5))
	r := run(t, dir, verify.Options{Resume: true, Layers: []int{2}})
	should.Hold(t, len(before(r)) == 1 && noted(dir), "one layer: %+v", r)
	r = run(t, dir, verify.Options{Resume: true})
	should.Not(t, len(before(r)) != 4 || noted(dir), "the others: %v", before(r))
}

// TestResumeOutOfReach: a layer that an earlier run has found in order, and that cannot be opened any more, is not called so.
func TestResumeOutOfReach(t *testing.T) {
	dir := testrun.Dir(t, 8, awari.Awari, 7, 64)
	interrupt(t, dir, verify.Options{}, func(p job.Step) bool { return p.Seeds == 5 })
	path := filepath.Join(dir, rundir.LayerName(4))
	o := verify.Options{Resume: true, Layers: []int{0, 4}, Job: job.Job{Progress: func(p job.Step) {
		if p.Seeds == 0 { // layer 4 comes
			os.Remove(path)
			must.OK(t, os.Symlink(rundir.LayerName(4), path)) // to itself
		}
	}}}
	r, err := verify.Run(t.Context(), dir, o)
	should.Hold(t, err != nil && !errors.Is(err, corrupt.ErrCorrupt), "%v, %+v", err, r)
}

// TestResumePanel: panels that are in order are not compared again, those with wrong scores are.
func TestResumePanel(t *testing.T) {
	game, layers, intact := testrun.Run(t, 8, awari.Awari, 9, 1000)
	size, space := uint64(len(layers[9])), testrun.Space(t, game, 9)
	o := verify.Options{Layers: []int{9}, MemoryBytes: 1}
	interrupt(t, intact, o, func(p job.Step) bool { return p.Done > float64(size/2) })
	o.Resume, o.Progress = true, func(p job.Step) {
		should.Not(t, p.Begun < float64(size/4) || p.Begun > p.Done, "progress %+v", p)
	}
	r := run(t, intact, o)
	should.Hold(t, r.OK, "%+v", r)
	_, first := space.Rank(awari.Board{0, 0, 0, 5, 1, 1, 1, 1}) // no move leads there: one panel differs, an early one
	o.Layers, o.Progress = []int{8, 9}, nil
	for _, rank := range []uint64{0, first} {
		right := layers[9][rank]
		layers[9][rank] = testrun.Other(right)
		wrong := testrun.Write(t, game, layers, 1000)
		layers[9][rank] = right
		want := run(t, wrong, verify.Options{Layers: o.Layers})
		must.Not(t, want.OK, "a wrong score is not found")
		interrupt(t, wrong, o, func(p job.Step) bool { return p.Done > float64(space.Size(8)+size/2) })
		r := run(t, wrong, o)
		should.Not(t, r.OK || r.Layers[1].Mismatches != want.Layers[1].Mismatches, "rank %d: %+v, want %+v", rank, r, want)
	}
}

// TestNoteByHand: a note that says of wrong scores that they are in order is not believed.
func TestNoteByHand(t *testing.T) {
	game, layers, _ := testrun.Run(t, 8, awari.Awari, 9, 1000)
	space := testrun.Space(t, game, 9)
	_, wrong := space.Rank(awari.Board{5, 0, 0, 0, 1, 1, 1, 1}) // no move leads there: one panel differs
	layers[9][wrong] = testrun.Other(layers[9][wrong])
	dir := testrun.Write(t, game, layers, 1000)
	o := verify.Options{Layers: []int{9}, MemoryBytes: 1}
	interrupt(t, dir, o, func(p job.Step) bool { return p.Done > float64(space.Size(9)/2) })
	path := filepath.Join(dir, rundir.WorkName, rundir.VerifyName)
	note := regexp.MustCompile(`("parts": (\d+),\s+"done": )\d+`).ReplaceAll(must.Read(t, path), []byte("$1$2"))
	must.Write(t, path, note)
	told := ""
	o.Resume, o.Note = true, func(text string) { told += text }
	r := run(t, dir, o)
	should.Hold(t, r.Layers[0].Mismatches > 0 && errors.Is(r.Err(), verify.ErrDifferences) && strings.Contains(told, "it was changed"),
		"%+v, told %q", r, told)
}

// TestNothingNoted: a layer that is no file is damage, not the end of the run, and nothing is noted then.
func TestNothingNoted(t *testing.T) {
	dir := testrun.Dir(t, 8, awari.Awari, 7, 64)
	path := filepath.Join(dir, rundir.LayerName(3))
	must.OK(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o755)))
	r := run(t, dir, verify.Options{Resume: true})
	should.Not(t, len(r.Layers) != 8 || !errors.Is(r.Err(), corrupt.ErrCorrupt) || noted(dir), "%+v, noted %v", r, noted(dir))
}

// jsonOf returns what scripts see of a result, but for the time that it took.
func jsonOf(t *testing.T, r *verify.Result) string {
	t.Helper()
	r.Seconds = 0
	return string(must.Get(json.Marshal(r))(t))
}

// divided verifies a directory in n parts, in random order: three are interrupted first, if they have work, and one is done twice.
func divided(t *testing.T, random *rand.Rand, dir string, n int, o verify.Options) {
	order := random.Perm(n)
	order = append(order, order[random.IntN(n)])
	for k, i := range order {
		o := o
		o.Part = job.Part{Index: i + 1, Of: n}
		o.Workers = 1 + random.IntN(3)
		o.MemoryBytes = []int64{0, 1, 3000}[random.IntN(3)]
		if k < 3 {
			cut, stop := context.WithCancel(t.Context())
			at := random.IntN(40)
			o.Progress = func(job.Step) {
				if at--; at < 0 {
					stop()
				}
			}
			err := must.Err(verify.Run(cut, dir, o))
			must.Not(t, err != nil && !errors.Is(err, context.Canceled), "%v", err)
			stop()
			o.Progress = nil
		}
		should.Equal(t, run(t, dir, o).Part, o.Part.String(), "part %s is called", o.Part)
	}
}

func allOf(t *testing.T, dir string, o verify.Options) *verify.Result {
	t.Helper()
	o.Part.All = true
	return run(t, dir, o)
}

// TestLongParts: parts add up to what one run says, whatever is wrong: nothing, scores in several layers, a damaged file.
func TestLongParts(t *testing.T) {
	random := tries.Rand(t)
	for g, game := range []awari.Game{testrun.Game(t, 4, awari.Awari), testrun.Game(t, 8, awari.Strict)} {
		seeds := map[int]int{4: 9, 8: 6}[game.Pits()]
		for w, wrong := range []string{"nothing", "scores", "block", "file", "below"} {
			for i, o := range []verify.Options{{}, {Sample: 300, Seed: 5}} {
				if !tries.Long() && w < 4 && (w+i+g)%2 > 0 {
					continue // the other game has it
				}
				layers := testrun.Solve(t, game, seeds)
				if wrong == "scores" {
					for range 30 {
						scores := layers[2+random.IntN(seeds-1)]
						i := random.IntN(len(scores))
						scores[i] = testrun.Other(scores[i])
					}
				}
				dir := testrun.Write(t, game, layers, 100)
				path := filepath.Join(dir, rundir.LayerName(seeds))
				if wrong == "below" {
					path = filepath.Join(dir, rundir.LayerName(seeds-2))
				}
				if size := len(must.Read(t, path)); wrong == "block" || wrong == "below" {
					testrun.Flip(t, path, size/2)
				} else if wrong == "file" {
					must.OK(t, os.Truncate(path, int64(size-1)))
				}
				want := run(t, dir, o)
				for _, n := range tries.Pick([]int{1 + random.IntN(7)}, []int{2, 20 + random.IntN(60)}, []int{1, 2, 16, 20 + random.IntN(300)}) {
					divided(t, random, dir, n, o)
					o := o
					o.Part.Of = n
					got := allOf(t, dir, o)
					a, b := jsonOf(t, got), jsonOf(t, want)
					for i, l := range got.Layers {
						if len(l.Missing) > 0 || (len(l.Problems) > 0) != (len(want.Layers[i].Problems) > 0) {
							t.Errorf("%s, %s, sample %d, %d parts: %+v, want %+v", game.Name(), wrong, o.Sample, n, l, want.Layers[i])
						}
					}
					if stops := wrong == "below" || o.Sample > 0 && wrong == "block"; a != b && !stops { // how far it comes is another question
						t.Fatalf("%s, %s, sample %d, %d parts: %s, want %s", game.Name(), wrong, o.Sample, n, a, b)
					}
					same(t, got.Err(), want.Err())
				}
			}
		}
	}
}

// same wants two errors of the same kind that say the same.
func same(t *testing.T, got, want error) {
	t.Helper()
	should.Hold(t, fmt.Sprint(got) == fmt.Sprint(want), "error %v, want %v", got, want)
	for _, kind := range []error{corrupt.ErrCorrupt, verify.ErrDifferences, fault.Missing} {
		should.Hold(t, errors.Is(got, kind) == errors.Is(want, kind), "%v and %v: not both match %v", got, want, kind)
	}
}

// TestMissingParts: a part that is missing is named, and nothing is in order then; what is wrong in others is said all the same.
func TestMissingParts(t *testing.T) {
	dir := testrun.Dir(t, 8, awari.Awari, 7, 100)
	part := func(i, n int, o verify.Options) *verify.Result {
		o.Part = job.Part{Index: i, Of: n}
		return run(t, dir, o)
	}
	should.Says(t, must.Err(verify.Run(t.Context(), dir, verify.Options{Part: job.Part{All: true}})), fault.Missing, "no part was done")
	for i := 1; i <= 5; i++ {
		part(i, 5, verify.Options{})
	}
	r := allOf(t, dir, verify.Options{})
	should.Hold(t, r.OK && r.Err() == nil, "%+v", r)
	missing := func(what string, want []int, layers ...int) {
		t.Helper()
		r := allOf(t, dir, verify.Options{})
		for n, l := range r.Layers {
			expect := want
			if layers != nil && !slices.Contains(layers, n) {
				expect = nil
			}
			should.Not(t, !slices.Equal(l.Missing, expect) || (l.Checked == l.Positions) != (expect == nil) && l.Positions > 5 || l.Mismatches > 0,
				"%s: layer %d: %+v", what, n, l)
		}
		if err := r.Err(); r.OK || !errors.Is(err, fault.Missing) || errors.Is(err, verify.ErrDifferences) || !strings.Contains(err.Error(), job.List(want)+" of") {
			t.Errorf("%s: ok %v, %v", what, r.OK, err)
		}
	}
	note := func(i int) string {
		return filepath.Join(dir, rundir.WorkName, rundir.PartName(rundir.VerifyName, i, 5))
	}
	kept := must.Read(t, note(2))
	must.OK(t, errors.Join(os.Remove(note(2)), os.Remove(note(4))))
	missing("two removed", []int{2, 4})

	must.Write(t, filepath.Join(dir, rundir.WorkName, rundir.VerifyName), kept)
	r = run(t, dir, verify.Options{Resume: true})
	should.Hold(t, before(r) == nil && strings.HasPrefix(r.Restarted, "verify starts again: "),
		"a part as a whole: %v, %q", before(r), r.Restarted)

	part(2, 5, verify.Options{})
	part(4, 5, verify.Options{Layers: []int{7}})
	missing("a part of one layer", []int{4}, 0, 1, 2, 3, 4, 5, 6)
	part(4, 5, verify.Options{})
	must.Touch(t, filepath.Join(dir, rundir.LayerName(7)))
	missing("a layer file was replaced", []int{1, 2, 3, 4, 5}, 7)
	part(3, 5, verify.Options{Layers: []int{7}})
	missing("one part again", []int{1, 2, 4, 5}, 7)
}

// TestMissingAndWrong: a wrong score is named although a part is missing, also if that part was done before the layer was replaced.
func TestMissingAndWrong(t *testing.T) {
	game, layers, good := testrun.Run(t, 8, awari.Awari, 7, 100)
	layers[7][700] = testrun.Other(layers[7][700])
	bad := testrun.Write(t, game, layers, 100)
	found := 0
	for i := 1; i <= 4; i++ {
		o := verify.Options{Part: job.Part{Index: i, Of: 4}}
		run(t, good, o)
		if r := run(t, bad, o); r.OK {
			continue
		}
		found++
		all := allOf(t, bad, verify.Options{})
		should.Not(t, !errors.Is(all.Err(), verify.ErrDifferences) || all.Layers[7].Mismatches == 0 || all.OK, "after part %d: %+v", i, all)
	}
	should.Not(t, found == 0, "no part has found it")
	r := allOf(t, good, verify.Options{})
	should.Hold(t, r.OK, "%+v", r)
	testrun.TakeLayer(t, good, bad, 7)
	r = allOf(t, good, verify.Options{})
	should.Hold(t, !r.OK && slices.Equal(r.Layers[7].Missing, []int{1, 2, 3, 4}) && r.Layers[7].Checked == 0, "%+v", r.Layers[7])
}

// TestPartAgain: a part that was in order is not done again, one with faults is, and so is one of another sample.
func TestPartAgain(t *testing.T) {
	game, layers, _ := testrun.Run(t, 8, awari.Awari, 7, 100)
	layers[6][100] = testrun.Other(layers[6][100])
	dir := testrun.Write(t, game, layers, 100)
	o := verify.Options{Part: job.Part{Index: 1, Of: 1}}
	first := run(t, dir, o)
	again := run(t, dir, o)
	should.Not(t, first.OK || again.OK || before(first) != nil || again.Layers[6].Before != nil, "again: %v", before(again))
	should.List(t, before(again)[:6], []int{0, 1, 2, 3, 4, 5})
	same(t, again.Err(), first.Err())
	o.Restart = true
	should.List(t, before(run(t, dir, o)), nil, "restart")
	o = verify.Options{Part: job.Part{Index: 1, Of: 2}, Layers: []int{7}, Sample: 100, Seed: 3}
	run(t, dir, o)
	r := run(t, dir, o)
	should.Hold(t, len(before(r)) == 1 && r.Layers[0].Checked == 50, "the same sample: %+v", r)
	o.Seed++
	r = run(t, dir, o)
	should.Hold(t, before(r) == nil, "another sample: %v", before(r))
	o.Part, o.Seed = job.Part{All: true}, 3
	r = run(t, dir, o)
	should.Hold(t, slices.Equal(r.Layers[0].Missing, []int{1, 2}), "all of another sample: %+v", r)
}

// TestPartResumes: a part that is interrupted goes on after its last panel.
func TestPartResumes(t *testing.T) {
	game, _, dir := testrun.Run(t, 8, awari.Awari, 9, 1000)
	size := float64(testrun.Space(t, game, 9).Size(9))
	o := verify.Options{Layers: []int{9}, MemoryBytes: 1, Part: job.Part{Index: 2, Of: 2}}
	runstest.Interrupt(t, &o.Job, func(p job.Step) bool { return p.Done > size/3 }, func(ctx context.Context) error {
		return must.Err(verify.Run(ctx, dir, o))
	})
	r := allOf(t, dir, verify.Options{Layers: o.Layers})
	should.Hold(t, slices.Equal(r.Layers[0].Missing, []int{1, 2}), "interrupted: %+v", r)
	begun := 0.0
	o.Progress = func(p job.Step) {
		begun = p.Begun
		should.Not(t, p.Done > p.Total, "progress %+v", p)
	}
	r = run(t, dir, o)
	should.Not(t, !r.OK || begun < size/8, "begun at %v of %v: %+v", begun, size, r)
}

// TestPartUnkept: a part whose result cannot be kept fails.
func TestPartUnkept(t *testing.T) {
	dir := testrun.Dir(t, 8, awari.Awari, 7, 64)
	o := verify.Options{Part: job.Part{Index: 1, Of: 2}}
	l := must.Get(rundir.LockDamaged(dir))(t)
	inUse := func(what string) {
		t.Helper()
		err := must.Err(verify.Run(t.Context(), dir, o))
		should.Hold(t, err != nil && strings.Contains(err.Error(), "in use by process"), "%s: %v", what, err)
		must.OK(t, l.Unlock())
	}
	inUse("with a solver")
	o.Done = func(layer verify.Layer) {
		if layer.Seeds == 7 {
			l = must.Get(rundir.LockDamaged(dir))(t)
		}
	}
	inUse("with a solver in the end")
	must.OK(t, os.RemoveAll(filepath.Join(dir, rundir.WorkName)))
	o.Done = nil
	r := run(t, dir, o)
	should.Hold(t, r.OK, "without work/: %+v", r)
}
