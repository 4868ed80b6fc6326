package solve

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/internal/testkit/must"
	"grenier/io/manifest"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve/internal/halfboard"
)

var epoch = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// TestRate: a layer that is half as fast as the one before. The estimate begins
// with the rate before and ends with that of the layer.
func TestRate(t *testing.T) {
	const before, positions = 100, 1e6 // the layer runs at 50 a second
	var c clock
	last := 2.0 * before
	for i := range 11 {
		share := float64(i) / 10
		now := epoch.Add(time.Duration(share * positions / 50 * float64(time.Second)))
		c.reach(share, now)
		rate := c.rate(before, positions, now)
		if rate >= last || i == 0 && math.Abs(rate-before) > 1e-6 || i == 10 && math.Abs(rate-50) > 1e-6 {
			t.Errorf("share %v: rate %v after %v", share, rate, last)
		}
		last = rate
	}
}

// TestRateFirst: nothing is known in the first moments of the first layer.
func TestRateFirst(t *testing.T) {
	var c clock
	c.reach(0.1, epoch)
	if rate := c.rate(0, 1000, epoch.Add(tooShort/2)); rate != 0 {
		t.Errorf("at once: %v", rate)
	}
	now := epoch.Add(10 * time.Second)
	c.reach(0.6, now)
	if rate := c.rate(0, 1000, now); math.Abs(rate-50) > 1e-9 {
		t.Errorf("half of 1000 positions in 10 s: %v a second", rate)
	}
}

// TestRateResumed: what was done before the process started counts as done, but
// not as fast.
func TestRateResumed(t *testing.T) {
	var c clock
	c.reach(0.8, epoch)
	now := epoch.Add(time.Second)
	c.reach(0.9, now)
	if rate := c.rate(0, 1000, now); math.Abs(rate-100) > 1e-9 {
		t.Errorf("%v a second, want 100", rate)
	}
	c.reach(0.5, now) // more sweeps than expected
	if c.share != 0.9 {
		t.Errorf("the share went back to %v", c.share)
	}
}

// TestLearn watches a layer of 10 s with two sweeps, then one that is too short to
// learn from, then one that was resumed.
func TestLearn(t *testing.T) {
	e := estimate{profile: typical()}
	after := func(seconds float64) time.Time { return epoch.Add(time.Duration(seconds * float64(time.Second))) }
	e.reach(stepOf(halfboard.CaptureStage, 1), 0, after(0))
	e.reach(stepOf(halfboard.DenseStage, 1), 0, after(2))
	e.reach(stepOf(halfboard.DenseStage, 1), 0.5, after(3))
	e.reach(stepOf(halfboard.SparseStage, 2), 0, after(6))
	e.reach(stepOf(halfboard.FullStage, 2), 1, after(8))
	e.reach(stepOf(sealStage, 0), 0.1, after(9))
	report := Report{Layer: manifest.Layer{Positions: 1000}, Elapsed: 10 * time.Second}
	e.learn(report, after(10))
	if math.Abs(e.rate-100) > 1e-9 || e.finished != 1000 || e.clock != (clock{}) || len(e.marks) != 0 {
		t.Errorf("%+v", e)
	}
	for _, c := range []struct {
		stage      halfboard.Stage
		sweep      int
		part, want float64
	}{
		{halfboard.CaptureStage, 1, 0.5, 0.1},
		{halfboard.SparseStage, 1, 0, 0.2},
		{halfboard.DenseStage, 2, 0.5, 0.7},
		{halfboard.DenseStage, 3, 0.5, 0.8}, // there was no such sweep
		{halfboard.FullStage, 9, 0.5, 0.85},
		{sealStage, 0, 1, 1},
	} {
		if got := e.profile.share(stepOf(c.stage, c.sweep), c.part); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v, sweep %d, %v: share %v, want %v", c.stage, c.sweep, c.part, got, c.want)
		}
	}
	before := e
	report.Elapsed, report.Layer.Positions = time.Millisecond, 1
	e.reach(stepOf(halfboard.CaptureStage, 1), 0, after(20))
	e.learn(report, after(20.001))
	report.Elapsed, report.Layer.Positions = time.Second, 100
	e.reach(stepOf(halfboard.DenseStage, 2), 1, after(30))
	e.learn(report, after(31))
	if diff := cmp.Diff(before.profile, e.profile, cmp.AllowUnexported(step{}, span{})); diff != "" || e.finished != 1101 {
		t.Errorf("%v, %s", e.finished, diff)
	}
}

// TestTypical: the steps of the typical layer follow each other and do not
// overlap.
func TestTypical(t *testing.T) {
	p, last := typical(), 0.0
	steps := []step{{stage: halfboard.CaptureStage}}
	for sweep := 1; sweep <= 50; sweep++ {
		steps = append(steps, stepOf(halfboard.DenseStage, sweep))
	}
	for _, s := range append(steps, step{stage: halfboard.FullStage}, step{stage: sealStage}) {
		from, to := p.share(s, 0), p.share(s, 1)
		if from < last || to < from || to > 1 {
			t.Errorf("%v: from %v to %v after %v", s, from, to, last)
		}
		last = to
	}
	if last != 1 {
		t.Errorf("the end is %v", last)
	}
}

// TestTypicalWindows: likewise those of a layer that is solved window by window, to the end
// of it, wherever sweeps become sparse.
func TestTypicalWindows(t *testing.T) {
	for _, seeds := range []int{0, 1, 7, 48} {
		for _, values := range []int{1, 3} {
			e, last, sweep := estimate{profile: typical()}, 0.0, 1
			reach := func(stage halfboard.Stage, base int) {
				for _, part := range []uint64{0, 5, 10} {
					p := halfboard.Progress{Seeds: seeds, Positions: 10, Stage: stage, Sweep: sweep, Done: part, Base: base, Values: values}
					if stage == sealStage {
						p.Values, p.Base = 0, 0 // the engine does not report it
					}
					e.reach(e.step(&p), float64(part)/10, epoch.Add(time.Second))
				}
				if e.clock.share < last || e.clock.share > 1 {
					t.Fatalf("%d seeds, base %d, %v, sweep %d: share %v after %v", seeds, base, stageName(stage), sweep, e.clock.share, last)
				}
				last = e.clock.share
			}
			reach(halfboard.CaptureStage, 0)
			for base := 0; base < max(seeds, 1); base += values {
				for i := range 50 {
					reach(halfboard.DenseStage+halfboard.Stage(min(i/30, 1)), base)
					sweep++
				}
				sweep-- // the last sweep has changed nothing
				stored := last
				reach(halfboard.FullStage, base)
				if stored == last {
					t.Errorf("%d seeds, base %d: storing is no part of the work", seeds, base)
				}
			}
			if last < 0.95 {
				t.Errorf("%d seeds: share %v after all windows", seeds, last)
			}
			if reach(sealStage, 0); last != 1 {
				t.Errorf("%d seeds: share %v in the end", seeds, last)
			}
			profile := e.profile
			e.learn(Report{Layer: manifest.Layer{Positions: 10}, Elapsed: time.Minute}, epoch.Add(time.Minute))
			if diff := cmp.Diff(profile, e.profile, cmp.AllowUnexported(step{}, span{})); diff != "" || e.windows != nil {
				t.Errorf("%d seeds: learnt %s", seeds, diff)
			}
		}
	}
}

// TestContinuedEstimate: the manifest knows how fast the newest layer was.
func TestContinuedEstimate(t *testing.T) {
	game, err := awari.New(4, awari.Awari)
	if err != nil {
		t.Fatal(err)
	}
	m := &manifest.Manifest{Layers: []manifest.Layer{{Positions: 1, Seconds: 1}, {Positions: 4, Seconds: 2}}}
	if e := newEstimate(game, m, 3); e.rate != 2 || e.total != 10+20 {
		t.Errorf("%+v", e)
	}
	m.Layers[1].Seconds = 0.001
	if e := newEstimate(game, m, 3); e.rate != 0 {
		t.Errorf("a millisecond says nothing: %+v", e)
	}
}

func TestETA(t *testing.T) {
	p := Progress{Positions: 1000, Share: 0.25, RunDone: 500, RunTotal: 10_500, Rate: 50}
	if layer, run := p.LayerETA(), p.RunETA(); layer != 15*time.Second || run != 200*time.Second {
		t.Errorf("layer %v, run %v", layer, run)
	}
	for _, rate := range []float64{0, 1e-300} {
		if p.Rate = rate; p.LayerETA() >= 0 || p.RunETA() >= 0 {
			t.Errorf("rate %v: layer %v, run %v", rate, p.LayerETA(), p.RunETA())
		}
	}
}

// TestStep: a step names the layer and its stage, and says how long they still take.
func TestStep(t *testing.T) {
	middle := Progress{
		Seeds: 16, Positions: 500_000, Stage: "dense", Sweep: 3, RunDone: 250_000, RunTotal: 1_000_000, Share: 0.5, Rate: 25_000,
	}
	first := Progress{Seeds: 1, Positions: 12, Stage: "capture", RunTotal: 100}
	for _, c := range []struct {
		of   Progress
		want job.Step
	}{
		{middle, job.Step{
			Doing: "layer 16, sweep 3", Seeds: 16, Done: 250_000, Total: 1_000_000, Detail: middle,
			Pace: &job.Pace{Rate: 25_000, Layer: 10 * time.Second, Run: 30 * time.Second},
		}},
		{first, job.Step{Doing: "layer 1, capture", Seeds: 1, Total: 100, Detail: first, Pace: &job.Pace{Layer: job.Unknown, Run: job.Unknown}}},
	} {
		must.Same(t, "another result", c.want, c.of.Step())
	}
}
