package halfboard

import (
	"context"
	"math/bits"
	"slices"
	"sync/atomic"

	"grenier/io/crew"
)

// sweeps bring the scores of a layer to the fixpoint.
type sweeps struct {
	*account
	grid    *grid
	workers int
	kernels kernels
	ledger  *ledger
	units   [][]*tile // in the order of a sweep, cut into what a worker takes at a time
	benches []*bench
	marking bool         // the sweep marks what it makes out of date block by block
	between func() error // called by workers between units
}

// newSweeps cuts a layer into tiles of about the given size.
func newSweeps(a *account, l *layer, size, workers int, k kernels, costs *ledger) *sweeps {
	s := &sweeps{account: a, grid: &grid{layer: l}, workers: workers, kernels: k, ledger: costs}
	for range workers {
		s.benches = append(s.benches, &bench{})
	}
	s.cut(size)
	return s
}

// unit is the number of tiles that a worker takes at a time. Neighbours in the
// order depend on each other: two workers on them at once need more sweeps.
const unit = 16

// cut cuts the layer into tiles of the given size and fixes the order of sweeps.
func (s *sweeps) cut(size int) {
	s.grid.cutTiles(size)
	s.grid.findParents()
	order := slices.Clone(s.grid.tiles)
	s.grid.sortByWave(order)
	s.units = slices.Collect(slices.Chunk(order, max(1, min(unit, len(order)/(4*s.workers)))))
}

// expire makes everything out of date.
func (s *sweeps) expire() {
	for _, t := range s.grid.tiles {
		t.all.Store(true)
	}
}

// sweepAll sweeps until nothing is out of date, from the given stage on: sparse if what is
// out of date is marked block by block.
func (s *sweeps) sweepAll(ctx context.Context, stage Stage) error {
	columns := s.columns()
	s.marking = stage == SparseStage
	for {
		s.enter(stage)
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
		s.marking = s.ledger.add(s.costs()).worthMarking(done, columns, s.kernels.apart)
	}
}

// columns returns the number of columns of blocks of open rows that can change.
func (s *sweeps) columns() (columns int) {
	for _, m := range s.grid.matrices {
		if m.alive == nil {
			columns += m.columns * m.chunks[openRows]
		}
		for _, alive := range m.alive {
			columns += bits.OnesCount64(alive)
		}
	}
	return columns
}

// settle makes marks as small as they can be, between sweeps.
func (s *sweeps) settle() {
	for _, m := range s.grid.matrices {
		for i := range m.marks {
			m.marks[i].settle()
		}
	}
}

// count adds a sweep to the statistics.
func (s *sweeps) count(stage Stage, done work) {
	s.stats.Sweeps++
	s.stats.Changes += uint64(done.scores)
	if stage == SparseStage {
		s.stats.Events += uint64(done.scores)
	}
}

// sweep brings all tiles up to date once.
func (s *sweeps) sweep(ctx context.Context, stage Stage) (done work, err error) {
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
		return s.between()
	})
	return s.done(), err
}

// done returns what all workers have done in the sweep.
func (s *sweeps) done() (all work) {
	for _, b := range s.benches {
		all = all.plus(b.done)
	}
	return all
}

// costs returns what all workers have learned in the sweep.
func (s *sweeps) costs() (all costs) {
	for _, b := range s.benches {
		all.compute.merge(b.costs.compute)
		all.mark.merge(b.costs.mark)
	}
	return all
}

// blocks returns the number of blocks of open rows.
func (s *sweeps) blocks() (blocks int) {
	for _, m := range s.grid.matrices {
		blocks += len(m.marks)
	}
	return blocks
}

// clear sets all of scores to 0.
func (s *sweeps) clear(ctx context.Context, scores []int8) error {
	const piece = 1 << 20
	return crew.Each(ctx, s.workers, (len(scores)+piece-1)/piece, func(_, i int) error {
		clear(scores[i*piece : min((i+1)*piece, len(scores))])
		return nil
	})
}

// eachPart calls do for the parts of a stage and reports progress.
func eachPart[T any](ctx context.Context, s *sweeps, stage Stage, parts []T, do func(worker int, part T) error) error {
	var done atomic.Int64
	return crew.Each(ctx, s.workers, len(parts), func(worker, i int) error {
		err := do(worker, parts[i])
		s.tell(stage, float64(done.Add(1))/float64(len(parts)))
		return err
	})
}

// fill computes the full rows of a layer in memory.
func (s *sweeps) fill(ctx context.Context) error {
	return eachPart(ctx, s, FullStage, s.grid.panelsInOrder(), func(worker int, p panelOf) error {
		s.fillFull(s.benches[worker], p.matrix, p.panel)
		return nil
	})
}
