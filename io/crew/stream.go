package crew

import (
	"context"
	"errors"
)

// Stream passes jobs through workers and gives them out in the order in which they came in.
// It has two ends. Each belongs to one goroutine, which is the caller's or one that Go starts:
//
//	s := crew.NewStream(ctx, workers, spare, work)
//	s.Go(func() error { // the end where jobs go in
//		defer s.End()
//		for more() {
//			job, err := s.Free()
//			if err != nil {
//				return err
//			}
//			fill(job)
//			s.Send()
//		}
//		return nil
//	})
//	job, err := s.Next() // the end where they come out; ErrNoMore after the last one
//	...
//	err = s.Wait() // or Stop, which does not wait for the rest
//
// The first stage that fails or panics ends all others. Ordered is a stream with a function at
// each end.
type Stream[J any] struct {
	group  *Group
	caller context.Context
	ctx    context.Context // ends when the caller's does, when a goroutine fails, or at Stop
	cancel context.CancelCauseFunc

	// The channels have room for all jobs: who sends never waits.
	free  chan *turn[J] // not in use: they bound the memory
	dealt chan *turn[J] // to the workers
	order chan *turn[J] // to come out, in order

	in, out *turn[J] // in the hands of the two ends
	sent    int
}

// turn is a job in flight. Turns are reused.
type turn[J any] struct {
	i      int
	job    J
	worked chan struct{} // holds a value when the work is done
}

// ErrNoMore says that no job is left.
var ErrNoMore = errors.New("no more jobs")

// errStopped ends the goroutines of a stream at Stop.
var errStopped = errors.New("crew: the stream was stopped")

// NewStream starts a stream with at least one worker. Each calls work, which may be nil, for jobs
// of any order; worker numbers it, and i is the number of jobs sent before. spare, which is not
// empty, bounds the memory: jobs reuse its elements. Wait or Stop must be called.
func NewStream[J any](ctx context.Context, workers int, spare []J, work func(worker, i int, job J) error) *Stream[J] {
	n := len(spare)
	if n == 0 {
		panic("crew: a pipeline without memory for a job")
	}
	s := &Stream[J]{caller: ctx, free: make(chan *turn[J], n), dealt: make(chan *turn[J], n), order: make(chan *turn[J], n)}
	for _, job := range spare {
		s.free <- &turn[J]{job: job, worked: make(chan struct{}, 1)}
	}
	ctx, s.cancel = context.WithCancelCause(ctx)
	s.group, s.ctx = WithContext(ctx)
	for worker := range max(1, workers) {
		s.Go(func() error { return s.work(worker, work) })
	}
	return s
}

// Go calls f, which serves an end, in a goroutine of its own. An error ends the stream.
func (s *Stream[J]) Go(f func() error) { s.group.Go(f) }

// Free waits for a job that is not in use, to be filled and sent. It fails with the error that
// ended the stream.
func (s *Stream[J]) Free() (job J, err error) {
	if s.in, _, err = take(s, s.free); err != nil {
		return job, err
	}
	return s.in.job, nil
}

// Send passes on the job that Free returned.
func (s *Stream[J]) Send() {
	t := s.in
	s.in, t.i = nil, s.sent
	s.sent++
	s.dealt <- t
	s.order <- t
}

// End says that no job follows. It is called once.
func (s *Stream[J]) End() {
	close(s.dealt)
	close(s.order)
}

// Next waits until the next job, in order, has been worked on, and returns it. It is free for
// other contents when Next is called again. After the last one Next fails with ErrNoMore; if
// the stream has ended, with the error that ended it.
func (s *Stream[J]) Next() (job J, err error) {
	if s.out != nil {
		s.free <- s.out
		s.out = nil
	}
	t, more, err := take(s, s.order)
	if err == nil && !more {
		err = ErrNoMore
	}
	if err == nil {
		_, _, err = take(s, t.worked)
	}
	if err != nil {
		return job, err
	}
	s.out = t
	return t.job, nil
}

// Wait waits until all goroutines have ended and returns the error that ended the stream. End
// must have been called.
func (s *Stream[J]) Wait() error {
	err := s.group.Wait()
	s.cancel(nil)
	return err
}

// Stop ends the stream, whatever is in flight, and waits for its goroutines. It returns the error
// that had ended the stream before, if one had.
func (s *Stream[J]) Stop() error {
	s.cancel(errStopped)
	if err := s.group.Wait(); !errors.Is(err, errStopped) {
		return err
	}
	return nil
}

func (s *Stream[J]) work(worker int, work func(worker, i int, job J) error) error {
	for {
		t, more, err := take(s, s.dealt)
		if err != nil || !more {
			return err
		}
		if work != nil {
			if err := work(worker, t.i, t.job); err != nil {
				return err
			}
		}
		t.worked <- struct{}{}
	}
}

// take waits for a value, but no longer than the stream. more is false if the channel is closed.
func take[T, J any](s *Stream[J], from <-chan T) (value T, more bool, err error) {
	select {
	case value, more = <-from:
	case <-s.ctx.Done():
	}
	return value, more, s.ended()
}

// ended returns the error that ended the stream, nil if none has. Of the caller's context that is its error,
// as everywhere, and not its cause.
func (s *Stream[J]) ended() error {
	if err := s.caller.Err(); err != nil {
		return err
	}
	return context.Cause(s.ctx)
}
