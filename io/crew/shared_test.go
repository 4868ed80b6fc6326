package crew_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/crew"
)

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
	got, err := s.Do(t.Context(), 2, func(context.Context) (int, error) { return 8, nil })
	should.Hold(t, got == 8 && err == nil, "another key: %d, %v", got, err)
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
	wait := func(ctx context.Context) {
		should.Be(t, must.Err(s.Do(ctx, "", work)), context.Canceled)
	}
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
