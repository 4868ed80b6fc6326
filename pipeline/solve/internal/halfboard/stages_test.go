package halfboard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"grenier/io/crew"
)

// item is a job of a test.
type item struct {
	busy  atomic.Bool
	i     int
	stage int
}

// passes notes what stages do with jobs.
type passes struct {
	t             *testing.T
	read, written atomic.Int64
	worked        atomic.Int64
	at            func(stage string, i int) error // called in each
}

func (p *passes) stages() stages[*item] {
	return stages[*item]{
		read:  func(i int, j *item) error { return p.pass("read", i, j, &p.read, 0) },
		work:  func(i int, j *item) error { return p.pass("work", i, j, &p.worked, 1) },
		write: func(i int, j *item) error { return p.pass("write", i, j, &p.written, 2) },
	}
}

// pass checks that job i is in the given stage, alone, and after the ones before if the
// stage is in order.
func (p *passes) pass(name string, i int, j *item, count *atomic.Int64, stage int) error {
	if !j.busy.CompareAndSwap(false, true) {
		p.t.Errorf("job %d is in two stages at once", i)
	}
	defer j.busy.Store(false)
	if stage == 0 {
		j.i, j.stage = i, 0
	}
	if j.i != i || j.stage != stage {
		p.t.Errorf("%s: job %d has been through %d stages as job %d", name, i, j.stage, j.i)
	}
	j.stage++
	if n := count.Add(1) - 1; stage != 1 && n != int64(i) {
		p.t.Errorf("%s: job %d is number %d", name, i, n)
	}
	if p.at != nil {
		return p.at(name, i)
	}
	return nil
}

// TestStagesTakeAllJobs in order, each one from stage to stage.
func TestStagesTakeAllJobs(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, workers := range []int{1, 2, 5, 20} {
		for _, spare := range []int{1, 2, 12} {
			for _, n := range []int{0, 1, 3, 500} {
				within(t, "stages", func() {
					p := &passes{t: t}
					if err := p.stages().run(t.Context(), workers, n, items(spare)); err != nil {
						t.Error(err)
					}
					if r, x, w := p.read.Load(), p.worked.Load(), p.written.Load(); r != int64(n) || x != r || w != r {
						t.Errorf("%d workers: %d read, %d worked on, %d written of %d", workers, r, x, w, n)
					}
				})
			}
		}
	}
}

func items(n int) (all []*item) {
	for range n {
		all = append(all, new(item))
	}
	return all
}

// TestStagesMayLack: those that are not there do nothing.
func TestStagesMayLack(t *testing.T) {
	for lacks := range 8 {
		count := [3]atomic.Int64{}
		stage := func(k int) func(int, *item) error {
			if lacks>>k&1 != 0 {
				return nil
			}
			return func(int, *item) error { count[k].Add(1); return nil }
		}
		err := stages[*item]{stage(0), stage(1), stage(2)}.run(t.Context(), 2, 50, items(4))
		for k := range count {
			if n, want := count[k].Load(), int64(50*(1-lacks>>k&1)); n != want || err != nil {
				t.Errorf("lacking %03b: stage %d has done %d jobs, want %d; %v", lacks, k, n, want, err)
			}
		}
	}
}

// TestStagesStop: an error, a panic or the end of the context in any stage ends the others,
// whatever they are waiting for.
func TestStagesStop(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	rng := newRand(t)
	bad := errors.New("disk on fire")
	for range runs(400) {
		workers, n := 1+rng.IntN(5), 1+rng.IntN(100)
		where, at := []string{"read", "work", "write"}[rng.IntN(3)], rng.IntN(n)
		how, seed := rng.IntN(3), rng.Uint64()
		ctx, cancel := context.WithCancel(t.Context())
		p := &passes{t: t, at: func(stage string, i int) error {
			if (seed>>(i%60))&1 != 0 {
				runtime.Gosched()
			}
			switch {
			case stage != where || i != at:
				return nil
			case how == 0:
				return bad
			case how == 1:
				panic("a bug")
			}
			cancel()
			return nil
		}}
		within(t, fmt.Sprintf("%d workers, %d jobs, %s job %d", workers, n, where, at), func() {
			err := p.stages().run(ctx, workers, n, items(1+rng.IntN(2*workers+2)))
			_, bug := errors.AsType[*crew.PanicError](err)
			done := err == nil && p.written.Load() == int64(n) // the context ended too late
			if how == 0 && !errors.Is(err, bad) || how == 1 && !(bug && strings.Contains(err.Error(), "a bug")) ||
				how == 2 && !errors.Is(err, context.Canceled) && !done {
				t.Errorf("%d workers, %d jobs, %s job %d, way %d: %v", workers, n, where, at, how, err)
			}
			if where == "write" && how < 2 && p.written.Load() != int64(at)+1 {
				t.Errorf("%d jobs are written after job %d failed", p.written.Load(), at)
			}
		})
		cancel()
	}
}

// TestStagesBeginNothingLate: the context has ended already.
func TestStagesBeginNothingLate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		p := &passes{t: t}
		err := p.stages().run(ctx, 1+rand.IntN(3), 1000, items(8))
		if !errors.Is(err, context.Canceled) || p.written.Load() > 8 {
			t.Errorf("%v, %d jobs are written", err, p.written.Load())
		}
	}
}
