// Package fixpoint brings the scores of a layer to the fixpoint, in sweeps over its tiles. It is the middle room of the
// engine (package halfboard tells the whole story): it knows the matrices of package board, and no files.
//
// Start with Sweeps.SweepAll. A Grid is the layer cut into tiles, and which tiles read which (grid.go); order.go sorts
// them; sweep.go computes a tile and marks what that makes out of date; costs.go decides when marks are worth it.
// An Account (account.go) counts what the layer takes and tells how far it is.
package fixpoint

import (
	"context"
	"math/bits"
	"slices"
	"sync/atomic"

	"grenier/io/crew"
	"grenier/kernels/compress"
	"grenier/pipeline/solve/internal/halfboard/board"
)

// Sweeps bring the scores of a layer to the fixpoint.
type Sweeps struct {
	*Account
	Grid    *Grid
	Workers int
	Kernels Kernels
	ledger  *Ledger
	units   [][]*tile // in the order of a sweep, cut into what a worker takes at a time
	benches []*bench
	marking bool         // the sweep marks what it makes out of date block by block
	Between func() error // called by workers between units
}

// NewSweeps returns sweeps of a layer, which is not cut into tiles yet.
func NewSweeps(a *Account, l *board.Layer, workers int, k Kernels, costs *Ledger) *Sweeps {
	s := &Sweeps{Account: a, Grid: &Grid{Layer: l}, Workers: workers, Kernels: k, ledger: costs}
	for range workers {
		s.benches = append(s.benches, &bench{})
	}
	return s
}

// Scratch returns what the kernels of a worker keep.
func (s *Sweeps) Scratch(worker int) *compress.Scratch { return &s.benches[worker].scratch }

// unit is the number of tiles that a worker takes at a time. Neighbours in the
// order depend on each other: two workers on them at once need more sweeps.
const unit = 16

// Cut cuts the layer, whose moves are listed, into tiles of about the given size and fixes the order of sweeps.
func (s *Sweeps) Cut(size int) {
	s.Grid.cutTiles(size)
	s.Grid.findParents()
	order := slices.Clone(s.Grid.tiles)
	s.Grid.sortByWave(order)
	s.units = slices.Collect(slices.Chunk(order, max(1, min(unit, len(order)/(4*s.Workers)))))
}

// Expire makes everything out of date.
func (s *Sweeps) Expire() {
	for _, t := range s.Grid.tiles {
		t.all.Store(true)
	}
}

// SweepAll sweeps until nothing is out of date, from the given stage on: sparse if what is
// out of date is marked block by block.
func (s *Sweeps) SweepAll(ctx context.Context, stage Stage) error {
	columns := s.columns()
	s.marking = stage == SparseStage
	for {
		s.Enter(stage)
		done, err := s.sweep(ctx, stage)
		if err != nil {
			return err
		}
		if done.computed == 0 {
			return nil
		}
		s.count(stage, done)
		if stage = DenseStage; s.marking {
			stage = SparseStage // only what is marked will be computed
			s.settle()
		}
		s.marking = s.ledger.add(s.costs()).worthMarking(done, columns, s.Kernels.apart)
	}
}

// columns returns the number of columns of blocks of open rows that can change.
func (s *Sweeps) columns() (columns int) {
	for _, m := range s.Grid.Matrices {
		if m.Alive == nil {
			columns += m.Columns * m.Chunks[board.OpenRows]
		}
		for _, alive := range m.Alive {
			columns += bits.OnesCount64(alive)
		}
	}
	return columns
}

// settle makes marks as small as they can be, between sweeps.
func (s *Sweeps) settle() {
	for _, m := range s.Grid.Matrices {
		for i := range m.Marks {
			m.Marks[i].Settle()
		}
	}
}

// count adds a sweep to the statistics.
func (s *Sweeps) count(stage Stage, done work) {
	s.Stats.Sweeps++
	s.Stats.Changes += uint64(done.scores)
	if stage == SparseStage {
		s.Stats.Events += uint64(done.scores)
	}
}

// sweep brings all tiles up to date once.
func (s *Sweeps) sweep(ctx context.Context, stage Stage) (done work, err error) {
	s.changed.Store(0)
	for _, b := range s.benches {
		b.done, b.costs = work{}, costs{}
	}
	err = eachPart(ctx, s, stage, s.units, func(worker int, unit []*tile) error {
		b := s.benches[worker]
		for _, t := range unit {
			before := b.done.scores
			s.sweepTile(b, t)
			s.changed.Add(uint64(b.done.scores - before))
		}
		return s.Between()
	})
	return s.done(), err
}

// done returns what all workers have done in the sweep.
func (s *Sweeps) done() (all work) {
	for _, b := range s.benches {
		all = all.plus(b.done)
	}
	return all
}

// costs returns what all workers have learned in the sweep.
func (s *Sweeps) costs() (all costs) {
	for _, b := range s.benches {
		all.compute.merge(b.costs.compute)
		all.mark.merge(b.costs.mark)
	}
	return all
}

// WorthMarking reports whether the first sweep should compute only what is marked, when at most
// the given number of scores make others out of date.
func (s *Sweeps) WorthMarking(changed int) bool {
	w := work{lines: changed, scores: changed}
	return s.ledger.known().worthMarking(w, s.columns(), s.Kernels.apart)
}

// Clear sets all of scores to 0.
func (s *Sweeps) Clear(ctx context.Context, scores []int8) error {
	const piece = 1 << 20
	return crew.Each(ctx, s.Workers, (len(scores)+piece-1)/piece, func(_, i int) error {
		clear(scores[i*piece : min((i+1)*piece, len(scores))])
		return nil
	})
}

// eachPart calls do for the parts of a stage and reports progress.
func eachPart[T any](ctx context.Context, s *Sweeps, stage Stage, parts []T, do func(worker int, part T) error) error {
	var done atomic.Int64
	return crew.Each(ctx, s.Workers, len(parts), func(worker, i int) error {
		err := do(worker, parts[i])
		s.Tell(stage, float64(done.Add(1))/float64(len(parts)))
		return err
	})
}

// Fill computes the full rows of a layer in memory.
func (s *Sweeps) Fill(ctx context.Context) error {
	return eachPart(ctx, s, FullStage, s.Grid.PanelsInOrder(), func(worker int, p board.PanelOf) error {
		s.fillFull(s.benches[worker], p.Matrix, p.Panel)
		return nil
	})
}
