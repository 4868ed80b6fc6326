package verify_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
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

func TestIntact(t *testing.T) {
	for _, c := range []struct{ pits, seeds, block int }{{4, 14, 50}, {8, 9, 1000}} {
		for _, rules := range awari.RuleSets() {
			game, layers, dir := testrun.Run(t, c.pits, rules, c.seeds, c.block)
			for name, o := range ways() {
				t.Run(fmt.Sprintf("%s, %s", game.Name(), name), func(t *testing.T) {
					result := run(t, dir, o)
					must.Hold(t, result.OK && result.Err() == nil && len(result.Layers) == c.seeds+1, "%+v", result)
					for n, l := range result.Layers {
						size := uint64(len(layers[n]))
						if l.Seeds != n || l.Positions != size || l.Checked != size || l.Mismatches != 0 {
							t.Errorf("%+v", l)
						}
					}
				})
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
	game := testrun.Game(t, 8, awari.Awari)
	layers := testrun.Solve(t, game, 8)
	truth := layers[8][4000]
	layers[8][4000] = testrun.Other(truth)
	for i := range 30 {
		layers[7][100*i] = testrun.Other(layers[7][100*i])
	}
	dir := testrun.Write(t, game, layers, 100)
	want := run(t, dir, verify.Options{})
	err := want.Err()
	must.Not(t, want.OK || !errors.Is(err, verify.ErrDifferences) || errors.Is(err, corrupt.ErrCorrupt), "%v", err)
	found := false
	for _, p := range want.Layers[8].Problems {
		found = found || *p.Difference == verify.Difference{
			Rank: 4000, Board: game.Text(testrun.Space(t, game, 8).Unrank(8, 4000)),
			Stored: int(testrun.Other(truth)), Expected: int(truth),
		}
	}
	should.Hold(t, found, "rank 4000 is missing in %+v", want.Layers[8])
	l := want.Layers[7]
	should.Hold(t, l.Mismatches >= 30 && len(l.Problems) == verify.MaxDifferences && l.Problems[0].Difference.Rank == 0, "%+v", l)
	for name, o := range ways() {
		got := run(t, dir, o)
		should.Hold(t, reflect.DeepEqual(got.Layers, want.Layers), "%s: %+v, want %+v", name, got.Layers, want.Layers)
	}
}

func TestSample(t *testing.T) {
	game := testrun.Game(t, 8, awari.Strict)
	layers := testrun.Solve(t, game, 9)
	for i := range layers[9] {
		layers[9][i] = 1
	}
	dir := testrun.Write(t, game, layers, 1000)
	const sampled = 2500 // with little memory that is three batches
	sample := func(o verify.Options) verify.Layer {
		o.Sample = sampled
		result := run(t, dir, o)
		for n, l := range result.Layers {
			should.Not(t, l.Checked != min(sampled, uint64(len(layers[n]))) || n < 9 && len(l.Problems) > 0, "%+v", l)
		}
		return result.Layers[9]
	}
	want := sample(verify.Options{Seed: 1})
	should.Hold(t, want.Mismatches >= sampled/3 && len(want.Problems) == verify.MaxDifferences, "%+v", want)
	for name, o := range ways() {
		o.Seed = 1
		got := sample(o)
		should.Hold(t, reflect.DeepEqual(got, want), "%s: %+v, want %+v", name, got, want)
	}
	should.Not(t, reflect.DeepEqual(sample(verify.Options{Seed: 2}), want), "another seed, the same sample")
}

// TestDamage changes the file of layer 5 and wants that layer, and all that read it, to be reported, with the name of the file.
func TestDamage(t *testing.T) {
	game, strict := testrun.Game(t, 4, awari.Awari), testrun.Game(t, 4, awari.Strict)
	layers := testrun.Solve(t, game, 8)
	other := testrun.Write(t, strict, testrun.Solve(t, strict, 8), 8)
	right := testrun.Write(t, game, layers, 8)
	whole := must.Read(t, filepath.Join(right, rundir.LayerName(5)))
	blocks := bytes.Clone(whole)
	for i, index := range []uint64{0, 1} {
		index = binary.LittleEndian.Uint64(whole[len(whole)-76:]) + 24*index
		blocks[binary.LittleEndian.Uint64(whole[index:])] ^= byte(1 + i)
	}
	for name, c := range map[string]struct {
		file   []byte
		want   error
		errors int // expected of layer 5
	}{
		"two blocks":    {blocks, corrupt.ErrCorrupt, 2},
		"truncated":     {whole[:len(whole)-100], corrupt.ErrCorrupt, 1},
		"missing":       {nil, fs.ErrNotExist, 1},
		"another layer": {must.Read(t, filepath.Join(right, rundir.LayerName(4))), corrupt.ErrMismatch, 1},
		"other rules":   {must.Read(t, filepath.Join(other, rundir.LayerName(5))), corrupt.ErrMismatch, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := testrun.Copy(t, right)
			path := filepath.Join(dir, rundir.LayerName(5))
			if must.OK(t, os.Remove(path)); c.file != nil {
				must.Write(t, path, c.file)
			}
			for _, o := range ways() {
				result := run(t, dir, o)
				err := result.Err()
				should.Hold(t, !result.OK && errors.Is(err, corrupt.ErrCorrupt) && errors.Is(err, c.want), "%v", err)
				checkDamage(t, result, path, c.errors)
			}
		})
	}
}

// TestDamageBelow damages each block below a layer, which alone is verified: it is in order only if all of it could be compared.
func TestDamageBelow(t *testing.T) {
	const n = 7
	for _, rules := range awari.RuleSets() {
		game := testrun.Game(t, 4, rules)
		dir, damaged := testrun.Write(t, game, testrun.Solve(t, game, n), 8), 0
		for k := range n {
			path := filepath.Join(dir, rundir.LayerName(k))
			right := must.Read(t, path)
			index := right[binary.LittleEndian.Uint64(right[len(right)-76:]) : len(right)-76]
			for ; len(index) >= 24; index = index[24:] {
				data := bytes.Clone(right)
				data[binary.LittleEndian.Uint64(index)] ^= 1
				must.Write(t, path, data)
				r := run(t, dir, verify.Options{Layers: []int{n}})
				if l := r.Layers[0]; r.OK && l.Checked != l.Positions {
					t.Errorf("%v, a block of layer %d: %+v", rules, k, l)
				} else if !r.OK {
					damaged++
				}
			}
			must.Write(t, path, right)
		}
		should.Not(t, damaged == 0, "%v: no block is missed", rules)
	}
}

// checkDamage wants a number of errors about the file in layer 5, and one in the layers above from which captures lead there.
func checkDamage(t *testing.T, result *verify.Result, path string, errors int) {
	for n, l := range result.Layers {
		want := 0
		switch {
		case n == 5:
			want = errors
		case n > 6:
			want = 1
		}
		should.Hold(t, len(l.Problems) == want && (want == 0) == (l.Checked == l.Positions), "%+v, want %d problems", l, want)
		for _, p := range l.Problems {
			should.Hold(t, p.Difference == nil && strings.Contains(p.Text, path), "layer %d: %s", n, p.Text)
		}
	}
}

// TestFalseManifest has a manifest that is right in all sums but one histogram.
func TestFalseManifest(t *testing.T) {
	dir := testrun.Dir(t, 4, awari.Awari, 5, 64)
	testrun.EditManifest(t, dir, func(m *manifest.Manifest) {
		h := &m.Layers[5].Histogram
		h[5], h[4] = h[5]-1, h[4]+1
	})
	result := run(t, dir, verify.Options{})
	err := result.Err()
	should.Hold(t, errors.Is(err, corrupt.ErrMismatch) && strings.Contains(err.Error(), "histogram") &&
		strings.HasPrefix(err.Error(), "layer 5: "), "%v", err)
}

func TestRefused(t *testing.T) {
	should.Be(t, must.Err(verify.Run(t.Context(), filepath.Join(t.TempDir(), "none"), verify.Options{})), rundir.ErrMissing, "no directory")
	game, _, dir := testrun.Run(t, 4, awari.Awari, 3, 64)
	for _, n := range []int{-1, 4} {
		_, err := verify.Run(t.Context(), dir, verify.Options{Layers: []int{n}})
		should.Hold(t, errors.Is(err, tables.ErrUnsolved) && strings.Contains(err.Error(), fmt.Sprintf("layer %d, but ", n)),
			"layer %d: %v", n, err)
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
	ctx, cancel := context.WithCancel(t.Context())
	result, err := verify.Run(ctx, dir, verify.Options{Job: job.Job{Workers: 2, Progress: func(p job.Step) {
		if p.Seeds == 5 {
			cancel()
		}
	}}})
	should.Hold(t, errors.Is(err, context.Canceled) && len(result.Layers) >= 5 && len(result.Layers) <= 6, "%v, %+v", err, result)
}

// interrupt verifies until stop says so, and wants notes.
func interrupt(t *testing.T, dir string, o verify.Options, stop func(job.Step) bool) {
	t.Helper()
	o.Resume = true
	runstest.Interrupt(t, &o.Job, stop, func(ctx context.Context) error {
		_, err := verify.Run(ctx, dir, o)
		return err
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

// solved returns a directory with 8 layers of the 8-pit game.
func solved(t *testing.T) string {
	game := testrun.Game(t, 8, awari.Awari)
	return testrun.Write(t, game, testrun.Solve(t, game, 7), 64)
}

// TestResume: what was verified is not verified again, unless a file changed.
func TestResume(t *testing.T) {
	dir := solved(t)
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

// TestResumePanel: panels that are in order are not compared again, those with wrong scores are.
func TestResumePanel(t *testing.T) {
	game := testrun.Game(t, 8, awari.Awari)
	layers := testrun.Solve(t, game, 9)
	size, space := uint64(len(layers[9])), testrun.Space(t, game, 9)
	o := verify.Options{Layers: []int{9}, MemoryBytes: 1}
	middle := func(p job.Step) bool { return p.Done > float64(size/2) }
	intact := testrun.Write(t, game, layers, 1000)
	interrupt(t, intact, o, middle)
	first := uint64(0)
	o.Resume, o.Progress = true, func(p job.Step) {
		if first == 0 {
			first = uint64(p.Done)
		}
		should.Not(t, p.Begun < float64(size/4) || p.Begun > p.Done, "progress %+v", p)
	}
	_, first = space.Rank(awari.Board{0, 0, 0, 5, 1, 1, 1, 1}) // no move leads there: one panel differs, an early one
	o.Layers = []int{8, 9}
	for _, rank := range []uint64{0, first} {
		right := layers[9][rank]
		layers[9][rank] = testrun.Other(right)
		wrong := testrun.Write(t, game, layers, 1000)
		layers[9][rank] = right
		want := run(t, wrong, verify.Options{Layers: o.Layers})
		must.Not(t, want.OK, "a wrong score is not found")
		interrupt(t, wrong, o, func(p job.Step) bool { return p.Done > float64(space.Size(8)+size/2) })
		o.Progress = nil
		r := run(t, wrong, o)
		should.Not(t, r.OK || r.Layers[1].Mismatches != want.Layers[1].Mismatches, "rank %d: %+v, want %+v", rank, r, want)
	}
}

// TestNoteByHand: a note that says of wrong scores that they are in order is not believed.
func TestNoteByHand(t *testing.T) {
	game := testrun.Game(t, 8, awari.Awari)
	layers := testrun.Solve(t, game, 9)
	space, wrong := testrun.Space(t, game, 9), uint64(0)
	for i := range layers[9] { // no move leads to a board whose other half has no empty pit: one panel differs
		if b := space.Unrank(9, uint64(i)); b[4] == 1 && b[5] == 1 && b[6] == 1 && b[7] == 1 {
			wrong = uint64(i)
		}
	}
	layers[9][wrong] = testrun.Other(layers[9][wrong])
	dir := testrun.Write(t, game, layers, 1000)
	o := verify.Options{Layers: []int{9}, MemoryBytes: 1}
	interrupt(t, dir, o, func(p job.Step) bool { return p.Done > float64(space.Size(9)/2) })
	path := filepath.Join(dir, rundir.WorkName, rundir.VerifyName)
	text := string(must.Read(t, path))
	parts := regexp.MustCompile(`"parts": (\d+)`).FindStringSubmatch(text)
	text = regexp.MustCompile(`"done": \d+`).ReplaceAllString(text, `"done": `+parts[1])
	must.Write(t, path, []byte(text))
	told := ""
	o.Resume, o.Note = true, func(text string) { told += text }
	r := run(t, dir, o)
	should.Hold(t, r.Layers[0].Mismatches > 0 && errors.Is(r.Err(), verify.ErrDifferences) && strings.Contains(told, "it was changed"),
		"%+v, told %q", r, told)
}

// TestNothingNoted: a layer that is no file is damage, not the end of the run, and nothing is noted then.
func TestNothingNoted(t *testing.T) {
	dir := solved(t)
	path := filepath.Join(dir, rundir.LayerName(3))
	must.OK(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o755)))
	r := run(t, dir, verify.Options{Resume: true})
	should.Not(t, len(r.Layers) != 8 || !errors.Is(r.Err(), corrupt.ErrCorrupt) || noted(dir), "%+v, noted %v", r, noted(dir))
}
