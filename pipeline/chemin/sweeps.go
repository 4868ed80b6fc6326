package chemin

import (
	"context"
	"encoding/json"
	"errors"

	"grenier/layers/chemin"
	"grenier/pipeline/internal/runs"
)

// sweepLayers finds the maximum by a sweep that drops states which others exceed, and then
// counts the optimal orders by one that keeps every state which reaches the maximum. With the
// maximum known, the other method finds the optimal orientations.
func (s *solver) sweepLayers(ctx context.Context) (err error) {
	s.store = &runs.Store{}
	s.store.Most, _ = s.sweepBytes(s.boundBytes())
	var saved *checkpoint
	if s.Dir != "" {
		if saved, err = s.openDir(); err != nil {
			return err
		}
		defer func() {
			if err == nil {
				err = s.store.Dir.Clear()
			}
			err = errors.Join(err, s.store.Dir.Close())
		}()
	}
	if saved != nil {
		if err := verify(s.store, s.board, saved, s.growth); err != nil {
			return err
		}
		s.best.offer(s.board, saved.Order)
	}
	t, err := s.prepare(ctx)
	if err != nil {
		return err
	}
	if saved == nil || !saved.Counting {
		if err := s.findMaximum(ctx, t, saved); err != nil {
			return err
		}
		saved = nil
	} else {
		s.result.StatesPerLayer = saved.States
	}
	s.upper = uint64(s.best.score.Load())
	s.result.Cut = true // until all are listed
	if s.board.Cells() <= chemin.MaxCounted {
		if err := s.countOrders(ctx, t, saved); err != nil {
			return err
		}
	}
	if _, err = s.visitOrientations(ctx, t); err != nil {
		return err
	}
	_, ending, ok, err := s.countExtensions(ctx)
	if ok {
		s.result.Orders.OptimalEnding = &ending
	}
	return err
}

func (s *solver) newSweep(t *bounds) *sweep {
	w := &sweep{board: s.board, bounds: t, best: s.best, workers: s.Workers, store: s.store}
	s.store.Most, w.room = s.sweepBytes(t.bytes)
	return w
}

// findMaximum ends with the best order in s.best.
func (s *solver) findMaximum(ctx context.Context, t *bounds, saved *checkpoint) error {
	w := s.newSweep(t)
	err := s.through(ctx, w, saved, "layers")
	if w.layer == nil || !errors.Is(err, runs.ErrMemory) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	upper, failed := w.frontier()
	if failed == nil {
		s.upper = max(uint64(s.best.score.Load()), min(s.upper, upper))
	}
	return errors.Join(failed, err)
}

// countOrders counts the optimal orders.
func (s *solver) countOrders(ctx context.Context, t *bounds, saved *checkpoint) error {
	w := s.newSweep(t)
	w.counting, w.target = true, s.best.score.Load()
	if err := s.through(ctx, w, saved, "counting"); err != nil {
		return err
	}
	optimal := w.optimal.Load()
	classes := optimal / uint64(len(s.board.Symmetries()))
	s.result.Orders = &Counts{Optimal: &optimal, OptimalUpToSymmetry: &classes}
	return nil
}

// through takes a sweep from the saved layer, or from the start, to the end.
func (s *solver) through(ctx context.Context, w *sweep, saved *checkpoint, doing string) error {
	var states []uint64
	tell := func() {
		if !w.counting {
			s.result.StatesPerLayer = states
		}
		if !w.ended() {
			s.report(doing, float64(w.layer.filled), float64(s.board.Cells()), false)
		}
	}
	if saved != nil {
		w.layer, states = saved.layer(), saved.States
		w.optimal.Store(saved.Optimal)
		tell()
	}
	return w.run(ctx, func() {
		if w.layer.filled < s.board.Cells() {
			states = append(states, uint64(w.layer.N))
		}
		tell()
	}, func() ([]byte, error) { return s.checkpoint(w) })
}

// checkpoint returns the checkpoint of the last complete layer, nil if the sweep has ended.
func (s *solver) checkpoint(w *sweep) ([]byte, error) {
	if w.ended() {
		return nil, nil
	}
	return json.Marshal(&checkpoint{
		Rows: s.board.Rows(), Cols: s.board.Cols(), Counting: w.counting, Filled: w.layer.filled, Blocks: w.layer.Blocks,
		Order: s.best.found(), States: s.result.StatesPerLayer, Optimal: w.optimal.Load(),
	})
}

// prepare finds a good order by a search that keeps few states, and then works out bounds.
func (s *solver) prepare(ctx context.Context) (*bounds, error) {
	if err := s.firstOrder(ctx); err != nil {
		return nil, err
	}
	most := limits{s.boundBytes(), mostPerSize, s.Workers}
	t, err := newBounds(ctx, s.board, s.growth, most, func(size int) { s.report("bounds", float64(size), float64(s.board.Cells()), false) })
	look := t.outlook(s.board.Full())
	s.upper = min(s.upper, look.upper(new([chemin.MaxCells]uint32), noBound))
	return t, err
}

// firstOrder searches with few states in each layer and without bounds.
func (s *solver) firstOrder(ctx context.Context) error {
	w := &sweep{board: s.board, bounds: &bounds{board: s.board}, best: s.best, workers: s.Workers, store: &runs.Store{}}
	w.store.Most, w.room = s.sweepBytes(0)
	cells := s.board.Cells()
	w.width = min(beamWidth, int(w.room/2/int64(cells)/layout{cells, orderWords}.rowBytes()))
	err := w.run(ctx, func() { s.report("a first order", float64(w.layer.filled), float64(cells), false) }, nil)
	if errors.Is(err, runs.ErrMemory) {
		return nil // whatever was found is good enough
	}
	return err
}

const (
	mostPerSize = 1 << 20 // vectors of the bounds
	beamWidth   = 2000
)
