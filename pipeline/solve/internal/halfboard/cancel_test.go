package halfboard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

// cancelling ends a context at a report of progress.
type cancelling struct {
	mu      sync.Mutex
	when    func(all, ofStage int, stage fixpoint.Stage) bool // given how many reports there were
	cancel  context.CancelFunc
	at      int                  // the report at which the context ended, 0 if it did not
	reports int                  // all of them
	stages  [fixpoint.Stages]int // those of each stage; beginnings of windows are of none
	ended   bool                 // the last stage is through
}

func (x *cancelling) progress(p fixpoint.Progress) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.reports++
	stage, ofStage := fixpoint.Stages, 0
	if !p.Turning {
		x.stages[p.Stage]++
		stage, ofStage = p.Stage, x.stages[p.Stage]
	}
	if x.at == 0 && x.when(x.reports, ofStage, stage) {
		x.at = x.reports
		x.cancel()
	}
	x.ended = x.ended || p.Stage == fixpoint.FullStage && p.Done == p.Positions
}

// cancelAt solves the layer of c and ends the context at a report, counted from 1
// on, or never if at is 0.
func (c config) cancelAt(t *testing.T, at int) *cancelling {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	x := &cancelling{when: func(all, _ int, _ fixpoint.Stage) bool { return all == at }, cancel: cancel}
	c.options.Progress = x.progress
	c.options.often = true
	e := must.Get(New(c.game, c.options))(t)
	lower := &awaritest.Counting{Lower: c.lower(t)}
	l, err := e.Solve(ctx, c.seeds, testBelow, lower)
	must.Hold(t, lower.Closed.Load() == 1,
		"%+v, cancelled at report %d: the layers below are closed %d times", c, x.at, lower.Closed.Load())
	x.check(t, c, l, err)
	if l != nil {
		err = l.Close()
	} else {
		err = nil
		reports := x.reports
		c.solveWith(t, e) // what the engine keeps is not spoilt
		x.reports = reports
	}
	must.OK(t, errors.Join(err, e.Close()))
	return x
}

// check looks at what Solve has returned. What is under way when the context ends
// is completed.
func (x *cancelling) check(t *testing.T, c config, l *Layer, err error) {
	workers := max(1, c.options.Workers)
	switch where := fmt.Sprintf("layer %d", c.seeds); {
	case err == nil && (x.at > 0 && x.at < x.reports-workers || !x.ended || l == nil):
		t.Fatalf("%+v, cancelled at report %d of %d: no error", c, x.at, x.reports)
	case err != nil && (x.at == 0 || l != nil || !errors.Is(err, context.Canceled)):
		t.Fatalf("%+v, cancelled at report %d: %v, layer %v", c, x.at, err, l)
	case err != nil && x.reports > x.at+workers:
		t.Fatalf("%+v, cancelled at report %d: work continues until report %d", c, x.at, x.reports)
	case err != nil && !strings.Contains(err.Error(), where):
		t.Fatalf("%+v, cancelled at report %d: %v: not in %s", c, x.at, err, where)
	}
}

// TestLongCancelledAtAnyMoment ends the context at each of the reports of a layer.
func TestLongCancelledAtAnyMoment(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	rng := tries.Rand(t)
	for range tries.Runs(5) {
		c := randomConfig(t, rng)
		all := c.cancelAt(t, 0)
		step := 1 + all.reports/60 // more than that takes too long
		for at := 1 + rng.IntN(step); at <= all.reports; at += step {
			c.cancelAt(t, at)
		}
	}
}

// broken fails, or does something else, at given calls.
type broken struct {
	*awaritest.Lower
	read, closing func() error
	closed        atomic.Int64
}

func (b *broken) Read(n int, start uint64, dst []int8) error {
	if b.read != nil {
		if err := b.read(); err != nil {
			return err
		}
	}
	return b.Lower.Read(n, start, dst)
}

func (b *broken) Close() error {
	b.closed.Add(1)
	if b.closing != nil {
		return b.closing()
	}
	return nil
}

// TestLongLowerLayersFail: errors of the layers below, and the end of the context when they are read or closed, end the work with a message that says
// where, and these layers are closed in any case. After that the engine solves again.
func TestLongLowerLayersFail(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	rng := tries.Rand(t)
	bad := errors.New("disk on fire")
	for range tries.Runs(25) {
		c := randomConfig(t, rng)
		c.seeds = max(c.seeds, 4) // so that there is a layer to read
		c.options.often = true
		e := must.Get(New(c.game, c.options))(t)
		var cancel context.CancelFunc
		fail := func() error { return bad }
		stop := func() error {
			cancel()
			return nil
		}
		for name, lower := range map[string]*broken{
			"read": {read: fail}, "close": {closing: fail}, "read and close": {read: fail, closing: fail},
			"a later read": {read: awaritest.FailAt(bad, c.reads(t))}, "cancelled in reading": {read: stop}, "cancelled in closing": {closing: stop},
		} {
			var ctx context.Context
			ctx, cancel = context.WithCancel(t.Context())
			want, where := bad, fmt.Sprintf("layer %d, capture stage", c.seeds)
			if strings.HasPrefix(name, "cancelled") {
				want, where = context.Canceled, fmt.Sprintf("layer %d", c.seeds)
			}
			lower.Lower = c.lower(t)
			l, err := e.Solve(ctx, c.seeds, testBelow, lower)
			cancel()
			must.Hold(t, l == nil && errors.Is(err, want) && lower.closed.Load() == 1 && strings.Contains(err.Error(), where),
				"%+v, %s: %v, closed %d times", c, name, err, lower.closed.Load())
		}
		c.solveWith(t, e)
		must.OK(t, e.Close())
	}
}

// reads returns the number of layers that c reads.
func (c config) reads(t *testing.T) (layers int) {
	t.Helper()
	lower := &awaritest.Counting{Lower: c.lower(t)}
	must.OK(t, c.begin(t).captureAll(t.Context(), lower))
	for n := range lower.Scores {
		layers += int(min(1, lower.Scores[n].Load()))
	}
	closed := lower.Closed.Load()
	must.Hold(t, closed == 1, "%+v: the layers below are closed %d times", c, closed)
	return layers
}

// TestCancelledWorkReturnsMemory: there is no Layer to close then. Engines that are
// closed leave nothing, and one that is used again takes nothing more.
func TestCancelledWorkReturnsMemory(t *testing.T) {
	// Room for a large layer, mostly untouched.
	c := config{game: awaritest.Game(t, 6, awari.Awari), seeds: 6, options: Options{Seeds: 40, TileSize: 16}}
	size := board.LayoutOf(c.game.Half(), c.options.Seeds).Total()
	reports := c.cancelAt(t, 0).reports
	t.Run("closed", func(t *testing.T) {
		at := 0
		awaritest.ReturnsMemory(t, size, func() {
			at = at%reports + 1
			c.cancelAt(t, at)
		})
	})
	t.Run("used again", func(t *testing.T) {
		c.options.often = true
		e := must.Get(New(c.game, c.options))(t)
		awaritest.ReturnsMemory(t, size, func() {
			ctx, cancel := context.WithCancel(t.Context())
			lower := &broken{Lower: c.lower(t), closing: func() error { cancel(); return nil }}
			must.Be(t, must.Err(e.Solve(ctx, c.seeds, testBelow, lower)), context.Canceled)
		})
		must.OK(t, e.Close())
	})
}
