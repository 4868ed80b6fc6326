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
	*stream.Windows
	engine *engine
	layer  *Layer
}

// Bases returns the bases of the windows of the layer of n seeds, if all have codes of the given bits.
func Bases(n, bits int) []int {
	o := Options{Bits: bits}
	return stream.Bases(n, o.codes())
}

// Made counts what there is of a layer of n seeds that is solved in steps with the given bits and number of segments, by the names of its streams:
// the segments of capture values, and the windows.
func Made(names map[string]bool, n, bits, segments int) (captures, windows int) {
	return stream.Made(names, Bases(n, bits), segments)
}

// Steps lays out the layer of n seeds, in windows of Options.Bits, without memory for scores. The caller closes it. It fails
// like Solve.
func (e *Engine) Steps(n int, below stream.Below) (*Steps, error) {
	w, err := e.begin(n, below)
	if err != nil {
		return nil, err
	}
	s := &Steps{w.windows, w, &Layer{engine: w}}
	if w.windows == nil {
		return nil, errors.Join(fmt.Errorf("%w: a layer in one piece has no steps", ErrOptions), s.Close())
	}
	return s, nil
}

// Compute computes the capture values of segments, from the layers below, which are available through lower; it closes that.
func (s *Steps) Compute(ctx context.Context, due []int, lower board.Lower) error {
	if err := s.engine.listMoves(ctx); err != nil {
		return errors.Join(err, lower.Close())
	}
	s.engine.Enter(fixpoint.CaptureStage)
	return s.CaptureDue(ctx, lower, due)
}

// Find finds the window with a base, which is not found, from the capture values, all of which are there. When ctx ends, it
// makes a checkpoint.
func (s *Steps) Find(ctx context.Context, base int) error {
	if err := s.engine.prepare(ctx); err != nil {
		return err
	}
	s.engine.Enter(fixpoint.DenseStage)
	return s.engine.leaving(ctx, func() error { return s.FindAlone(ctx, base) })
}

// Layer returns the layer, to be read, and which windows it lacks, from 0 on: then nobody may read.
func (s *Steps) Layer() (l *Layer, lacks []int) { return s.layer, s.Stack() }

// Close returns the memory of the layer. Errors come from the operating system.
func (s *Steps) Close() error { return s.layer.Close() }
