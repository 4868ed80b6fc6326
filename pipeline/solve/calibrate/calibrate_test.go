package calibrate

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/machinetest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/tally"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/pipeline/job"
	"grenier/pipeline/solve/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// options are those of a quick calibration.
func options(dir string) Options {
	return Options{Job: job.Job{Workers: 2, Family: cpu.Best()}, Dir: dir, seeds: 6, rounds: 1, copying: 1, file: 1 << 24}
}

// TestRun: what is measured can be saved and read, and nothing is left behind.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	o, shares := options(filepath.Join(dir, "not", "yet")), []float64{0}
	o.Progress = func(s job.Step) { shares = append(shares, s.Done) }
	machinetest.TestFile(t, must.Get(Run(t.Context(), o))(t), plan.ParseCalibration, nil)
	should.Hold(t, slices.IsSorted(shares) && shares[len(shares)-1] == 1, "progress %v", shares)
	must.Empty(t, dir)
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
		must.Empty(t, dir)
	}
}

// TestLongMeasure: every family has its rates, the plans are of the family that was asked for, and nothing is left behind.
func TestLongMeasure(t *testing.T) {
	dir := t.TempDir()
	o, shares := options(filepath.Join(dir, "not", "yet")), []float64{0}
	o.Progress = func(s job.Step) { shares = append(shares, s.Done) }
	families := []cpu.Family{cpu.Best()}
	if tries.Long() {
		families = slices.Compact([]cpu.Family{cpu.Generic, cpu.Best()})
	}
	b := must.Get(Measure(t.Context(), o, families, 1<<30))(t)
	must.Hold(t, len(b.Kernels) == len(families), "%+v", b.Kernels)
	for i, k := range b.Kernels {
		should.Hold(t, k.Kernel == families[i].String() && len(k.One) == len(plan.Widths())+1 && k.All >= k.One[8] && k.Decoded > 0,
			"%+v", k)
		for bits, rate := range k.One {
			should.Hold(t, rate > 0, "%s, %d bits: %v positions a second", k.Kernel, bits, rate)
		}
		machinetest.TestFile(t, b.calibrations[i], plan.ParseCalibration, nil)
	}
	free, err := freeIn(dir)
	known := free != nil || err != nil && !errors.Is(err, errors.ErrUnsupported)
	should.Hold(t, b.Disk.Write > 0 && b.Disk.Read > 0 && b.Disk.Random > 0 && (b.Free != nil || !known), "disk %+v, free %v", b.Disk, b.Free)
	should.Hold(t, slices.IsSorted(shares) && shares[len(shares)-1] == 1, "progress %v", shares)
	must.Empty(t, dir)
}

// TestDisagree: one layer with two results ends it, and nothing is left behind.
func TestDisagree(t *testing.T) {
	dir := t.TempDir()
	o := options(dir)
	o.SkipDisk, o.seen = true, map[int]tally.Hash{6: 1}
	_, err := Run(t.Context(), o)
	should.Hold(t, errors.Is(err, ErrDisagree) && errors.Is(err, fault.Difference), "error %v", err)
	must.Empty(t, dir)
}

// TestCosts: workers share what a layer takes but for full rows and sealing.
func TestCosts(t *testing.T) {
	c := cost{capture: 1, sweep: 2, full: 4, seal: 8}
	should.Hold(t, c.sum() == 15 && c.shared() == 3, "%v, %v", c.sum(), c.shared())
}

func calibrated() *plan.Calibration {
	w := plan.Width{Capture: 10, Sweep: 20, Full: 10, Seal: 10}
	c := plan.NewCalibration("test", 2)
	c.Speedup, c.Capture, c.Sweep, c.Seal, c.Decode = 1.5, 5, 15, 5, 0.5
	c.Six, c.Four, c.Three, c.Two = w, w, w, w
	c.SetDisk(1e9)
	return c
}

// TestRates: nanoseconds of all steps together become positions a second.
func TestRates(t *testing.T) {
	r := ratesOf(calibrated())
	near := func(a, b float64) bool { return math.Abs(a-b) < 1 }
	should.Hold(t, near(r.One[8], 40e6) && near(r.One[6], 20e6) && near(r.One[4], 20e6) && near(r.One[3], 20e6) && near(r.One[2], 20e6) && near(r.All, 60e6) && near(r.Decoded, 2e9),
		"%+v", r)
}

// TestLook: with little memory the run here is smaller, and 48 seeds take more than there is; with much the two are one.
func TestLook(t *testing.T) {
	o := options(t.TempDir())
	var little, much Bench
	must.OK(t, little.look(calibrated(), &o, 2<<30))
	h, w := little.Here, little.Whole
	should.Not(t, h.Seeds < 20 || h.Seeds >= 48 || h.Memory != 2<<30 || w.Seeds != 48 || w.Memory <= h.Memory ||
		w.Seconds <= h.Seconds || w.DiskPeak <= h.DiskPeak, "%+v", little)
	must.OK(t, much.look(calibrated(), &o, 1<<40))
	should.Not(t, must.Err(freeIn("\x00")) == nil || must.Err(o.decoding(t.Context(), o.Dir)) == nil, "what is not there has room, or scores")
	should.Not(t, much.Here != much.Whole || much.Here.Seeds != 48 || much.Here.Seconds >= little.Whole.Seconds, "%+v", much)
}

// TestBusy: one family that was held up is enough.
func TestBusy(t *testing.T) {
	quiet, held := calibrated(), calibrated()
	held.Taken = 0.5
	should.Not(t, (&Bench{calibrations: []*plan.Calibration{quiet}}).Busy(), "a quiet machine is busy")
	should.Hold(t, (&Bench{calibrations: []*plan.Calibration{quiet, held}}).Busy(), "a busy machine is quiet")
}
