package crew_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/crew"
)

func bug(v any) error { panic(v) }

func mustPanic(t *testing.T, err error, text string) {
	t.Helper()
	p := must.As[*crew.PanicError](t, err)
	should.Hold(t, p.Error() == "internal error: "+text && strings.Contains(p.Stack, "crew_test.bug"), "%v\n%s", p, p.Stack)
}

func TestRun(t *testing.T) {
	for _, want := range []error{nil, io.EOF} {
		should.Equal(t, crew.Run(func() error { return want }), want, "error")
	}
	for text, value := range map[string]any{"a bug": "a bug", "EOF": io.EOF} {
		err := crew.Run(func() error { return bug(value) })
		mustPanic(t, err, text)
		should.Not(t, errors.Is(err, io.EOF), "a panic is taken for the error that it carries")
	}
	must.As[*crew.PanicError](t, crew.Run(func() error { return bug(nil) }))

	ended := make(chan error)
	crew.Go(func() error { return io.EOF }, func(err error) { ended <- err })
	should.Equal(t, <-ended, io.EOF)
	crew.Go(func() error { return bug("a bug") }, func(err error) { ended <- err })
	mustPanic(t, <-ended, "a bug")
}

// TestGroup: a panic ends the others, and Wait returns it. No more are at work at a time than allowed.
func TestGroup(t *testing.T) {
	group, ctx := crew.WithContext(t.Context())
	var others atomic.Int64
	for range 3 {
		group.Go(func() error {
			<-ctx.Done()
			others.Add(1)
			return ctx.Err()
		})
	}
	group.Go(func() error { return bug("a bug") })
	mustPanic(t, group.Wait(), "a bug")
	should.Hold(t, others.Load() == 3 && errors.Is(ctx.Err(), context.Canceled), "%d others ended, context %v", others.Load(), ctx.Err())

	group, _ = crew.WithContext(t.Context())
	group.SetLimit(2)
	var working, most atomic.Int64
	for range 20 {
		group.Go(func() error {
			n := working.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			working.Add(-1)
			return nil
		})
	}
	must.OK(t, group.Wait())
	should.Not(t, most.Load() > 2, "%d at work", most.Load())
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestEachDoesEveryItemOnce, and keeps workers apart: what belongs to a worker serves one item at a time. When an item begins, all before
// it have been taken.
func TestEachDoesEveryItemOnce(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 5, 100} {
		for _, n := range []int{0, 1, 4, 2000} {
			done, busy := make([]atomic.Int64, n), make([]atomic.Bool, max(1, min(workers, n)))
			var begun atomic.Int64
			must.OK(t, crew.Each(t.Context(), workers, n, func(worker, i int) error {
				number := begun.Add(1)
				should.Not(t, int64(i) >= number-1+int64(len(busy)), "%d workers: item %d is the %d-th to begin", workers, i, number)
				should.Hold(t, busy[worker].CompareAndSwap(false, true), "a worker does two things at once")
				busy[worker].Store(false)
				done[i].Add(1)
				return nil
			}))
			for i := range done {
				should.Equal(t, done[i].Load(), 1, "%d workers, %d items: item %d is done", workers, n, i)
			}
		}
	}
}

// TestEachReturnsTheFirstError: it, or a panic, ends with the last item that is begun; those before one that fails are done.
func TestEachReturnsTheFirstError(t *testing.T) {
	first := errors.New("first")
	for _, workers := range slices.Repeat([]int{1, 3}, 3000) {
		for _, fail := range []func() error{func() error { return first }, func() error { return bug("a bug") }} {
			var done atomic.Int64
			err := crew.Each(t.Context(), workers, 10_000, func(_, i int) error {
				switch {
				case i == 50:
					return fail()
				case i < 50 || workers == 1:
					done.Add(1)
				}
				return nil
			})
			if !errors.Is(err, first) {
				mustPanic(t, err, "a bug")
			}
			should.Hold(t, done.Load() == 50, "%d workers: %d items done, with an error at item 50", workers, done.Load())
		}
	}
}

func TestEachStopsWithTheContext(t *testing.T) {
	for _, workers := range []int{1, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		var done atomic.Int64
		err := crew.Each(ctx, workers, 1000, func(_, i int) error {
			if i >= 20 {
				cancel()
			}
			done.Add(1)
			return nil
		})
		should.Hold(t, errors.Is(err, context.Canceled) && done.Load() <= int64(20+workers),
			"%d workers: %d items done, %v", workers, done.Load(), err)
		should.Be(t, crew.Each(ctx, workers, 5, func(int, int) error { return errors.New("begun after the end") }), context.Canceled)
	}
}

// TestShared: callers with the same key share one call, those with another do not. A panic is an error of all who wait.
func TestShared(t *testing.T) {
	var s crew.Shared[int, int]
	var calls atomic.Int32
	begun, end := make(chan bool, 1), make(chan bool)
	work := func(context.Context) (int, error) {
		calls.Add(1)
		begun <- true
		<-end
		return 7, nil
	}
	var group sync.WaitGroup
	group.Go(func() {
		got, err := s.Do(t.Context(), 1, work)
		should.Hold(t, got == 7 && err == nil, "%d, %v", got, err)
	})
	<-begun
	should.Equal(t, must.Get(s.Do(t.Context(), 2, func(context.Context) (int, error) { return 8, nil }))(t), 8, "another key")
	should.Be(t, must.Err(s.Do(must.Ended(t), 1, work)), context.Canceled, "whose context has ended")
	close(end)
	group.Wait()
	should.Equal(t, calls.Load(), 1, "calls")
	mustPanic(t, must.Err(s.Do(t.Context(), 1, func(context.Context) (int, error) { return 0, bug("a bug") })), "a bug")
	should.Equal(t, must.Get(s.Do(t.Context(), 1, func(context.Context) (int, error) { return 3, nil }))(t), 3)
}

// TestSharedEnds: the work goes on as long as somebody waits for it, whoever began it, and no longer.
func TestSharedEnds(t *testing.T) {
	var s crew.Shared[string, bool]
	first, cancelFirst := context.WithCancel(t.Context())
	second, cancelSecond := context.WithCancel(t.Context())
	begun, ended := make(chan bool), make(chan bool)
	work := func(ctx context.Context) (bool, error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return false, ctx.Err()
	}
	var group sync.WaitGroup
	wait := func(ctx context.Context) { should.Be(t, must.Err(s.Do(ctx, "", work)), context.Canceled) }
	group.Go(func() { wait(first) })
	<-begun
	joined := &signaling{Context: second, looked: make(chan bool)}
	group.Go(func() { wait(joined) })
	<-joined.looked
	cancelFirst()
	select {
	case <-ended:
		t.Error("the work ended though somebody waits for it")
	default:
	}
	cancelSecond()
	<-ended
	group.Wait()
}

// signaling is a context that tells when somebody waits for its end.
type signaling struct {
	context.Context
	once   sync.Once
	looked chan bool
}

func (s *signaling) Done() <-chan struct{} {
	s.once.Do(func() { close(s.looked) })
	return s.Context.Done()
}

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
	for _, workers := range []int{0, 1, 2, 7} {
		for _, n := range []int{0, 1, 2, 300} {
			tries.Within(t, "stream", func() {
				s := squares(t.Context(), workers, 1+workers, -1, false)
				s.Go(func() error { return give(s, n) })
				got, err := receive(t, s, -1)
				should.Hold(t, got == n && err == crew.ErrNoMore && s.Wait() == nil, "%d workers: %d of %d jobs come out, %v", workers, got, n, err)
				s = squares(t.Context(), workers, 1+workers, -1, false)
				s.Go(func() error { got, _ = receive(t, s, -1); return nil })
				must.OK(t, errors.Join(give(s, n), s.Wait()))
				should.Equal(t, got, n, "%d workers: jobs that come out of the other end", workers)
			})
		}
	}
	// One goroutine has both ends, as long as there is memory.
	s := squares(t.Context(), 2, 5, -1, false)
	must.OK(t, give(s, 5))
	got, err := receive(t, s, -1)
	should.Hold(t, got == 5 && err == crew.ErrNoMore && s.Wait() == nil, "%d jobs, %v", got, err)
}

// TestStreamFails: an error or a panic of a worker reaches both ends and Wait. The jobs before may come out, no other.
func TestStreamFails(t *testing.T) {
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
					} else {
						should.Equal(t, err, errBad)
					}
				}
			})
		}
	}
}

// TestStreamStops at any point, whoever waits for whom, and leaves no goroutine.
func TestStreamStops(t *testing.T) {
	for n := range 60 {
		tries.Within(t, "stream", func() {
			s := squares(t.Context(), 1+n%3, 1+n%5, -1, false)
			s.Go(func() error { return give(s, 50) })
			should.Be(t, must.Err(receive(t, s, min(n, 50))), nil, "after %d jobs", n)
			should.Be(t, errors.Join(s.Stop(), s.Stop()), nil, "stopped after %d jobs", n)
			_, err := s.Next()
			should.Not(t, err == nil || err == crew.ErrNoMore && n < 50, "after Stop: %v", err)
		})
	}
	s := squares(t.Context(), 1, 2, 1, false)
	should.Equal(t, give(s, 9), errBad)
	should.Equal(t, s.Stop(), errBad, "Stop tells what failed before")
}

// TestStreamEndsWithItsContext, for both ends and Wait: with its error, whatever its cause.
func TestStreamEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	s := squares(ctx, 2, 3, -1, false)
	gave := make(chan error, 1)
	s.Go(func() error { err := give(s, 1000); gave <- err; return err })
	should.OK(t, must.Err(receive(t, s, 7)))
	cancel(errBad)
	_, err := s.Next()
	for _, err := range []error{err, <-gave, s.Wait()} {
		should.Equal(t, err, context.Canceled)
	}
}

// TestOrderedReadsNoMore: Read ends the jobs, and those before are written.
func TestOrderedReadsNoMore(t *testing.T) {
	for n := range 20 {
		written := 0
		must.OK(t, crew.Ordered[*item]{
			Read:  func(i int, _ *item) error { return map[bool]error{true: crew.ErrNoMore}[i == n] },
			Write: func(i int, _ *item) error { written++; return nil },
		}.Run(t.Context(), 2, 1000, items(3)))
		should.Equal(t, written, n, "jobs written")
	}
}

// item is the memory of a job.
type item struct {
	busy     atomic.Bool
	i, stage int
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
						should.Equal(t, p.count[stage].Load(), int64(n), "%d workers: jobs that have been through stage %d", workers, stage)
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
	rng := tries.Rand(t)
	for range 200 {
		workers, n := 1+rng.IntN(5), 1+rng.IntN(100)
		where, at, how, yields := rng.IntN(stages), rng.IntN(n), rng.IntN(3), rng.Uint64()
		ctx, cancel := context.WithCancel(t.Context())
		p := newPasses(t, workers, 1+rng.IntN(2*workers+2))
		p.at = func(stage, i int) error {
			if yields>>(i%64)&1 != 0 {
				runtime.Gosched()
			}
			switch {
			case stage != where || i != at:
				return nil
			case how == 0:
				return errBad
			case how == 1:
				return bug("a bug")
			}
			cancel()
			return nil
		}
		what := fmt.Sprintf("%d workers, %d jobs, stage %d of job %d, way %d", workers, n, where, at, how)
		tries.Within(t, what, func() {
			err, written := p.run(ctx, n), p.count[write].Load()
			switch how {
			case 0:
				should.Equal(t, err, errBad, "%s", what)
			case 1:
				mustPanic(t, err, "a bug")
			case 2:
				late := err == nil && where == write && written == int64(n) // all was done
				should.Not(t, !errors.Is(err, context.Canceled) && !late, "%s: %v", what, err)
			}
			should.Not(t, written > int64(at)+1, "%s: %d jobs are written", what, written)
		})
		cancel()
	}
}

// TestOrderedBeginsNothing late, when the context has ended already, or without memory, when it would wait for ever.
func TestOrderedBeginsNothing(t *testing.T) {
	for workers := range 4 {
		p := newPasses(t, workers, 8)
		should.Be(t, p.run(must.Ended(t), 1000), context.Canceled)
		should.Equal(t, p.count[read].Load(), 0, "jobs read")
	}
	must.As[*crew.PanicError](t, crew.Run(func() error { return crew.Ordered[*item]{}.Run(t.Context(), 1, 1, nil) }))
}

// TestOrderedAllocatesNoJob: what it takes does not grow with the number of jobs.
func TestOrderedAllocatesNoJob(t *testing.T) {
	o, spare := crew.Ordered[*item]{}, items(4)
	allocations := func(n int) float64 {
		return testing.AllocsPerRun(5, func() { must.OK(t, o.Run(t.Context(), 2, n, spare)) })
	}
	few, many := allocations(1), allocations(10_000)
	should.Not(t, many > few+100, "%v allocations for 10000 jobs, %v for one", many, few)
}
