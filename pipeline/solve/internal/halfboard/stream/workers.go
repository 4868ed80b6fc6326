package stream

import "grenier/io/crew"

// spares returns memory for enough jobs to keep all workers, the reader and the writer busy.
func spares[J any](workers int) []*J {
	jobs := make([]*J, 2*workers+2)
	for i := range jobs {
		jobs[i] = new(J)
	}
	return jobs
}

// background is a task that runs while others work: the zero value is no task.
type background struct{ ended chan error }

// begin starts it; no other may be running.
func (b *background) begin(do func() error) {
	ended := make(chan error, 1)
	b.ended = ended
	crew.Go(do, func(err error) { ended <- err })
}

// runs reports whether it has begun and not ended.
func (b *background) runs() bool { return b.ended != nil && len(b.ended) == 0 }

// wait waits for its end, if it has begun, and returns its error once.
func (b *background) wait() error {
	if b.ended == nil {
		return nil
	}
	err := <-b.ended
	b.ended = nil
	return err
}
