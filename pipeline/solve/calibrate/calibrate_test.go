package calibrate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/machinetest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/kernels/cpu"
	"grenier/pipeline/job"
	"grenier/pipeline/solve/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// options are those of a quick calibration.
func options(dir string) Options {
	return Options{Job: job.Job{Workers: 2, Family: cpu.Best()}, Dir: dir, seeds: 8, rounds: 1}
}

// TestRun: what is measured can be saved and read, and nothing is left behind.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	o, shares := options(filepath.Join(dir, "not", "yet")), []float64{0}
	o.Progress = func(s job.Step) { shares = append(shares, s.Done) }
	machinetest.TestFile(t, must.Get(Run(t.Context(), o))(t), plan.ParseCalibration, nil)
	should.Hold(t, slices.IsSorted(shares) && shares[len(shares)-1] == 1, "progress %v", shares)
	isEmpty(t, dir)
}

// TestLongCancelled interrupts a calibration at each report of progress, or at some of them if there is little time.
func TestLongCancelled(t *testing.T) {
	step := tries.Pick(5, 3, 1)
	for after := 0; after < 7; after += step {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		o, reports := options(dir), 0
		o.Progress = func(job.Step) {
			if reports++; reports > after {
				cancel()
			}
		}
		_, err := Run(ctx, o)
		should.Not(t, !errors.Is(err, context.Canceled) && reports < 8, "after %d: error %v, %d reports", after, err, reports)
		cancel()
		isEmpty(t, dir)
	}
}

// TestMissingDisk: without a disk the other figures are there.
func TestMissingDisk(t *testing.T) {
	o := options(t.TempDir())
	o.SkipDisk, o.seeds = true, 5
	c := must.Get(Run(t.Context(), o))(t)
	c.SetDisk(1e9)
	machinetest.TestFile(t, c, plan.ParseCalibration, nil)
}

func isEmpty(t *testing.T, dir string) {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	for _, e := range entries {
		t.Errorf("left behind: %s", e.Name())
	}
}
