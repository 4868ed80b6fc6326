package halfboard

import (
	"context"

	"grenier/io/crew"
)

// stages are what the jobs of a pass go through: all at the same time, each job one after
// the other. A stage that is nil does nothing.
type stages[J any] struct {
	read  func(i int, job J) error // what job i needs: by one goroutine, in order
	work  func(i int, job J) error // by several, in any order
	write func(i int, job J) error // what it gives: by one, in order
}

// turn is job i on its way; done is closed when it is worked on.
type turn[J any] struct {
	i    int
	job  J
	done chan struct{}
}

// run takes n jobs through the stages, with as many workers as given. Their memory is that
// of spare, each of which serves one job after the other.
func (s stages[J]) run(ctx context.Context, workers, n int, spare []J) error {
	group, ctx := crew.WithContext(ctx)
	free := make(chan J, len(spare))
	for _, j := range spare {
		free <- j
	}
	dealt, order := make(chan turn[J], len(spare)), make(chan turn[J], len(spare))
	group.Go(func() error {
		defer close(dealt)
		defer close(order)
		for i := range n {
			t := turn[J]{i: i, done: make(chan struct{})}
			select {
			case t.job = <-free:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := call(s.read, t); err != nil {
				return err
			}
			dealt <- t // there is room for all
			order <- t
		}
		return nil
	})
	for range workers {
		group.Go(func() error {
			for t := range dealt {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err := call(s.work, t); err != nil {
					return err
				}
				close(t.done)
			}
			return nil
		})
	}
	group.Go(func() error {
		for t := range order {
			select {
			case <-t.done:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := call(s.write, t); err != nil {
				return err
			}
			free <- t.job
		}
		return nil
	})
	return group.Wait()
}

func call[J any](stage func(int, J) error, t turn[J]) error {
	if stage == nil {
		return nil
	}
	return stage(t.i, t.job)
}

// background is a task that runs while others work: the zero value is no task.
type background struct{ ended chan error }

// begin starts it; no other may be running.
func (b *background) begin(do func() error) {
	ended := make(chan error, 1)
	b.ended = ended
	crew.Go(do, func(err error) { ended <- err })
}

// wait waits for its end, if it has begun, and returns its error once.
func (b *background) wait() error {
	if b.ended == nil {
		return nil
	}
	err := <-b.ended
	b.ended = nil
	return err
}

// spares returns memory for enough jobs to keep all workers, the reader and the writer busy.
func spares[J any](workers int) []*J {
	jobs := make([]*J, 2*workers+2)
	for i := range jobs {
		jobs[i] = new(J)
	}
	return jobs
}
