package halfboard

import (
	"context"
	"errors"
	"fmt"

	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
	"grenier/pipeline/solve/internal/halfboard/stream"
)

// Steps is a layer in windows that processes share, by a plan (Options.Plan): each does a part of what Engine.Solve does, in the
// same streams, and leaves the result in the work directory.
type Steps struct {
	engine *engine
	layer  *Layer
}

// Bases returns the bases of the windows of the layer of n seeds, if all have codes of the given bits.
func Bases(n, bits int) []int {
	o := Options{Bits: bits}
	return stream.Bases(n, o.codes())
}

// Steps lays out the layer of n seeds, in windows of Options.Bits, without memory for scores. The caller closes it. It fails
// like Solve.
func (e *Engine) Steps(ctx context.Context, n int, below stream.Below) (*Steps, error) {
	w, err := e.begin(ctx, n, below)
	if err != nil {
		return nil, err
	}
	s := &Steps{w, &Layer{engine: w, spare: &e.spare}}
	if w.windows == nil {
		return nil, errors.Join(fmt.Errorf("%w: a layer in one piece has no steps", ErrOptions), s.Close())
	}
	return s, nil
}

// Segments returns the number of segments of capture values.
func (s *Steps) Segments() int { return s.engine.windows.Segments() }

// Due returns those of the segments from begin on, before end, that have no capture values: it reads the others to their end.
func (s *Steps) Due(ctx context.Context, begin, end int) ([]int, error) {
	return s.engine.windows.DueAlone(ctx, begin, end)
}

// Capture computes the capture values of segments, from the layers below, which are available through lower; it closes that.
func (s *Steps) Capture(ctx context.Context, due []int, lower board.Lower) error {
	s.engine.Enter(fixpoint.CaptureStage)
	return s.engine.windows.CaptureDue(ctx, lower, due)
}

// LacksCaptures returns the segments without capture values.
func (s *Steps) LacksCaptures() (segments []int) { return s.engine.windows.LacksCaptures() }

// IsFound reports whether the window with a base is found: it reads it to its end.
func (s *Steps) IsFound(ctx context.Context, base int) (bool, error) {
	return s.engine.windows.IsFound(ctx, base)
}

// Find finds the window with a base, which is not found, from the capture values, all of which are there. When ctx ends, it
// makes a checkpoint.
func (s *Steps) Find(ctx context.Context, base int) error {
	w := s.engine
	w.Enter(fixpoint.DenseStage)
	return w.leaving(ctx, func() error { return w.windows.FindAlone(ctx, base) })
}

// Layer returns the layer, to be read, and which windows it lacks, from 0 on: then nobody may read.
func (s *Steps) Layer() (l *Layer, lacks []int) {
	lacks = s.engine.windows.Stack()
	return s.layer, lacks
}

// Piece returns a piece of the encoded layer, by number: of tells what its contents depend on besides the layer.
func (s *Steps) Piece(number int, of string) Piece { return s.engine.streams.Piece(number, of) }

// Close returns the memory of the layer. Errors come from the operating system.
func (s *Steps) Close() error { return s.layer.Close() }
