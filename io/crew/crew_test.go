package crew_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/crew"
)

func isPanic(err error) bool {
	_, ok := errors.AsType[*crew.PanicError](err)
	return ok
}

// bug panics with v.
func bug(v any) error { panic(v) }

func mustPanic(t *testing.T, err error, text string) {
	t.Helper()
	p, ok := errors.AsType[*crew.PanicError](err)
	must.Hold(t, ok, "error %v", err)
	should.Hold(t, p.Error() == "internal error: "+text && strings.Contains(p.Stack, "crew_test.bug"), "%v\n%s", p, p.Stack)
}

func TestRun(t *testing.T) {
	for _, want := range []error{nil, io.EOF} {
		should.Equal(t, crew.Run(func() error { return want }), want, "error")
	}
	mustPanic(t, crew.Run(func() error { return bug("a bug") }), "a bug")
	err := crew.Run(func() error { return bug(nil) })
	should.Hold(t, isPanic(err), "panic(nil): error %v", err)
	err = crew.Run(func() error { return bug(io.EOF) })
	mustPanic(t, err, "EOF")
	should.Not(t, errors.Is(err, io.EOF), "a panic is taken for the error that it carries")
}

func TestGo(t *testing.T) {
	ended := make(chan error)
	crew.Go(func() error { return io.EOF }, func(err error) { ended <- err })
	err := <-ended
	should.Hold(t, err == io.EOF, "error %v", err)
	crew.Go(func() error { return bug("a bug") }, func(err error) { ended <- err })
	mustPanic(t, <-ended, "a bug")
}

// TestGroup: a panic ends the others, and Wait returns it.
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
}

// TestLimit: no more are at work at a time than allowed.
func TestLimit(t *testing.T) {
	group, _ := crew.WithContext(t.Context())
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
	err := group.Wait()
	should.Hold(t, err == nil && most.Load() <= 2, "%d at work, error %v", most.Load(), err)
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEachDoesEveryItemOnce(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 5, 100} {
		for _, n := range []int{0, 1, 4, 1000} {
			done := make([]atomic.Int64, n)
			last := -1 // item of one worker
			must.OK(t, crew.Each(t.Context(), workers, n, func(worker, i int) error {
				should.Not(t, worker < 0 || worker >= max(1, min(workers, n)), "worker %d of %d", worker, workers)
				if workers <= 1 {
					should.Hold(t, i == last+1, "item %d comes after item %d", i, last)
					last = i
				}
				done[i].Add(1)
				return nil
			}))
			for i := range done {
				should.Equal(t, done[i].Load(), 1, "%d workers, %d items: item %d is done", workers, n, i)
			}
		}
	}
}

// TestEachKeepsWorkersApart: what belongs to a worker serves one item at a time. When an item begins, all before it have been taken.
func TestEachKeepsWorkersApart(t *testing.T) {
	const workers = 4
	var busy [workers]atomic.Bool
	var begun atomic.Int64
	must.OK(t, crew.Each(t.Context(), workers, 2000, func(worker, i int) error {
		n := begun.Add(1)
		should.Not(t, int64(i) >= n-1+workers, "item %d is the %d-th to begin", i, n)
		if !busy[worker].CompareAndSwap(false, true) {
			return errors.New("a worker does two things at once")
		}
		busy[worker].Store(false)
		return nil
	}))
}

// TestEachReturnsTheFirstError: it, or a panic, ends with the last item that is begun.
func TestEachReturnsTheFirstError(t *testing.T) {
	first := errors.New("first")
	for _, workers := range []int{1, 3} {
		for _, fail := range []func() error{func() error { return first }, func() error { return bug("a bug") }} {
			var done atomic.Int64
			err := crew.Each(t.Context(), workers, 10_000, func(_, i int) error {
				if i == 50 {
					return fail()
				}
				done.Add(1)
				return nil
			})
			if !errors.Is(err, first) {
				mustPanic(t, err, "a bug")
			}
			should.Not(t, workers == 1 && done.Load() != 50, "%d items done after an error at item 50", done.Load())
		}
	}
}

func TestEachStopsWithTheContext(t *testing.T) {
	for _, workers := range []int{1, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		var done atomic.Int64
		err := crew.Each(ctx, workers, 1000, func(_, i int) error {
			if i == 20 {
				cancel()
			}
			if i > 20 {
				<-ctx.Done()
			}
			done.Add(1)
			return nil
		})
		should.Hold(t, errors.Is(err, context.Canceled) && done.Load() <= int64(20+workers),
			"%d workers: %d items done, %v", workers, done.Load(), err)
		err = crew.Each(ctx, workers, 5, func(int, int) error {
			t.Error("begun after the end")
			return nil
		})
		should.Be(t, err, context.Canceled)
	}
}

// TestShared: callers with the same key share one call, those with another do not.
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
	ask := func() {
		got, err := s.Do(t.Context(), 1, work)
		should.Hold(t, got == 7 && err == nil, "%d, %v", got, err)
	}
	group.Go(ask)
	<-begun
	should.Equal(t, must.Get(s.Do(t.Context(), 2, func(context.Context) (int, error) { return 8, nil }))(t), 8, "another key")
	late, cancel := context.WithCancel(t.Context())
	cancel()
	should.Be(t, must.Err(s.Do(late, 1, work)), context.Canceled, "whose context has ended")
	close(end)
	group.Wait()
	should.Equal(t, calls.Load(), 1, "calls")
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

// TestSharedPanics: a panic is an error of all who wait.
func TestSharedPanics(t *testing.T) {
	var s crew.Shared[int, int]
	_, err := s.Do(t.Context(), 1, func(context.Context) (int, error) { panic("bug") })
	bug, ok := errors.AsType[*crew.PanicError](err)
	should.Hold(t, ok && bug.Value == "bug", "%v", err)
	should.Equal(t, must.Get(s.Do(t.Context(), 1, func(context.Context) (int, error) { return 3, nil }))(t), 3)
}
