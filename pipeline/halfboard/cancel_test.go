package halfboard

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"grenier/layers/awari"
)

// TestCancelledAtAnyMoment ends the context in each of the reports of progress
// that a layer makes. The one after the last dense sweep ends the sparse phase.
func TestCancelledAtAnyMoment(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	c := config{game: mustGame(t, 6, awari.Awari), seeds: 6}
	for _, workers := range []int{1, 3} {
		c.options = Options{Workers: workers, SlabSize: 4}
		reports := c.cancelAt(t, 0)
		for k := 1; k <= reports; k++ {
			c.cancelAt(t, k)
		}
	}
}

// cancelAt solves the layer of c and ends the context at the k-th report. It
// returns the number of reports.
func (c config) cancelAt(t *testing.T, k int) int {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	reports, done := 0, false
	c.options.Progress = func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		if reports++; reports == k {
			cancel()
		}
		done = done || p.Stage == FullStage && p.Done == p.Positions
	}
	e, err := New(c.game, c.options)
	if err != nil {
		t.Fatal(err)
	}
	l, err := e.Solve(ctx, c.seeds, c.lower(t))
	if l != nil {
		defer l.Close()
	}
	stopped := errors.Is(err, context.Canceled) && l == nil
	if stopped && reports > k+c.options.Workers {
		t.Errorf("%+v, cancelled at report %d: work went on until report %d", c, k, reports)
	}
	if finished := err == nil && done; !stopped && !finished || k == 0 && stopped {
		t.Fatalf("%+v, cancelled at report %d of %d: %v", c, k, reports, err)
	}
	return reports
}

// TestCancelledWorkReturnsMemory: there is no Layer to close then.
func TestCancelledWorkReturnsMemory(t *testing.T) {
	c, k := config{game: mustGame(t, 6, awari.Awari), seeds: 5}, 0
	reports := c.cancelAt(t, 0)
	returnsMemory(t, func() {
		k = k%reports + 1
		c.cancelAt(t, k)
	})
}

// TestProgressAddsUp follows the reports of one worker.
func TestProgressAddsUp(t *testing.T) {
	c := config{game: mustGame(t, 6, awari.Strict), seeds: 7, options: Options{SlabSize: 20}}
	var reports []Progress
	c.options.Progress = func(p Progress) { reports = append(reports, p) }
	l := c.solve(t)
	var seen []Stage
	last := Progress{Stage: Stages}
	changed := uint64(0)
	for _, p := range append(reports, Progress{Stage: Stages}) {
		if p.Stage != last.Stage || p.Sweep != last.Sweep {
			if last.Stage != Stages && last.Done != l.Positions() {
				t.Errorf("stage %v, sweep %d ends after %d of %d positions", last.Stage, last.Sweep, last.Done, l.Positions())
			}
			if !slices.Contains(seen, p.Stage) {
				seen = append(seen, p.Stage)
			}
			if last.Stage == DenseStage {
				changed += last.Changed
			}
			last.Done, last.Changed = 0, 0
		}
		if p.Stage < Stages && (p.Seeds != 7 || p.Positions != l.Positions() || p.Done <= last.Done || p.Changed < last.Changed) {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	}
	if want := []Stage{CaptureStage, DenseStage, FullStage, Stages}; !slices.Equal(seen, want) {
		t.Errorf("stages %v, want %v", seen, want)
	}
	if s := l.Stats(); s.Changes != changed || s.Sweeps < 2 || s.Sweeps != reports[len(reports)-1].Sweep {
		t.Errorf("%d changes reported, last report %+v, statistics %+v", changed, reports[len(reports)-1], s)
	}
}
