package distance_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/writetest"
	"grenier/io/layerfile"
	"grenier/io/rundir"
	"grenier/io/tally"
	"grenier/io/vfs"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables/catalog"
)

// onDisk are the options of runs that have layers on disk.
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
		must.Hold(t, string(must.Read(t, filepath.Join(want, name))) == string(must.Read(t, filepath.Join(got, name))),
			"%s has other bytes", name)
	}
	left, err := filepath.Glob(filepath.Join(got, "*", "*.tmp"))
	must.Hold(t, err == nil && len(left) == 0, "left behind: %q, %v", left, err)
}

// timeless returns what was found of layers, without the time that it took.
func timeless(r *distance.Result) string {
	for i := range r.Layers {
		r.Layers[i].Seconds = 0
	}
	return fmt.Sprintf("%+v", r.Layers)
}

// stopped runs until the sweep that finds distances of the given plies begins, and reports whether there was one.
func stopped(t *testing.T, dir string, o distance.Options, plies int) bool {
	t.Helper()
	ctx, stop := contextOf(t)
	defer stop()
	o.Progress = func(s job.Step) {
		if strings.HasSuffix(s.Doing, fmt.Sprintf(", %d plies", plies)) {
			stop()
		}
	}
	_, err := distance.Run(ctx, dir, o)
	must.Not(t, err != nil && !errors.Is(err, context.Canceled), "%v", err)
	return err != nil
}

// TestDiskResumes: a layer that is interrupted in each sweep, on disk or in memory, goes on from the sweep before, there or here.
func TestDiskResumes(t *testing.T) {
	const top = 9
	dir, _ := run(t, top)
	want := testrun.Copy(t, dir)
	compute(t, want, options(1))
	for turn := range 3 { // on disk always, every second time, two times of three
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
		for k := 1; ; k += 1 + rng.IntN(tries.Pick(40, 20, 1)) {
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
	dir := t.TempDir()
	must.OK(t, must.Err(solve.Solve(t.Context(), dir, testrun.Game(t, 12, rules[0]), solve.Options{Seeds: top, Job: options(2).Job})))
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
		plies := make([]int8, len(layers[n]))
		for i := range plies {
			plies[i] = 1
		}
		writetest.File(t, filepath.Join(work, rundir.DistancesName), h, plies)
		o := options(1)
		o.Layers = []int{top}
		compute(t, got, o)
		name := rundir.DistanceName(top)
		must.Same(t, "other distances", string(must.Read(t, filepath.Join(want, name))), string(must.Read(t, filepath.Join(got, name))))
	}
}
