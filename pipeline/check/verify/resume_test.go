package verify_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/io/corrupt"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/job"
)

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

// before lists the layers that were verified before.
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
		if want.OK {
			t.Fatal("a wrong score is not found")
		}
		interrupt(t, wrong, o, func(p job.Step) bool { return p.Done > float64(space.Size(8)+size/2) })
		o.Progress = nil
		if r := run(t, wrong, o); r.OK || r.Layers[1].Mismatches != want.Layers[1].Mismatches {
			t.Errorf("rank %d: %+v, want %+v", rank, r, want)
		}
	}
}

// TestBadNote: notes that cannot be read are told about and do no harm.
func TestBadNote(t *testing.T) {
	dir := solved(t)
	path := filepath.Join(dir, rundir.WorkName, rundir.VerifyName)
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	for _, bad := range []string{
		"Dear diary", "{\n  \"format\": \"grenier-verify\",\n  \"version\": 1\n}\n",
		"{\n  \"format\": \"grenier-verify\",\n  \"version\": 2,\n  \"layers\": []\n}\n",
	} {
		must.Write(t, path, []byte(bad))
		told := ""
		r := run(t, dir, verify.Options{Resume: true, Job: job.Job{Note: func(text string) { told += text }}})
		should.Hold(t, len(before(r)) == 0 && r.OK && strings.HasPrefix(told, "verify starts again: ") && r.Restarted == told && !noted(dir),
			"%q: %v, %q", bad, before(r), told)
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
	if r := run(t, dir, o); r.Layers[0].Mismatches == 0 || !errors.Is(r.Err(), verify.ErrDifferences) || !strings.Contains(told, "it was changed") {
		t.Errorf("%+v, told %q", r, told)
	}
}

// TestNothingNoted: a layer that is no file is damage, not the end of the run, and nothing is noted then.
func TestNothingNoted(t *testing.T) {
	dir := solved(t)
	path := filepath.Join(dir, rundir.LayerName(3))
	must.OK(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o755)))
	r := run(t, dir, verify.Options{Resume: true})
	if len(r.Layers) != 8 || !errors.Is(r.Err(), corrupt.ErrCorrupt) || noted(dir) {
		t.Errorf("%+v, noted %v", r, noted(dir))
	}
}
