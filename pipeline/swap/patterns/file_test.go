package patterns_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/memory"
	"grenier/io/patternfile"
	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/job"
	"grenier/pipeline/swap/patterns"
)

// build builds a database.
func build(t *testing.T, g *swap.Grid, numbers []int, size int, o patterns.Options) *patterns.File {
	t.Helper()
	return must.Get(patterns.Build(t.Context(), g, numbers, size, o))(t)
}

// save writes a database, and returns the path of the file.
func save(t *testing.T, f *patterns.File) string {
	t.Helper()
	data, err := f.Encode()
	path := filepath.Join(t.TempDir(), "database")
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	must.OK(t, err)
	return path
}

// TestFiles checks that bounds from files are those from memory.
func TestFiles(t *testing.T) {
	g := mustGrid(t, 2, 3)
	o := patterns.Options{Cost: heuristic.Tracked}
	names := []string{save(t, build(t, g, []int{0, 1, 2}, 0, o)), save(t, build(t, g, []int{4, 5}, 0, o)), save(t, build(t, g, nil, 3, o))}
	z := &zoo{t: t, g: g}
	for _, c := range []struct {
		files []string
		exact bool
		want  heuristic.Heuristic
	}{
		{names[:2], false, z.staticOf("{1,2,3}{5,6}", heuristic.Tracked)}, {names[2:], true, z.dynamicOf(3, heuristic.Tracked, true)}, {names[2:], false, z.dynamicOf(3, heuristic.Tracked, false)},
	} {
		h := must.Get(patterns.Load(t.Context(), g, c.files, c.exact, o))(t)
		for rank := range perm.Factorial(6) {
			s := perm.UnrankPacked(6, rank)
			must.Hold(t, h.Estimate(s) == c.want.Estimate(s), "%s, state %x: %d, want %d", h.Name(), s, h.Estimate(s), c.want.Estimate(s))
		}
	}
	should.Be(t, must.Err(patterns.Load(t.Context(), g, names, false, o)), heuristic.ErrPattern)
	should.Be(t, must.Err(patterns.Load(t.Context(), mustGrid(t, 3, 2), names[:1], false, o)), corrupt.ErrMismatch)
	_, err := patterns.Load(t.Context(), g, names[:1], false, patterns.Options{Job: job.Job{Memory: 10}})
	should.Hold(t, tooLittle(err), "%v", err)
	// A file that is in order but has the wrong number of values for its grid.
	h := patternfile.Header{Kind: patternfile.Static, Cost: 1, Rows: 2, Cols: 3, Size: 2, Tiles: 3, Entries: 31}
	short := save(t, &patterns.File{Header: h, Values: slices.Repeat([]uint8{1}, 31)})
	should.Be(t, must.Err(patterns.Load(t.Context(), g, []string{short}, false, o)), corrupt.ErrCorrupt)
}

// tooLittle reports whether an error is that too little memory is allowed.
func tooLittle(err error) bool {
	_, ok := errors.AsType[*memory.Error](err)
	return ok
}

func TestRefused(t *testing.T) {
	g := mustGrid(t, 4, 4)
	all := mustTiles(t, g, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
	o := patterns.Options{Job: job.Job{Memory: 1 << 20}, Cost: heuristic.Unit}
	_, err := patterns.Static(t.Context(), g, all, o)
	should.Hold(t, tooLittle(err) && err.Error() == "the pattern database needs 183 TiB of memory; the limit is 1.0 MiB", "%v", err)
	should.Be(t, must.Err(patterns.Static(t.Context(), g, 0, o)), heuristic.ErrPattern)
	_, err = patterns.Dynamic(t.Context(), g, 4, o)
	should.Hold(t, tooLittle(err), "%v", err)
	for _, size := range []int{0, 5} {
		should.Be(t, must.Err(patterns.Dynamic(t.Context(), g, size, o)), heuristic.ErrPattern)
	}
	ctx := must.Ended(t)
	o.Memory = 0
	should.Be(t, must.Err(patterns.Static(ctx, g, 3, o)), context.Canceled)
	should.Be(t, must.Err(patterns.Dynamic(ctx, g, 2, o)), context.Canceled)
}

// TestFalseValues has files under right checksums with values that no pattern has.
func TestFalseValues(t *testing.T) {
	g := mustGrid(t, 3, 3)
	for _, cost := range []heuristic.Cost{heuristic.Unit, heuristic.Tracked} {
		o := patterns.Options{Cost: cost}
		right := []*patterns.File{build(t, g, []int{1, 4, 6}, 0, o), build(t, g, nil, 2, o)}
		for name, change := range map[string]func(values []uint8){
			"nothing":       func([]uint8) {},
			"one too large": func(v []uint8) { v[100] = 255 },
			"one less":      func(v []uint8) { v[100]-- },
			"one more":      func(v []uint8) { v[100]++ },
			"all zero":      func(v []uint8) { clear(v) },
			"all larger": func(v []uint8) {
				for i := range v {
					v[i]++
				}
			},
		} {
			for _, f := range right {
				forged := *f
				forged.Values = slices.Clone(f.Values)
				change(forged.Values)
				if _, err := patterns.Load(t.Context(), g, []string{save(t, &forged)}, false, o); (name == "nothing") != (err == nil) || err != nil && !errors.Is(err, corrupt.ErrCorrupt) {
					t.Errorf("%v, %s: error %v", cost, name, err)
				}
			}
		}
	}
}
