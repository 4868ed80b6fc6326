package crew_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

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

// TestStreamFails: an error or a panic of a worker reaches both ends and Wait. The jobs before
// may come out, no other.
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
