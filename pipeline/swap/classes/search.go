package classes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"grenier/io/crew"
	"grenier/layers/swap"
	"grenier/pipeline/swap/bfs"
)

// search is a search under way.
type search struct {
	checkpoint
	grid    *swap.Grid
	around  *neighbourhood
	budget  budget
	store   store
	workers []*worker
	report  func(bfs.Progress)
	total   uint64 // states
	seen    atomic.Uint64
	begun   float64 // the share of states that were seen before

	mu      sync.Mutex
	runs    []list // what the newest depth was expanded to so far
	blocks  int    // in runs
	crowded atomic.Bool
}

// run searches all depths that are left.
func (s *search) run(ctx context.Context) error {
	for _, n := range s.states {
		s.seen.Add(n)
	}
	s.begun = float64(s.seen.Load()) / float64(s.total)
	for len(s.newest) > 0 {
		if err := s.depth(ctx); err != nil {
			return err
		}
	}
	if seen := s.seen.Load(); seen != s.total {
		return fmt.Errorf("classes: %d states in all classes, but there are %d", seen, s.total)
	}
	return nil
}

// begin makes the class of the goal, which is the goal alone, the newest depth.
func (s *search) begin() (err error) {
	p := &s.workers[0].packer
	p.start()
	if err := p.add(s.around.rank(uint64(s.grid.Goal()))); err != nil {
		return err
	}
	s.checkpoint = checkpoint{rows: s.grid.Rows(), cols: s.grid.Cols()}
	s.newest, err = p.finish()
	return err
}

// depth expands the newest depth and makes a checkpoint.
func (s *search) depth(ctx context.Context) error {
	next, states, err := s.expand(ctx)
	if err != nil {
		return err
	}
	s.store.drop(s.before)
	s.states, s.classes = append(s.states, states), append(s.classes, s.newest.keys())
	s.before, s.newest = s.newest, next
	return s.store.commit(&s.checkpoint)
}

// expand returns the neighbours of the newest depth less the depth before, and the
// number of states of the newest depth.
func (s *search) expand(ctx context.Context) (next list, states uint64, err error) {
	for _, w := range s.workers {
		w.counted, w.told = 0, 0
		clear(w.recent)
	}
	var taken atomic.Int64
	for int(taken.Load()) < len(s.newest) {
		if len(s.runs) > 0 {
			if err := s.compact(ctx); err != nil {
				return nil, 0, err
			}
		}
		if err := s.parallel(ctx, func(ctx context.Context, w *worker) error { return w.expand(ctx, &taken) }); err != nil {
			return nil, 0, err
		}
	}
	for _, w := range s.workers {
		states += w.counted
	}
	next, err = s.merge(ctx)
	return next, states, err
}

// compact makes one run of all, since there are too many, or they are too large.
func (s *search) compact(ctx context.Context) error {
	run, err := s.merge(ctx)
	if err != nil {
		return err
	}
	// Runs that were dropped on disk leave room only after a checkpoint.
	if err := s.store.commit(&s.checkpoint); err != nil {
		return err
	}
	if need := s.need(2 * len(run)); need > s.budget.lists {
		return &MemoryError{
			Rows: s.rows, Cols: s.cols, Depth: len(s.states) + 1,
			Need: s.budget.fixed + need, Allowed: s.budget.fixed + s.budget.lists, OnDisk: s.budget.onDisk,
		}
	}
	s.add(run)
	return nil
}

// need returns the memory of the depths and of runs of so many blocks, which are
// held twice while they are merged.
func (s *search) need(blocks int) uint64 {
	return uint64(len(s.before)+len(s.newest)+2*blocks) * s.store.cost()
}

// add adds a run.
func (s *search) add(run list) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = append(s.runs, run)
	s.blocks += len(run)
	s.crowded.Store(len(s.runs) >= s.budget.runs || s.need(s.blocks) > s.budget.lists)
}

// merge takes all runs and returns the set of their keys less those of the depth
// before.
func (s *search) merge(ctx context.Context) (list, error) {
	ranges := cut(s.runs, s.budget.keys-2*blockBytes*len(s.runs))
	parts := make([]list, len(ranges))
	var taken atomic.Int64
	err := s.parallel(ctx, func(ctx context.Context, w *worker) error {
		for {
			i := int(taken.Add(1)) - 1
			if i >= len(ranges) {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			var err error
			if parts[i], err = w.merge(ranges[i]); err != nil {
				return err
			}
			w.progress()
		}
	})
	if err != nil {
		return nil, err
	}
	for _, run := range s.runs {
		s.store.drop(run)
	}
	s.runs, s.blocks = s.runs[:0], 0
	s.crowded.Store(false)
	return slices.Concat(parts...), nil
}

// span are the keys from first up to end.
type span struct{ first, end uint64 }

// cut divides all keys into ranges; in each begin blocks of at most so many keys,
// or blocks that begin with the same key.
func cut(runs []list, most int) []span {
	type start struct {
		first uint64
		keys  int
	}
	var starts []start
	for _, run := range runs {
		for i := range run {
			starts = append(starts, start{run[i].first, int(run[i].keys)})
		}
	}
	slices.SortFunc(starts, func(a, b start) int { return cmp.Compare(a.first, b.first) })
	var ranges []span
	first, keys := uint64(0), 0
	for i, b := range starts {
		if keys+b.keys > most && i > 0 && b.first > starts[i-1].first {
			ranges = append(ranges, span{first, b.first})
			first, keys = b.first, 0
		}
		keys += b.keys
	}
	return append(ranges, span{first, ^uint64(0)})
}

// overlap returns the part of a list that may have keys in a range.
func (l list) overlap(r span) list {
	from, found := slices.BinarySearchFunc(l, r.first, func(b block, key uint64) int { return cmp.Compare(b.first, key) })
	if !found && from > 0 {
		from--
	}
	to, _ := slices.BinarySearchFunc(l, r.end, func(b block, key uint64) int { return cmp.Compare(b.first, key) })
	return l[from:max(from, to)]
}

// parallel has all workers do something.
func (s *search) parallel(ctx context.Context, do func(context.Context, *worker) error) error {
	group, ctx := crew.WithContext(ctx)
	for _, w := range s.workers {
		group.Go(func() error { return do(ctx, w) })
	}
	return group.Wait()
}
