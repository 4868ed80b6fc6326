package fixpoint

import (
	"testing"
	"time"

	"grenier/internal/testkit/should"
)

// TestWorthMarking: a sweep is worth marking when few scores change, in few blocks,
// and when marks are cheap.
func TestWorthMarking(t *testing.T) {
	const micro = 1e-6
	measured := costs{compute: cost{100 * micro, 100}, mark: cost{500 * micro, 50}} // 1 and 10 microseconds each
	for _, c := range []struct {
		name    string
		costs   costs
		work    work
		columns int
		want    bool
	}{
		{"no change", measured, work{}, 1000, true},
		{"marks not known", costs{compute: measured.compute}, work{blocks: 1e6, scores: 1e9}, 1000, true},
		{"computing not known", costs{mark: measured.mark}, work{blocks: 1e6, scores: 1e9}, 1000, true},
		{"100 changes in 57 blocks", measured, work{blocks: 57, scores: 100}, 1000, true}, // make 165 columns out of date
		{"100 changes in 60 blocks", measured, work{blocks: 60, scores: 100}, 1000, false},
		{"1000 changes", measured, work{blocks: 1, scores: 1000}, 1000, false},
		{"marks cost nothing", costs{measured.compute, cost{0, 1}}, work{blocks: 1000, scores: 200}, 1000, true},
	} {
		should.Equal(t, c.costs.worthMarking(c.work, c.columns, apart), c.want, "%s", c.name)
	}
}

// TestCostsAreMeans: only what is timed counts.
func TestCostsAreMeans(t *testing.T) {
	var b bench
	for range 3 * sampled {
		b.costs.compute.add(b.sample(), 5)
	}
	if c := b.costs.compute; c.count < 5 || c.count > 3*5 || c.seconds < 0 || c.mean() != c.seconds/c.count {
		t.Errorf("%d blocks of 5 columns cost %+v", 3*sampled, c)
	}
}

// TestSlowSamplesDoNotCount: what others had to do meanwhile is no cost of ours.
func TestSlowSamplesDoNotCount(t *testing.T) {
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	var c cost
	c.add(ago(time.Second), 10)
	before := c
	c.add(ago(time.Minute), 10)
	should.Hold(t, c == before, "after a second for 10, a minute for 10: %+v", c)
	c.add(ago(time.Millisecond), 10)
	should.Not(t, c.count != 10 || c.mean() > 0.05, "after a second for 10, a millisecond for 10: %+v", c)
}

// TestLedgerForgets: what was learned last counts most, and a sweep without samples
// changes no mean.
func TestLedgerForgets(t *testing.T) {
	var l Ledger
	for range 100 {
		l.add(costs{compute: cost{1, 1}, mark: cost{3, 1}})
	}
	for range 20 {
		l.add(costs{compute: cost{2, 1}})
	}
	all := l.add(costs{})
	mean := all.compute.mean()
	should.Not(t, mean < 1.8 || mean > 2, "computing costs %v after it cost 1, then 2", mean)
	mean = all.mark.mean()
	should.Not(t, mean < 2.999 || mean > 3.001, "marking costs %v after it cost 3", mean)
}
