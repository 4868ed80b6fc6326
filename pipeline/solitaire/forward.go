package solitaire

import (
	"context"
	"fmt"
	"time"

	"grenier/kernels/radix"
	"grenier/layers/solitaire"
	"grenier/pipeline/internal/runs"
	"grenier/pipeline/job"
)

// chunk is how many records a worker takes at a time.
const chunk = 4096

// mostChildren is more than a position has jumps.
const mostChildren = 4 * solitaire.MaxHoles

// forward goes on until no layer follows.
func (s *search) forward(ctx context.Context) error {
	r := s.runs(s.jumped, s.forwardReached)
	if len(s.layers) == 0 {
		row := make([]uint32, keyWords)
		putPosition(row, s.group.Canonical(s.Start))
		first, err := s.store.One(row)
		if err != nil {
			return err
		}
		return r.Start(ctx, first)
	}
	if s.done {
		return nil
	}
	last := len(s.layers) - 1
	return r.Run(ctx, s.layers[last])
}

// runs returns the search in one direction.
func (s *search) runs(step func(*runs.Run) (*runs.Step, error), reached func(*runs.Run) bool) *runs.Search {
	return &runs.Search{
		Job: s.Job, Store: s.store, Abreast: s.abreast(),
		Step: step, Reached: reached, Checkpoint: s.checkpoint,
	}
}

// forwardReached takes over a layer.
func (s *search) forwardReached(next *runs.Run) (more bool) {
	if n := len(s.layers); n > 0 {
		last := s.layers[n-1]
		if s.done = next.N == 0; s.done {
			s.buffers = nil
			return false
		}
		if !s.keep {
			s.store.Drop(last)
		}
	}
	s.layers = append(s.layers, next)
	return true
}

// jumped is the step from a layer to the next one.
func (s *search) jumped(from *runs.Run) (*runs.Step, error) {
	pegs := s.pegs(len(s.layers) - 1)
	s.allocate(from)
	s.begun = time.Now()
	return &runs.Step{
		From: from, Check: s.keyCheck(pegs), Chunk: chunk,
		At: func(done int) job.Step {
			return s.at(fmt.Sprintf("%d pegs", pegs), uint64(done), uint64(from.N), -1)
		},
		Expand: s.newExpander,
		Words:  keyWords, Key: keyWords,
	}, nil
}

// expander is a worker.
type expander struct {
	*search
	found, scratch []uint64
	out            *runs.Output
}

func (s *search) newExpander(worker int, out *runs.Output) runs.Expander {
	b := &s.buffers[worker]
	return &expander{search: s, found: b.found[:0], scratch: b.scratch, out: out}
}

// buffer is the memory of a worker.
type buffer struct{ found, scratch []uint64 }

// allocate makes the buffers large enough for the positions that a layer leads to, as far as there
// is memory.
func (s *search) allocate(from *runs.Run) {
	most := s.mostFound()
	need := min(most, from.N*len(s.Board.Jumps())+mostChildren)
	if s.buffers == nil {
		s.buffers = make([]buffer, s.Workers)
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

// Expand makes all jumps of positions.
func (e *expander) Expand(ctx context.Context, words []uint32) error {
	for ; len(words) > 0; words = words[keyWords:] {
		if len(e.found)+mostChildren > len(e.scratch) {
			if err := e.Flush(ctx); err != nil {
				return err
			}
		}
		e.found = e.group.Children(e.found, position(words))
	}
	return nil
}

// Flush makes a run of the positions found.
func (e *expander) Flush(context.Context) error {
	row := make([]uint32, keyWords)
	for _, p := range radix.Sort(e.found, e.scratch[:len(e.found)], e.Board.Holes()) {
		putPosition(row, p)
		if err := e.out.Add(row); err != nil {
			return err
		}
	}
	e.found = e.found[:0]
	return e.out.End()
}
