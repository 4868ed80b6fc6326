package crew

import "context"

// Ordered is a pipeline of three stages that run concurrently. Each job passes through all of
// them. A nil stage does nothing.
type Ordered[J any] struct {
	Read  func(i int, job J) error         // the input of job i: by one goroutine, in order
	Work  func(worker, i int, job J) error // by several, in any order; worker numbers them
	Write func(i int, job J) error         // its output: by one, in order
}

// Run passes the jobs 0 to n-1 through the stages, with at least one worker, until all are written,
// a stage fails or panics, or ctx ends; it returns the first error. Read may end the jobs earlier,
// with ErrNoMore. spare, which is not empty, bounds the memory: jobs reuse its elements.
func (o Ordered[J]) Run(ctx context.Context, workers, n int, spare []J) error {
	s := NewStream(ctx, workers, spare, o.Work)
	s.Go(func() error { return o.read(s, n) })
	s.Go(func() error { return o.write(s) })
	return s.Wait()
}

func (o Ordered[J]) read(s *Stream[J], n int) error {
	defer s.End()
	for i := range n {
		job, err := s.Free()
		if err == nil && o.Read != nil {
			err = o.Read(i, job)
		}
		if err == ErrNoMore {
			return nil
		}
		if err != nil {
			return err
		}
		s.Send()
	}
	return nil
}

func (o Ordered[J]) write(s *Stream[J]) error {
	for i := 0; ; i++ {
		job, err := s.Next()
		if err == ErrNoMore {
			return nil
		}
		if err == nil && o.Write != nil {
			err = o.Write(i, job)
		}
		if err != nil {
			return err
		}
	}
}
