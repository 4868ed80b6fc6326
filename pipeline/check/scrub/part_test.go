package scrub_test

import (
	"context"
	"encoding/json"
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
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/check/scrub"
	"grenier/pipeline/job"
)

// blocks returns a directory with layers of several blocks.
func blocks(t *testing.T) string {
	game := testrun.Game(t, 8, awari.Awari)
	return testrun.Write(t, game, testrun.Solve(t, game, 7), 50)
}

// jsonOf returns what scripts see of a result, but for the time that it took.
func jsonOf(t *testing.T, r *scrub.Result) string {
	t.Helper()
	r.Seconds = 0
	return string(must.Get(json.Marshal(r))(t))
}

// TestParts: parts, in random order, some interrupted, one done twice, add up to what one scrub says.
func TestParts(t *testing.T) {
	random := tries.Rand(t)
	for name, damage := range map[string]func(dir string){
		"none": func(string) {},
		"blocks": func(dir string) { // more than are described
			text := must.Read(t, layer(dir, 7))
			for at := blockAt(t, layer(dir, 7)); at < len(text)/2; at += 40 {
				text[at] ^= 1
			}
			must.Write(t, layer(dir, 7), text)
			change(t, layer(dir, 6), blockAt(t, layer(dir, 6)))
		},
		"header":   func(dir string) { change(t, layer(dir, 5), 30) },
		"missing":  func(dir string) { remove(t, layer(dir, 3)) },
		"manifest": func(dir string) { change(t, filepath.Join(dir, rundir.ManifestName), 99) },
		"unlisted": func(dir string) {
			testrun.EditManifest(t, dir, func(m *manifest.Manifest) { m.Layers = m.Layers[:7] })
			change(t, layer(dir, 7), blockAt(t, layer(dir, 7)))
		},
	} {
		dir := blocks(t)
		damage(dir)
		want := mustRun(t, dir, scrub.Options{})
		for _, n := range []int{1 + random.IntN(15), 16} {
			order := random.Perm(n)
			for k, i := range append(order, order[0]) {
				o := scrub.Options{Part: job.Part{Index: i + 1, Of: n}}
				if k < 3 {
					ctx, stop := context.WithCancel(t.Context())
					o.Done = func(l scrub.Layer) {
						if l.Seeds == k+2 {
							stop()
						}
					}
					_, err := scrub.Run(ctx, dir, o)
					must.Not(t, err != nil && !errors.Is(err, context.Canceled), "%v", err)
					stop()
				}
				o.Done = nil
				should.Equal(t, mustRun(t, dir, o).Part, o.Part.String(), "part %s is called", o.Part)
			}
			got := mustRun(t, dir, scrub.Options{Part: job.Part{All: true, Of: n}})
			if a, b := jsonOf(t, got), jsonOf(t, want); a != b || fmt.Sprint(got.Err()) != fmt.Sprint(want.Err()) {
				t.Errorf("%s, %d parts: %s, %v; want %s, %v", name, n, a, got.Err(), b, want.Err())
			}
		}
	}
}

// TestMissingParts: a file of which a part was not read is not intact.
func TestMissingParts(t *testing.T) {
	dir := blocks(t)
	path := layer(dir, 7)
	for i := 1; i <= 4; i++ {
		mustRun(t, dir, scrub.Options{Part: job.Part{Index: i, Of: 4}})
	}
	all := scrub.Options{Part: job.Part{All: true}}
	r := mustRun(t, dir, all)
	must.Hold(t, r.OK && r.Err() == nil, "%+v", r)
	check := func(what string, want map[int][]int) {
		t.Helper()
		r := mustRun(t, dir, all)
		for n, l := range r.Layers {
			should.Hold(t, slices.Equal(l.Missing, want[n]) && (l.State == scrub.Intact) == (want[n] == nil),
				"%s: layer %d: %+v", what, n, l)
		}
		if err := r.Err(); r.OK || !errors.Is(err, fault.Missing) || !strings.Contains(err.Error(), "not complete: ") {
			t.Errorf("%s: ok %v, %v", what, r.OK, err)
		}
	}
	must.Touch(t, path)
	check("replaced", map[int][]int{7: {1, 2, 3, 4}})
	mustRun(t, dir, scrub.Options{Part: job.Part{Index: 2, Of: 4}})
	check("a part again", map[int][]int{7: {1, 3, 4}})
	must.OK(t, os.Remove(filepath.Join(dir, rundir.WorkName, rundir.PartName(rundir.ScrubName, 2, 4))))
	removed := map[int][]int{}
	for n := range 8 {
		removed[n] = []int{2}
	}
	removed[7] = []int{1, 2, 3, 4}
	check("removed", removed)
}
