package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/rundir"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/job"
)

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
			_, err := verify.Run(cut, dir, o)
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
	for _, game := range []awari.Game{testrun.Game(t, 4, awari.Awari), testrun.Game(t, 8, awari.Strict)} {
		seeds := map[int]int{4: 9, 8: 6}[game.Pits()]
		for _, wrong := range []string{"nothing", "scores", "block", "file", "below"} {
			for _, o := range []verify.Options{{}, {Sample: 300, Seed: 5}} {
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
				if text := must.Read(t, path); wrong == "block" || wrong == "below" {
					text[len(text)/2] ^= 1
					must.Write(t, path, text)
				} else if wrong == "file" {
					must.Write(t, path, text[:len(text)-1])
				}
				want := run(t, dir, o)
				for _, n := range tries.Pick([]int{1 + random.IntN(16)}, []int{2, 20 + random.IntN(60)}, []int{1, 2, 16, 20 + random.IntN(300)}) {
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
	_, err := verify.Run(t.Context(), dir, verify.Options{Part: job.Part{All: true}})
	should.Hold(t, errors.Is(err, fault.Missing) && strings.Contains(err.Error(), "no part was done"), "before the first part: %v", err)
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
	game := testrun.Game(t, 8, awari.Awari)
	layers := testrun.Solve(t, game, 7)
	layers[6][100] = testrun.Other(layers[6][100])
	dir := testrun.Write(t, game, layers, 100)
	o := verify.Options{Part: job.Part{Index: 1, Of: 1}}
	first := run(t, dir, o)
	again := run(t, dir, o)
	should.Hold(t, !first.OK && !again.OK && before(first) == nil && slices.Equal(before(again)[:6], []int{0, 1, 2, 3, 4, 5}) && again.Layers[6].Before == nil,
		"again: %v", before(again))
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
		_, err := verify.Run(ctx, dir, o)
		return err
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
	dir := solved(t)
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
