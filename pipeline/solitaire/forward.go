package solitaire

import (
	"context"

	"grenier/kernels/radix"
	"grenier/layers/solitaire"
	"grenier/pipeline/internal/runs"
)

// chunk is how many records a worker takes at a time.
const chunk = 4096

// mostChildren is more than a position has jumps.
const mostChildren = 4 * solitaire.MaxHoles

// forward goes on until no layer follows.
func (s *search) forward(ctx context.Context) error {
	if len(s.layers) == 0 {
		root, err := s.root()
		if err != nil {
			return err
		}
		s.layers = append(s.layers, root)
	}
	for _, l := range s.layers[:len(s.layers)-1] {
		s.seen += uint64(l.N)
	}
	for !s.done {
		last := s.layers[len(s.layers)-1]
		next, err := s.advance(ctx, last, s.pegs(len(s.layers)-1))
		if err != nil {
			return err
		}
		s.seen += uint64(last.N)
		if next.N == 0 {
			s.done = true
		} else {
			if !s.keep {
				s.store.Drop(last)
			}
			s.layers = append(s.layers, next)
		}
		if err := s.commit(ctx); err != nil {
			return err
		}
	}
	s.buffers = nil
	return nil
}

// root returns the layer of the start.
func (s *search) root() (*runs.Run, error) {
	row := make([]uint32, keyWords)
	putPosition(row, s.group.Canonical(s.Start))
	w := runs.NewWriter(s.store, keyWords)
	if err := w.Add(row); err != nil {
		return nil, err
	}
	return w.Finish()
}

// advance returns the layer after one of positions with so many pegs.
func (s *search) advance(ctx context.Context, from *runs.Run, pegs int) (*runs.Run, error) {
	s.allocate(from)
	free := make(chan []uint64, 2*s.Threads+2)
	send := func(ctx context.Context, work chan<- []uint64) error { return s.positions(ctx, from, pegs, work, free) }
	found, err := runs.Collect(ctx, s.Threads, send, func(ctx context.Context, worker int, work <-chan []uint64, keep func(*runs.Run)) error {
		e := s.newExpander(worker, keep)
		for positions := range work {
			if err := e.expand(ctx, positions); err != nil {
				return err
			}
			free <- positions
		}
		return e.flush()
	})
	if err != nil {
		return nil, err
	}
	return s.mergeAll(ctx, found, keyWords, func(row, other []uint32) {}, nil, 0)
}

// positions sends those of a layer, ascending, in lists that it takes from free if there are any.
func (s *search) positions(ctx context.Context, from *runs.Run, pegs int, work chan<- []uint64, free <-chan []uint64) error {
	c, err := s.open(from, pegs)
	if err != nil {
		return err
	}
	for !c.end {
		var list []uint64
		select {
		case list = <-free:
		default:
			list = make([]uint64, 0, chunk)
		}
		for list = list[:0]; !c.end && len(list) < chunk; {
			list = append(list, c.position)
			if err := c.next(); err != nil {
				return err
			}
		}
		select {
		case work <- list:
		case <-ctx.Done():
			return ctx.Err()
		}
		s.report(Progress{Pegs: pegs, Done: uint64(c.number), Total: uint64(from.N), Left: -1})
	}
	return nil
}

// expander is a worker.
type expander struct {
	*search
	found, scratch []uint64
	out            *runs.Writer
	keep           func(*runs.Run)
}

func (s *search) newExpander(worker int, keep func(*runs.Run)) *expander {
	b := &s.buffers[worker]
	return &expander{search: s, found: b.found[:0], scratch: b.scratch, out: runs.NewWriter(s.store, keyWords), keep: keep}
}

// buffer is the memory of a worker.
type buffer struct{ found, scratch []uint64 }

// allocate makes the buffers large enough for what positions of a layer lead to, as far as there is
// memory.
func (s *search) allocate(from *runs.Run) {
	most := s.mostFound()
	need := min(most, from.N*len(s.Board.Jumps())+mostChildren)
	if s.buffers == nil {
		s.buffers = make([]buffer, s.Threads)
	}
	for i := range s.buffers {
		if b := &s.buffers[i]; len(b.scratch) < need {
			n := min(most, max(need, 2*len(b.scratch)))
			*b = buffer{} // it is garbage when the new one is made
			*b = buffer{make([]uint64, n), make([]uint64, n)}
		}
	}
}

// mostFound returns how many positions fit into the buffer of a worker.
func (s *search) mostFound() int {
	return int(max(2*mostChildren, (s.bufferBytes()-runs.WriterBytes)/16))
}

// expand makes all jumps of positions.
func (e *expander) expand(ctx context.Context, positions []uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, p := range positions {
		if len(e.found)+mostChildren > len(e.scratch) {
			if err := e.flush(); err != nil {
				return err
			}
		}
		e.found = e.group.Children(e.found, p)
	}
	return nil
}

// flush makes a run of what was found.
func (e *expander) flush() error {
	if len(e.found) == 0 {
		return nil
	}
	row := make([]uint32, keyWords)
	for _, p := range radix.Sort(e.found, e.scratch[:len(e.found)], e.Board.Holes()) {
		putPosition(row, p)
		if err := e.out.Add(row); err != nil {
			return err
		}
	}
	r, err := e.out.Finish()
	if err != nil {
		return err
	}
	e.keep(r)
	e.found = e.found[:0]
	return nil
}

// mergeAll makes one run of several, which it drops. It combines records of the same position. If
// there is a filter, a layer of positions with so many pegs, only those that are in it are kept in
// the end.
func (s *search) mergeAll(ctx context.Context, list []*runs.Run, stride int, combine func(row, other []uint32), filter *runs.Run, pegs int) (*runs.Run, error) {
	list, err := runs.Reduce(s.store, list, s.abreast(), func(some []*runs.Run) (*runs.Run, error) {
		return s.merge(ctx, some, stride, combine, nil, 0)
	})
	if err != nil {
		return nil, err
	}
	return s.merge(ctx, list, stride, combine, filter, pegs)
}

// merge is mergeAll for as many runs as can be open at once.
func (s *search) merge(ctx context.Context, list []*runs.Run, stride int, combine func(row, other []uint32), filter *runs.Run, pegs int) (*runs.Run, error) {
	m, err := s.store.OpenAll(list)
	if err != nil {
		return nil, err
	}
	var within *cursor
	if filter != nil {
		if within, err = s.open(filter, pegs); err != nil {
			return nil, err
		}
	}
	w := runs.NewWriter(s.store, stride)
	row := make([]uint32, stride)
	for n := 0; m.Len() > 0; n++ {
		if n%chunk == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		copy(row, m.Row())
		for {
			if err := m.Next(); err != nil {
				return nil, err
			}
			if m.Len() == 0 || position(m.Row()) != position(row) {
				break
			}
			combine(row, m.Row())
		}
		if within != nil {
			for !within.end && within.position < position(row) {
				if err := within.next(); err != nil {
					return nil, err
				}
			}
			if within.end || within.position != position(row) {
				continue
			}
		}
		if err := w.Add(row); err != nil {
			return nil, err
		}
	}
	for _, r := range list {
		s.store.Drop(r)
	}
	return w.Finish()
}
