package crew_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/crew"
)

var errBad = errors.New("disk on fire")

// squares starts a stream that squares numbers; job bad, if there is one, fails, or panics.
func squares(ctx context.Context, workers, spare, bad int, panics bool) *crew.Stream[*int] {
	jobs := make([]*int, spare)
	for i := range jobs {
		jobs[i] = new(int)
	}
	return crew.NewStream(ctx, workers, jobs, func(_, i int, job *int) error {
		switch {
		case i == bad && panics:
			return bug("a bug")
		case i == bad:
			return errBad
		case i%3 == 0:
			runtime.Gosched()
		}
		*job *= *job
		return nil
	})
}

// give sends the numbers 0 to n-1.
func give(s *crew.Stream[*int], n int) error {
	for i := range n {
		job, err := s.Free()
		if err != nil {
			return err
		}
		*job = i
		s.Send()
	}
	s.End()
	return nil
}

// receive takes n squares in order, or all if n is negative.
func receive(t *testing.T, s *crew.Stream[*int], n int) (got int, err error) {
	t.Helper()
	for ; got != n; got++ {
		job, err := s.Next()
		if err != nil {
			return got, err
		}
		should.Equal(t, *job, got*got, "job %d comes out as", got)
	}
	return got, nil
}

// TestStreamKeepsTheOrder whichever end is the caller's.
func TestStreamKeepsTheOrder(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, workers := range []int{0, 1, 2, 7} {
		for _, n := range []int{0, 1, 2, 300} {
			tries.Within(t, "stream", func() {
				s := squares(t.Context(), workers, 1+workers, -1, false)
				s.Go(func() error { return give(s, n) })
				if got, err := receive(t, s, -1); got != n || err != crew.ErrNoMore || s.Wait() != nil {
					t.Errorf("%d workers: %d of %d jobs come out, %v", workers, got, n, err)
				}
				s = squares(t.Context(), workers, 1+workers, -1, false)
				got := 0
				s.Go(func() error { got, _ = receive(t, s, -1); return nil })
				err := errors.Join(give(s, n), s.Wait())
				should.Hold(t, got == n && err == nil, "%d workers: %d of %d jobs come out of the other end, %v", workers, got, n, err)
			})
		}
	}
}

// TestStreamOfOneGoroutine, which has both ends, as long as there is memory.
func TestStreamOfOneGoroutine(t *testing.T) {
	s := squares(t.Context(), 2, 5, -1, false)
	must.OK(t, give(s, 5))
	got, err := receive(t, s, -1)
	should.Hold(t, got == 5 && err == crew.ErrNoMore && s.Wait() == nil, "%d jobs, %v", got, err)
}

// TestStreamFails: an error or a panic of a worker reaches both ends and Wait. The jobs before may come out, no other.
func TestStreamFails(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for bad := range 40 {
		for _, panics := range []bool{false, true} {
			tries.Within(t, "stream", func() {
				s := squares(t.Context(), 1+bad%3, 1+bad%5, bad, panics)
				gave := make(chan error, 1)
				s.Go(func() error { err := give(s, 1000); gave <- err; return err })
				got, err := receive(t, s, -1)
				should.Not(t, got > bad, "%d jobs come out, %d fails", got, bad)
				for _, err := range []error{err, <-gave, s.Wait()} {
					if panics {
						mustPanic(t, err, "a bug")
					} else if err != errBad {
						t.Errorf("error %v", err)
					}
				}
			})
		}
	}
}

// TestStreamStops at any point, whoever waits for whom, and leaves no goroutine.
func TestStreamStops(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for n := range 60 {
		tries.Within(t, "stream", func() {
			s := squares(t.Context(), 1+n%3, 1+n%5, -1, false)
			s.Go(func() error { return give(s, 50) })
			got, err := receive(t, s, min(n, 50))
			should.Hold(t, err == nil, "after %d of %d jobs: %v", got, n, err)
			should.Be(t, errors.Join(s.Stop(), s.Stop()), nil, "stopped after %d jobs", n)
			_, err = s.Next()
			should.Not(t, err == nil || err == crew.ErrNoMore && n < 50, "after Stop: %v", err)
		})
	}
}

// TestStopTellsWhatFailed before.
func TestStopTellsWhatFailed(t *testing.T) {
	s := squares(t.Context(), 1, 2, 1, false)
	err := give(s, 9)
	should.Hold(t, err == errBad, "error %v", err)
	err = s.Stop()
	should.Hold(t, err == errBad, "Stop: error %v", err)
}

// TestStreamEndsWithItsContext, for both ends and Wait: with its error, whatever its cause.
func TestStreamEndsWithItsContext(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancelCause(t.Context())
	s := squares(ctx, 2, 3, -1, false)
	gave := make(chan error, 1)
	s.Go(func() error { err := give(s, 1000); gave <- err; return err })
	should.OK(t, must.Err(receive(t, s, 7)))
	cancel(errBad)
	_, err := s.Next()
	for _, err := range []error{err, <-gave, s.Wait()} {
		should.Hold(t, err == context.Canceled, "error %v", err)
	}
}

// TestOrderedReadsNoMore: Read ends the jobs, and those before are written.
func TestOrderedReadsNoMore(t *testing.T) {
	for n := range 20 {
		written := 0
		err := crew.Ordered[*item]{
			Read: func(i int, _ *item) error {
				if i == n {
					return crew.ErrNoMore
				}
				return nil
			},
			Write: func(i int, _ *item) error { written++; return nil },
		}.Run(t.Context(), 2, 1000, items(3))
		should.Hold(t, err == nil && written == n, "%d of %d jobs are written, %v", written, n, err)
	}
}

// item is the memory of a job.
type item struct {
	busy  atomic.Bool
	i     int
	stage int
}

func items(n int) (all []*item) {
	for range n {
		all = append(all, new(item))
	}
	return all
}

// The stages of passes.
const (
	read = iota
	work
	write
	stages
)

// passes checks what stages do with jobs.
type passes struct {
	t       *testing.T
	workers int
	spare   int                          // jobs that there is memory for
	busy    []atomic.Bool                // workers
	count   [stages]atomic.Int64         // jobs that have begun
	at      func(stage int, i int) error // called in each stage
}

func newPasses(t *testing.T, workers, spare int) *passes {
	return &passes{t: t, workers: workers, spare: spare, busy: make([]atomic.Bool, workers), at: func(int, int) error { return nil }}
}

func (p *passes) run(ctx context.Context, n int) error {
	return crew.Ordered[*item]{
		Read: func(i int, j *item) error {
			ahead := p.count[read].Load() - p.count[write].Load()
			should.Not(p.t, ahead >= int64(p.spare), "job %d begins, while %d are on their way, with memory for %d", i, ahead, p.spare)
			j.i, j.stage = i, read
			return p.pass(read, i, j)
		},
		Work: func(worker, i int, j *item) error {
			should.Hold(p.t, p.busy[worker].CompareAndSwap(false, true), "worker %d does two jobs at once", worker)
			defer p.busy[worker].Store(false)
			return p.pass(work, i, j)
		},
		Write: func(i int, j *item) error { return p.pass(write, i, j) },
	}.Run(ctx, p.workers, n, items(p.spare))
}

// pass checks that job i is in the given stage, alone, and after the ones before if the stage is in order.
func (p *passes) pass(stage, i int, j *item) error {
	should.Hold(p.t, j.busy.CompareAndSwap(false, true), "job %d is in two stages at once", i)
	defer j.busy.Store(false)
	should.Hold(p.t, j.i == i && j.stage == stage, "stage %d: job %d has been through %d stages as job %d", stage, i, j.stage, j.i)
	j.stage++
	n := p.count[stage].Add(1) - 1
	should.Not(p.t, stage != work && n != int64(i), "stage %d: job %d is number %d", stage, i, n)
	return p.at(stage, i)
}

// TestOrderedTakesAllJobs in order, each one from stage to stage.
func TestOrderedTakesAllJobs(t *testing.T) {
	for _, workers := range []int{1, 2, 5, 20} {
		for _, spare := range []int{1, 2, 12} {
			for _, n := range []int{0, 1, 3, 500} {
				tries.Within(t, "stages", func() {
					p := newPasses(t, workers, spare)
					must.OK(t, p.run(t.Context(), n))
					for stage := range stages {
						done := p.count[stage].Load()
						should.Hold(t, done == int64(n), "%d workers: %d of %d jobs have been through stage %d", workers, done, n, stage)
					}
				})
			}
		}
	}
}

// TestOrderedIsBounded: while the first job waits to be written, no more begin than there is memory for.
func TestOrderedIsBounded(t *testing.T) {
	for _, spare := range []int{1, 2, 12} {
		p := newPasses(t, 3, spare)
		p.at = func(stage, i int) error {
			if stage == write && i == 0 {
				for p.count[work].Load() < int64(spare) {
					runtime.Gosched()
				}
				time.Sleep(time.Millisecond) // others would begin meanwhile
				begun := p.count[read].Load()
				should.Hold(t, begun == int64(spare), "%d jobs have begun, with memory for %d", begun, spare)
			}
			return nil
		}
		tries.Within(t, "stages", func() { must.OK(t, p.run(t.Context(), 100)) })
	}
}

// TestOrderedMayLackStages: those that are not there do nothing.
func TestOrderedMayLackStages(t *testing.T) {
	for lacks := range 1 << stages {
		count := [stages]atomic.Int64{}
		stage := func(k int) func(int, *item) error {
			if lacks>>k&1 != 0 {
				return nil
			}
			return func(int, *item) error { count[k].Add(1); return nil }
		}
		o := crew.Ordered[*item]{Read: stage(read), Write: stage(write)}
		if do := stage(work); do != nil {
			o.Work = func(_, i int, j *item) error { return do(i, j) }
		}
		err := o.Run(t.Context(), 0, 50, items(4)) // no workers: one
		for k := range count {
			n, want := count[k].Load(), int64(50*(1-lacks>>k&1))
			should.Hold(t, n == want && err == nil, "lacking %03b: stage %d has done %d jobs, want %d; %v", lacks, k, n, want, err)
		}
	}
}

// TestOrderedStops: an error, a panic or the end of the context in any stage ends the others, whatever they are waiting for.
func TestOrderedStops(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	rng := tries.Rand(t)
	for range 200 {
		stopsOnce(t, rng)
	}
}

func stopsOnce(t *testing.T, rng *rand.Rand) {
	workers, n := 1+rng.IntN(5), 1+rng.IntN(100)
	where, at, how, yields := rng.IntN(stages), rng.IntN(n), rng.IntN(3), rng.Uint64()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	bad := errors.New("disk on fire")
	p := newPasses(t, workers, 1+rng.IntN(2*workers+2))
	p.at = func(stage, i int) error {
		if yields>>(i%64)&1 != 0 {
			runtime.Gosched()
		}
		switch {
		case stage != where || i != at:
			return nil
		case how == 0:
			return bad
		case how == 1:
			return bug("a bug")
		}
		cancel()
		return nil
	}
	what := fmt.Sprintf("%d workers, %d jobs, stage %d of job %d, way %d", workers, n, where, at, how)
	tries.Within(t, what, func() {
		err := p.run(ctx, n)
		written := p.count[write].Load()
		switch how {
		case 0:
			should.Hold(t, err == bad, "%s: %v", what, err)
		case 1:
			mustPanic(t, err, "a bug")
		case 2:
			late := err == nil && where == write && written == int64(n) // all was done
			should.Not(t, !errors.Is(err, context.Canceled) && !late, "%s: %v", what, err)
		}
		most := int64(at) + 1
		should.Not(t, written > most, "%s: %d jobs are written, at most %d can be", what, written, most)
	})
}

// TestOrderedBeginsNothingLate: the context has ended already.
func TestOrderedBeginsNothingLate(t *testing.T) {
	ctx := must.Ended(t)
	for workers := range 4 {
		p := newPasses(t, workers, 8)
		err := p.run(ctx, 1000)
		n := p.count[read].Load()
		should.Hold(t, errors.Is(err, context.Canceled) && n == 0, "%v, %d jobs are read", err, n)
	}
}

// TestOrderedAllocatesNoJob: what it takes does not grow with the number of jobs.
func TestOrderedAllocatesNoJob(t *testing.T) {
	o, spare := crew.Ordered[*item]{}, items(4)
	few, many := allocations(t, o, 1, spare), allocations(t, o, 10_000, spare)
	should.Not(t, many > few+100, "%v allocations for 10000 jobs, %v for one", many, few)
}

func allocations(t *testing.T, o crew.Ordered[*item], n int, spare []*item) float64 {
	t.Helper()
	return testing.AllocsPerRun(5, func() { must.OK(t, o.Run(t.Context(), 2, n, spare)) })
}

// TestOrderedNeedsMemory: without it, it would wait for ever.
func TestOrderedNeedsMemory(t *testing.T) {
	err := crew.Run(func() error { return crew.Ordered[*item]{}.Run(t.Context(), 1, 1, nil) })
	should.Hold(t, isPanic(err), "error %v", err)
}
