package crew

import "context"

// Ordered is a pipeline of three stages that run concurrently. Each job passes through all of
// them. A nil stage does nothing.
type Ordered[J any] struct {
	Read  func(i int, job J) error         // what job i needs: by one goroutine, in order
	Work  func(worker, i int, job J) error // by several, in any order; worker numbers them
	Write func(i int, job J) error         // what it gives: by one, in order
}

// Run passes the jobs 0 to n-1 through the stages, with at least one worker, until all are written,
// a stage fails or panics, or ctx ends; it returns the first error. spare, which is not empty,
// bounds the memory: jobs reuse its elements.
func (o Ordered[J]) Run(ctx context.Context, workers, n int, spare []J) error {
	if len(spare) == 0 {
		panic("crew: a pipeline without memory for a job")
	}
	group, ctx := WithContext(ctx)
	l := newLine(o, spare)
	group.Go(func() error { return l.read(ctx, n) })
	for worker := range max(1, workers) {
		group.Go(func() error { return l.work(ctx, worker) })
	}
	group.Go(func() error { return l.write(ctx) })
	return group.Wait()
}

// line is a running pipeline. Its channels have room for all jobs, so that only waiting for
// one blocks.
type line[J any] struct {
	stages Ordered[J]
	free   chan *turn[J] // not in use: they bound the memory
	dealt  chan *turn[J] // to the workers
	order  chan *turn[J] // to the writer, in order
}

// turn is a job in flight. Turns are reused.
type turn[J any] struct {
	i      int
	job    J
	worked chan struct{} // holds a value when Work is done
}

func newLine[J any](stages Ordered[J], spare []J) *line[J] {
	n := len(spare)
	l := &line[J]{stages, make(chan *turn[J], n), make(chan *turn[J], n), make(chan *turn[J], n)}
	for _, job := range spare {
		l.free <- &turn[J]{job: job, worked: make(chan struct{}, 1)}
	}
	return l
}

func (l *line[J]) read(ctx context.Context, n int) error {
	defer close(l.dealt)
	defer close(l.order)
	for i := range n {
		t, err := take(ctx, l.free)
		if err != nil {
			return err
		}
		t.i = i
		if l.stages.Read != nil {
			if err := l.stages.Read(i, t.job); err != nil {
				return err
			}
		}
		l.dealt <- t
		l.order <- t
	}
	return nil
}

func (l *line[J]) work(ctx context.Context, worker int) error {
	for t := range l.dealt {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.stages.Work != nil {
			if err := l.stages.Work(worker, t.i, t.job); err != nil {
				return err
			}
		}
		t.worked <- struct{}{}
	}
	return nil
}

func (l *line[J]) write(ctx context.Context) error {
	for t := range l.order {
		if _, err := take(ctx, t.worked); err != nil {
			return err
		}
		if l.stages.Write != nil {
			if err := l.stages.Write(t.i, t.job); err != nil {
				return err
			}
		}
		l.free <- t
	}
	return nil
}

// take waits for a value, but no longer than ctx.
func take[T any](ctx context.Context, from <-chan T) (value T, err error) {
	select {
	case value = <-from:
	case <-ctx.Done():
	}
	return value, ctx.Err()
}
