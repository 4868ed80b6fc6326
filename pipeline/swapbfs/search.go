package swapbfs

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"grenier/kernels/perm"
	"grenier/layers/swap"
)

// flags says about the blocks of one parity what a search always has in memory:
// busy[b] is 1 if block b has newest states, full[b] if all its states are seen.
type flags struct{ busy, full []uint8 }

// search is a search under way.
type search struct {
	layout  *layout
	tables  *tables
	options Options
	store   store
	sides   [2]flags // by parity
	depths  []uint64 // states at each depth that is done
	nothing []uint64 // a block without states
	workers []*worker

	total   uint64
	guessed float64 // number of depths
	seen    atomic.Uint64
}

// newSearch returns a search without store that has seen nothing.
func newSearch(l *layout, g *swap.Grid, o Options) *search {
	s := &search{layout: l, tables: newTables(l), options: o, total: perm.Factorial(g.Cells())}
	s.guessed = guessDiameter(g) + 1 // the last one finds nothing
	s.nothing = make([]uint64, s.tables.words)
	for p := range s.sides {
		s.sides[p] = flags{busy: make([]uint8, l.blocks()), full: make([]uint8, l.blocks())}
	}
	for range o.Workers {
		s.workers = append(s.workers, newWorker(s))
	}
	return s
}

// run searches all depths that are left.
func (s *search) run(ctx context.Context) error {
	if len(s.depths) == 0 {
		if err := s.begin(); err != nil {
			return err
		}
	}
	for _, n := range s.depths {
		s.seen.Add(n)
	}
	for {
		found, err := s.depth(ctx, len(s.depths))
		if err != nil || found == 0 {
			return err
		}
		s.depths = append(s.depths, found)
		if err := s.store.commit(s.depths, &s.sides); err != nil {
			return err
		}
	}
}

// begin makes the goal the only state of depth 0: it is bit 0 of word 0 of block
// 0.
func (s *search) begin() error {
	var first states
	if err := s.store.load(0, 0, &first); err != nil {
		return err
	}
	first.newest[0], first.seen[0], s.sides[0].busy[0] = 1, 1, 1
	s.depths = []uint64{1}
	return s.store.save(0, 0, &first, true, false)
}

// depth finds the states of a depth from those of the one before and returns
// their number.
func (s *search) depth(ctx context.Context, depth int) (found uint64, err error) {
	for _, w := range s.workers {
		w.side = depth & 1
		w.from, w.to = &s.sides[1-w.side], &s.sides[w.side]
		w.found = 0
	}
	tiles := s.store.tiles()
	size := int(s.layout.blocks()) / tiles
	for tile := range tiles {
		if err := s.pullTile(ctx, depth, tile*size, size); err != nil {
			return 0, err
		}
	}
	for _, w := range s.workers {
		found += w.found
	}
	return found, nil
}

// pullTile pulls size blocks from first on.
func (s *search) pullTile(ctx context.Context, depth, first, size int) error {
	from := 1 - depth&1
	s.store.enter(from, first)
	err := s.parallel(ctx, first, size, func(w *worker, b int) error {
		return s.store.fill(b, w.from.busy[b] != 0, &w.fetched[0])
	})
	if err != nil {
		return err
	}
	return s.parallel(ctx, first, size, func(w *worker, b int) error {
		before := w.found
		err := w.pull(b)
		s.report(depth, float64(b)/float64(s.layout.blocks()), s.seen.Add(w.found-before))
		return err
	})
}

// parallel has the workers do something for size blocks from first on.
func (s *search) parallel(ctx context.Context, first, size int, do func(w *worker, block int) error) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for _, w := range s.workers {
		group.Go(func() error {
			for {
				b := int(next.Add(1)) - 1
				if b >= size {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := do(w, first+b); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// report tells how far the search is, given the share of a depth that is done.
func (s *search) report(depth int, share float64, seen uint64) {
	if s.options.Progress == nil {
		return
	}
	share = min(1, (float64(depth-1)+share)/s.guessed)
	s.options.Progress(Progress{Depth: depth, Seen: seen, Total: s.total, Share: share})
}
