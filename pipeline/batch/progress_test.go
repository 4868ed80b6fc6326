package batch

import (
	"math"
	"testing"
	"time"

	"grenier/io/manifest"
	"grenier/layers/awari"
	"grenier/pipeline/halfboard"
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

func TestLearn(t *testing.T) {
	e := estimate{}
	e.clock.reach(0, epoch)
	report := Report{Layer: manifest.Layer{Positions: 1000}, Elapsed: time.Second, Seal: time.Second / 4}
	report.Engine.Sweeps = 7
	report.Engine.Stages[halfboard.DenseStage] = time.Second / 2
	e.learn(report, epoch.Add(time.Second))
	if e.rate != 1000 || e.finished != 1000 || e.sweeps != 7 || e.shares[sealStage] != 0.25 || e.clock != (clock{}) {
		t.Errorf("%+v", e)
	}
	report.Elapsed, report.Layer.Positions = time.Millisecond, 1
	e.learn(report, epoch.Add(time.Minute))
	if e.rate != 1000 || e.finished != 1001 || e.shares[sealStage] != 0.25 {
		t.Errorf("after a short layer: %+v", e)
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
