package compare_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/writetest"
	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/check/compare"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair makes two run directories of a game, whose scores differ where change says, and returns the scores of the first.
func pair(t *testing.T, game awari.Game, seeds int, change func(layers [][]int8)) (a, b string, layers [][]int8) {
	t.Helper()
	layers = testrun.Solve(t, game, seeds)
	other := testrun.Solve(t, game, seeds)
	change(other)
	return testrun.Write(t, game, layers, 1<<16), testrun.Write(t, game, other, 1000), layers // blocks need not be the same
}

func mustRun(t *testing.T, a, b string, o compare.Options) *compare.Result {
	t.Helper()
	o.Workers, o.Family = 3, cpu.Best()
	return must.Get(compare.Run(t.Context(), a, b, o))(t)
}

func TestEqual(t *testing.T) {
	game := testrun.Game(t, 6, awari.Strict)
	a, b, _ := pair(t, game, 8, func([][]int8) {})
	last := job.Step{}
	r := mustRun(t, a, b, compare.Options{Job: job.Job{Progress: func(p job.Step) {
		should.Not(t, p.Done <= last.Done || p.Done > p.Total, "%+v after %+v", p, last)
		last = p
	}}})
	should.Hold(t, r.OK && r.Err() == nil && len(r.Layers) == 9 && r.Rules == "strict" && r.Pits == 6 && r.A == a && r.B == b, "%+v", r)
	should.Hold(t, last.Done == last.Total && last.Seeds == 8, "it ended with %+v", last)
}

// TestDifferences also spreads differences over several pieces. If there are many, all are counted, and the first by rank are described.
func TestDifferences(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	space := testrun.Space(t, game, 8)
	changed := map[int][]uint64{3: {0}, 5: {17, 4367}, 8: {1, 65_535, 65_536, 70_000, 75_581}}
	a, b, layers := pair(t, game, 8, func(all [][]int8) {
		for n, places := range changed {
			for _, rank := range places {
				all[n][rank] = testrun.Other(all[n][rank])
			}
		}
	})
	r := mustRun(t, a, b, compare.Options{})
	for _, l := range r.Layers {
		want := []compare.Difference{}
		for _, rank := range changed[l.Seeds] {
			score := layers[l.Seeds][rank]
			want = append(want, compare.Difference{
				Rank: rank, Board: game.Text(space.Unrank(l.Seeds, rank)), A: int(score), B: int(testrun.Other(score)),
			})
		}
		must.Same(t, fmt.Sprint("layer ", l.Seeds), want, l.First)
		should.Hold(t, l.Differing == uint64(len(want)) && l.Positions == space.Size(l.Seeds), "layer %d, %d differ", l.Seeds, l.Differing)
	}
	should.Not(t, r.OK, "in order")
	should.Says(t, r.Err(), compare.ErrDifferences, ": 8 of 125970 ")
	r = mustRun(t, a, b, compare.Options{Layers: []int{5}})
	should.Hold(t, len(r.Layers) == 1 && r.Layers[0].Differing == 2 && len(r.OnlyA) == 0, "%+v", r)
	r = mustRun(t, a, b, compare.Options{Layers: []int{4}})
	should.Hold(t, r.OK, "%+v", r)
	ctx, cancel := context.WithCancel(t.Context())
	should.Be(t, must.Err(compare.Run(ctx, a, b, compare.Options{Job: job.Job{Progress: func(job.Step) { cancel() }}})), context.Canceled)
	for i, score := range layers[8] {
		layers[8][i] = testrun.Other(score)
	}
	l := mustRun(t, a, testrun.Write(t, game, layers, 1000), compare.Options{Layers: []int{8}}).Layers[0]
	must.Hold(t, l.Differing == l.Positions && len(l.First) == compare.MaxDifferences,
		"%d of %d differ, %d described", l.Differing, l.Positions, len(l.First))
	for i, d := range l.First {
		should.Equal(t, d.Rank, uint64(i), "number %d has rank", i)
	}
}

// TestDistances: where both have distances these are compared, and differences are described.
func TestDistances(t *testing.T) {
	game := testrun.Game(t, 8, awari.Awari)
	a, b, _ := pair(t, game, 8, func([][]int8) {})
	for dir, layers := range map[string][]int{a: {5, 7, 8}, b: {7, 8}} {
		must.OK(t, must.Err(distance.Run(t.Context(), dir, distance.Options{Layers: layers, Job: job.Job{Family: cpu.Best()}})))
	}
	last := job.Step{}
	progress := compare.Options{Job: job.Job{Progress: func(p job.Step) { last = p }}}
	r := mustRun(t, a, b, progress)
	for _, l := range r.Layers {
		both := l.Seeds >= 7
		should.Not(t, (l.Distances != nil) != both || both && (l.Distances.Differing > 0 || len(l.Distances.First) > 0), "%+v", l)
	}
	should.Hold(t, r.OK && r.Err() == nil && last.Done == last.Total, "%+v, %+v", r, last)
	path, at := filepath.Join(b, rundir.DistanceName(7)), []uint64{2, 3000}
	h, plies := writetest.Read(t, path)
	var want []compare.Difference
	for _, rank := range at {
		d := compare.Difference{Rank: rank, Board: game.Text(testrun.Space(t, game, 7).Unrank(7, rank)), A: int(plies[rank]), B: 200}
		plies[rank], want = -56, append(want, d) // 200
	}
	must.OK(t, os.Remove(path))
	s := writetest.File(t, path, h, plies)
	testrun.EditManifest(t, b, func(m *manifest.Manifest) { m.Layers[7].Distances = manifest.NewDistances(s.Footer) })
	r = mustRun(t, a, b, compare.Options{})
	d := r.Layers[7].Distances
	should.Hold(t, d.Differing == 2 && r.Layers[7].Differing == 0 && slices.Equal(d.First, want), "%+v, want %+v", d, want)
	should.Not(t, r.OK, "in order")
	should.Says(t, r.Err(), compare.ErrDistances, "2 of")
	should.Be(t, r.Err(), fault.Difference)
}

// TestFiles compares layer files with each other and with directories, damaged ones too.
func TestFiles(t *testing.T) {
	game := testrun.Game(t, 8, awari.Awari)
	a, b, _ := pair(t, game, 5, func(all [][]int8) { all[4][7] = testrun.Other(all[4][7]) })
	file := func(dir string, n int) string { return filepath.Join(dir, rundir.LayerName(n)) }
	for n := range 6 {
		for _, paths := range [][2]string{{file(a, n), file(b, n)}, {a, file(b, n)}, {file(a, n), b}} {
			r := mustRun(t, paths[0], paths[1], compare.Options{})
			should.Hold(t, r.OK == (n != 4) && len(r.Layers) == 1 && r.Layers[0].Seeds == n && len(r.OnlyA)+len(r.OnlyB) <= 5, "%v: %+v", paths, r)
		}
	}
	other := testrun.Solve(t, game, 5)
	other[4][7], other[5] = 9, other[5][1:] // 9 are more than there are
	beyond := testrun.Write(t, game, other, 1000)
	for n := 4; n <= 5; n++ {
		should.Be(t, must.Err(compare.Run(t.Context(), file(a, n), file(beyond, n), compare.Options{})), corrupt.ErrCorrupt, "layer %d", n)
	}
	testrun.Flip(t, file(b, 5), len(must.Read(t, file(b, 5)))/2)
	for _, paths := range [][2]string{{a, b}, {b, a}, {a, file(b, 5)}} {
		should.Be(t, must.Err(compare.Run(t.Context(), paths[0], paths[1], compare.Options{})), corrupt.ErrCorrupt, "damaged: %v", paths)
	}
}

func TestOtherLayers(t *testing.T) {
	game := testrun.Game(t, 4, awari.Awari)
	layers := testrun.Solve(t, game, 5)
	a, b, none := testrun.Write(t, game, layers, 100), testrun.Write(t, game, layers[:4], 100), testrun.Write(t, game, nil, 100)
	strict := testrun.Write(t, testrun.Game(t, 4, awari.Strict), layers, 100)
	r := mustRun(t, a, b, compare.Options{})
	should.Hold(t, r.OK && len(r.Layers) == 4 && slices.Equal(r.OnlyA, []int{4, 5}) && len(r.OnlyB) == 0, "%+v", r)
	r = mustRun(t, b, a, compare.Options{})
	should.Hold(t, slices.Equal(r.OnlyB, []int{4, 5}) && len(r.OnlyA) == 0, "%+v", r)
	text := filepath.Join(t.TempDir(), "text")
	must.Write(t, text, []byte("not a layer"))
	for _, c := range []struct {
		a, b   string
		layers []int
		want   error
	}{
		{a, strict, nil, compare.ErrGame},
		{a, none, nil, compare.ErrGame},
		{filepath.Join(a, rundir.LayerName(3)), filepath.Join(b, rundir.LayerName(2)), nil, compare.ErrGame},
		{a, b, []int{5}, tables.ErrUnsolved},
		{a, b, []int{-1}, tables.ErrUnsolved},
		{a, filepath.Join(a, "none"), nil, os.ErrNotExist},
		{a, text, nil, corrupt.ErrForeign},
		{t.TempDir(), a, nil, rundir.ErrMissing},
	} {
		should.Be(t, must.Err(compare.Run(t.Context(), c.a, c.b, compare.Options{Layers: c.layers})), c.want, "%s and %s", c.a, c.b)
	}
}
