package chemin

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"grenier/layers/chemin"
)

// Names of the two sweeps in files.
const (
	maxName   = "max"
	countName = "count"
)

// sweepLayers finds the maximum by a sweep that drops states which others exceed, and then
// counts the optimal orders by one that keeps every state which reaches the maximum. With the
// maximum known, the optimal orientations are found by the way of the other method.
func (s *solver) sweepLayers(ctx context.Context) error {
	saved, err := s.resume()
	if err != nil {
		return err
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
	if _, err := s.visitOrientations(ctx, t); err != nil {
		return err
	}
	s.dropSymmetric()
	return s.clearDir()
}

// resume takes up the search in the directory, if there is one.
func (s *solver) resume() (*checkpoint, error) {
	if s.Dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(s.Dir, 0o777); err != nil {
		return nil, err
	}
	saved, err := loadCheckpoint(s.Dir, s.board)
	if err != nil {
		return nil, err
	}
	keep := ""
	if saved != nil {
		keep = saved.File
		s.best.offer(s.board, saved.Order)
	}
	return saved, clearRuns(s.Dir, keep)
}

// clearDir removes what a finished search leaves.
func (s *solver) clearDir() error {
	if s.Dir == "" {
		return nil
	}
	return errors.Join(clearRuns(s.Dir, ""), os.Remove(filepath.Join(s.Dir, checkpointName)))
}

func (s *solver) newSweep(t *bounds, name string) *sweep {
	return &sweep{
		board: s.board, bounds: t, best: s.best, threads: s.Threads, memory: s.Memory, dir: s.Dir, name: name, abreast: mostAbreast,
	}
}

// findMaximum ends with the best order in s.best.
func (s *solver) findMaximum(ctx context.Context, t *bounds, saved *checkpoint) error {
	w := s.newSweep(t, maxName)
	layer, err := s.through(ctx, w, saved, "layers")
	if err == nil || !errors.Is(err, errMemory) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	upper, failed := w.frontier(layer)
	s.upper = max(uint64(s.best.score.Load()), min(s.upper, upper))
	return errors.Join(failed, err)
}

// countOrders counts the optimal orders.
func (s *solver) countOrders(ctx context.Context, t *bounds, saved *checkpoint) error {
	w := s.newSweep(t, countName)
	w.counting, w.target = true, s.best.score.Load()
	if saved == nil {
		if err := s.checkpoint(w, w.root()); err != nil {
			return err
		}
	}
	if _, err := s.through(ctx, w, saved, "counting"); err != nil {
		return err
	}
	optimal := w.optimal.Load()
	classes := optimal / uint64(len(s.board.Symmetries()))
	s.result.Orders = &Counts{Optimal: &optimal, OptimalUpToSymmetry: &classes}
	return nil
}

// through takes a sweep from the saved layer, or from the start, to the end. When it fails it
// returns the last complete layer.
func (s *solver) through(ctx context.Context, w *sweep, saved *checkpoint, doing string) (*run, error) {
	layer := w.root()
	states := []uint64{1}
	if saved != nil {
		w.runs, states = saved.Runs, saved.States
		w.optimal.Store(saved.Optimal)
		if saved.File != "" {
			layer = &run{layout: w.layout(saved.Filled), path: filepath.Join(s.Dir, saved.File), n: saved.Records}
		}
	}
	if !w.counting {
		s.result.StatesPerLayer = states
	}
	for layer.filled < s.board.Cells() {
		s.report(doing, layer.filled, s.board.Cells())
		optimal := w.optimal.Load()
		next, err := w.advance(ctx, layer)
		if err != nil {
			w.optimal.Store(optimal)
			return layer, err
		}
		if next.filled < s.board.Cells() {
			states = append(states, uint64(next.n))
		}
		if !w.counting {
			s.result.StatesPerLayer = states
		}
		if next.filled == s.board.Cells() || next.n == 0 {
			return next, nil // and the layer before is still there to go on from
		}
		if err := s.checkpoint(w, next); err != nil {
			return layer, err
		}
		if err := layer.remove(); err != nil {
			return next, err
		}
		layer = next
	}
	return layer, nil
}

// checkpoint makes the layer the one to go on from.
func (s *solver) checkpoint(w *sweep, layer *run) error {
	if s.Dir == "" {
		return nil
	}
	s.best.mu.Lock()
	order := s.best.order
	s.best.mu.Unlock()
	c := &checkpoint{
		Rows: s.board.Rows(), Cols: s.board.Cols(), Counting: w.counting, Filled: layer.filled,
		Records: layer.n, Runs: w.runs, Order: order, States: s.result.StatesPerLayer, Optimal: w.optimal.Load(),
	}
	if layer.path != "" {
		c.File = filepath.Base(layer.path)
	}
	return c.save(s.Dir)
}
