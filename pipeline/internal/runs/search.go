package runs

import (
	"context"
	"slices"
	"sync"

	"grenier/io/crew"
	"grenier/pipeline/job"
)

// Search goes from layer to layer until none follows. A layer is a run. For the next one, workers
// take the records of the layer, collect the records that they lead to, and put them aside in sorted runs; these
// are reduced to as many as can be open at once, and merged. Each complete layer is committed: the
// search resumes from there (Store.OpenDir).
//
//	s := &runs.Search{Job: job, Store: store, Abreast: runs.Abreast(room), Step: step, Reached: reached, Checkpoint: checkpoint}
//	first, err := store.One(start)
//	err = s.Start(ctx, first) // or Run, from the layer in a checkpoint
//
// A crash, an error or the end of the context loses the layer in progress, no other.
type Search struct {
	job.Job // Workers, 1 or more, and Progress
	Store   *Store
	Abreast int // runs that are merged at a time (function Abreast)
	// Step says how to go on from a complete layer.
	Step func(layer *Run) (*Step, error)
	// Reached takes over a layer that is complete, may drop those before, and says whether the
	// search goes on.
	Reached func(layer *Run) (more bool)
	// Checkpoint returns, after Reached, the contents of a checkpoint; nil leaves the one before.
	// It is not called for a store in memory.
	Checkpoint func() ([]byte, error)
}

// Step is the way from a layer to the next one.
type Step struct {
	From *Run // the layer
	// Check, if not nil, is called for the records of the layer in order. It fails if one cannot be
	// there.
	Check func(row []uint32) error
	// Workers get chunks of the layer: at most Chunk records each, whose first Group words are the
	// same.
	Chunk, Group int
	// At, if not nil, says how far the search is when workers were given the first records.
	At func(done int) job.Step
	// Expand returns a worker, by number, which adds records to out.
	Expand func(worker int, out *Output) Expander

	Words int // of a record of the next layer
	Key   int // records with the same first words are combined
	// Combine, if not nil, adds another record to the one in row, in place. Otherwise the first one
	// is kept.
	Combine func(row, other []uint32)
	// Prune, if not nil, returns a chooser of the records to keep, for each merge; nil keeps
	// all. The last merge makes the layer.
	Prune func(out *Writer, last bool) (Pruner, error)
}

// Expander is a worker. It collects records, and puts them aside when they are many.
type Expander interface {
	// Expand takes the records of a chunk, one behind the other, which are valid until it returns.
	Expand(ctx context.Context, words []uint32) error
	// Flush puts aside the records that are left.
	Flush(ctx context.Context) error
}

// Pruner takes the combined records of a merge in order, and writes those to keep.
type Pruner interface {
	// Take takes a record, which is valid until it returns.
	Take(ctx context.Context, row []uint32) error
	// End says that no record follows.
	End(ctx context.Context) error
}

// Output takes the records that a worker puts aside. It is not safe for concurrent use.
type Output struct {
	writer *Writer
	keep   func(*Run)
}

// Add appends a record to a run: in order, until End. It fails like Writer.Add.
func (o *Output) Add(row []uint32) error { return o.writer.Add(row) }

// End ends a run, if it has records. It fails like Writer.Add.
func (o *Output) End() error {
	r, err := o.writer.Finish()
	if err == nil && r.N > 0 {
		o.keep(r)
	}
	return err
}

// Start is Run for a first layer, which it commits.
func (s *Search) Start(ctx context.Context, first *Run) error {
	more, err := s.reached(first)
	if err != nil || !more {
		return err
	}
	return s.Run(ctx, first)
}

// Run goes on from a complete layer, as far as Reached wants. It fails with ErrMemory, the error of
// ctx, with errors of Step and its functions, of Checkpoint, and like Commit.
func (s *Search) Run(ctx context.Context, layer *Run) error {
	for {
		next, err := s.advance(ctx, layer)
		if err != nil {
			return err
		}
		more, err := s.reached(next)
		if err != nil || !more {
			return err
		}
		layer = next
	}
}

// reached hands over a layer, and makes it the one to resume from.
func (s *Search) reached(layer *Run) (more bool, err error) {
	more = s.Reached(layer)
	if s.Store.Dir == nil {
		return more, nil
	}
	payload, err := s.Checkpoint()
	if err == nil && payload != nil {
		err = s.Store.Commit(payload)
	}
	return more, err
}

// advance returns the layer after the given one.
func (s *Search) advance(ctx context.Context, layer *Run) (*Run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	step, err := s.Step(layer)
	if err != nil {
		return nil, err
	}
	found, err := s.collect(ctx, step)
	if err != nil {
		return nil, err
	}
	for len(found) > s.Abreast {
		merged, err := s.merge(ctx, step, found[:s.Abreast], false)
		if err == nil {
			err = s.Store.recycle()
		}
		if err != nil {
			return nil, err
		}
		found = append(found[s.Abreast:], merged)
	}
	return s.merge(ctx, step, found, true)
}

// collect returns the runs that workers put aside, in any order.
func (s *Search) collect(ctx context.Context, step *Step) (found []*Run, err error) {
	group, ctx := crew.WithContext(ctx)
	chunks := &chunks{Search: s, step: step, out: make(chan []uint32, s.Workers), free: make(chan []uint32, 2*s.Workers+2)}
	group.Go(func() error {
		defer close(chunks.out)
		return chunks.send(ctx)
	})
	var mu sync.Mutex
	keep := func(r *Run) {
		mu.Lock()
		defer mu.Unlock()
		found = append(found, r)
	}
	for worker := range s.Workers {
		group.Go(func() error {
			e := step.Expand(worker, &Output{NewWriter(s.Store, step.Words), keep})
			return chunks.take(ctx, e)
		})
	}
	err = group.Wait()
	return found, err
}

// chunks are parts of a layer on their way to the workers.
type chunks struct {
	*Search
	step *Step
	out  chan []uint32
	free chan []uint32 // memory of chunks that are done
}

// send cuts the layer into chunks.
func (c *chunks) send(ctx context.Context) error {
	cursor, err := c.Store.Open(c.step.From)
	if err != nil {
		return err
	}
	for done := 0; cursor.Row != nil; {
		words, err := c.next(cursor)
		if err != nil {
			return err
		}
		done += len(words) / c.step.From.Stride
		select {
		case c.out <- words:
		case <-ctx.Done():
			return ctx.Err()
		}
		if c.step.At != nil {
			c.Tell(c.step.At(done))
		}
	}
	return nil
}

// next returns the next chunk. There is a record.
func (c *chunks) next(cursor *Cursor) (words []uint32, err error) {
	select {
	case words = <-c.free:
	default:
		words = make([]uint32, 0, c.step.Chunk*len(cursor.Row))
	}
	for words = words[:0]; cursor.Row != nil && len(words) < c.step.Chunk*c.step.From.Stride; {
		if n := c.step.Group; len(words) > 0 && !slices.Equal(words[:n], cursor.Row[:n]) {
			break
		}
		if c.step.Check != nil {
			if err := c.step.Check(cursor.Row); err != nil {
				return nil, err
			}
		}
		words = append(words, cursor.Row...)
		if err := cursor.Next(); err != nil {
			return nil, err
		}
	}
	return words, nil
}

// take has a worker take chunks until there are no more.
func (c *chunks) take(ctx context.Context, e Expander) error {
	for words := range c.out {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := e.Expand(ctx, words); err != nil {
			return err
		}
		select {
		case c.free <- words:
		default:
		}
	}
	return e.Flush(ctx)
}

// mergeCheck is how many records are merged before the context is looked at again.
const mergeCheck = 4096

// merge makes one run of several, which it drops.
func (s *Search) merge(ctx context.Context, step *Step, list []*Run, last bool) (*Run, error) {
	m, err := s.Store.openAll(list)
	if err != nil {
		return nil, err
	}
	w := NewWriter(s.Store, step.Words)
	p, err := step.pruner(w, last)
	if err != nil {
		return nil, err
	}
	row := make([]uint32, step.Words)
	for n := 0; m.Len() > 0; n++ {
		if n%mergeCheck == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := step.combined(m, row); err != nil {
			return nil, err
		}
		if p == nil {
			err = w.Add(row)
		} else {
			err = p.Take(ctx, row)
		}
		if err != nil {
			return nil, err
		}
	}
	if p != nil {
		if err := p.End(ctx); err != nil {
			return nil, err
		}
	}
	for _, r := range list {
		s.Store.Drop(r)
	}
	return w.Finish()
}

func (step *Step) pruner(w *Writer, last bool) (Pruner, error) {
	if step.Prune == nil {
		return nil, nil
	}
	return step.Prune(w, last)
}

// combined takes all records with the least key off a merge, and makes row of them.
func (step *Step) combined(m *merge, row []uint32) error {
	copy(row, m.Row())
	for {
		if err := m.Next(); err != nil {
			return err
		}
		if m.Len() == 0 || !slices.Equal(row[:step.Key], m.Row()[:step.Key]) {
			return nil
		}
		if step.Combine != nil {
			step.Combine(row, m.Row())
		}
	}
}
