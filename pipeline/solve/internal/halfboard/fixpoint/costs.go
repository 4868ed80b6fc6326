package fixpoint

import (
	"math"
	"sync"
	"time"
)

// costs are the measured costs of sweeps.
type costs struct {
	compute cost // of a column of a block
	mark    cost // of a line with changes: it is read by the same columns, however many of its scores change
}

type cost struct{ seconds, count float64 }

// sampled is how many blocks there are for each one that is timed: no multiple of the chunks of a tile, so that all of these are met.
const sampled = 61

// sample returns the time if the next block is to be timed, and else no time.
func (b *bench) sample() (start time.Time) {
	if b.blocks++; b.blocks%sampled == 0 {
		start = time.Now()
	}
	return start
}

// slow is the ratio to other samples from which a sample is ignored: the machine was busy
// with something else.
const slow = 8

// add notes that count items have been done since start, if that is a time, and
// returns the time then.
func (c *cost) add(start time.Time, count int) time.Time {
	if start.IsZero() {
		return start
	}
	now := time.Now()
	took, items := now.Sub(start).Seconds(), float64(count)
	switch {
	case c.count > 0 && took > slow*c.mean()*items:
		return now
	case c.count > 0 && took*slow < c.mean()*items:
		*c = cost{} // those before were slow
	}
	c.seconds += took
	c.count += items
	return now
}

func (c *cost) merge(other cost) {
	c.seconds += other.seconds
	c.count += other.count
}

func (c *cost) mean() float64 { return c.seconds / c.count }

// fade gives earlier samples less weight than later ones.
func (c *cost) fade() {
	const rest = 0.9
	c.seconds *= rest
	c.count *= rest
}

// Ledger keeps the costs of the latest sweeps, from one layer to the next. It is safe
// for concurrent use.
type Ledger struct {
	mu    sync.Mutex
	costs costs
}

// add enters what a sweep has measured and returns everything known.
func (l *Ledger) add(sweep costs) costs {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.costs.compute.fade()
	l.costs.mark.fade()
	l.costs.compute.merge(sweep.compute)
	l.costs.mark.merge(sweep.mark)
	return l.costs
}

// known returns everything known.
func (l *Ledger) known() costs {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.costs
}

// A changed score makes readers columns of blocks out of date on average, and a
// column costs apart times as much when it is computed without its neighbours, apartCodes
// times if scores are codes, which stay in the cache: measured in sweeps that change less
// than one per cent of the scores.
const (
	readers    = 1.8
	apart      = 2.5
	apartCodes = 1.5
)

// unmeasured stands for costs of which a part is not known yet: marks for a line cost twice as much as a column.
var unmeasured = costs{compute: cost{1, 1}, mark: cost{2, 1}}

// worthMarking reports whether marks would save the sweep after the next more than
// they cost the next one, if that does the same work as the last one. Changes hit
// columns of blocks, columns in all, at random.
func (c costs) worthMarking(w work, columns int, apart float64) bool {
	if c.mark.count == 0 || c.compute.count == 0 {
		c = unmeasured
	}
	all := float64(columns)
	hit := all * (1 - math.Exp(-readers*float64(w.scores)/all))
	return float64(w.lines)*c.mark.mean() < (all-apart*hit)*c.compute.mean()
}
