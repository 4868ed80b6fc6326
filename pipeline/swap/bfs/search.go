package bfs

import (
	"context"
	"fmt"
	"sync"

	"grenier/io/crew"
	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/pipeline/job"
)

// flags has the facts about the blocks of one parity that a search always keeps in memory:
// busy[b] is 1 if block b has newest states, full[b] if all its states are seen.
type flags struct{ busy, full []uint8 }

// search is a search under way.
type search struct {
	layout  *layout
	tables  *tables
	options Options
	store   *store
	sides   [2]flags // by parity
	depths  []uint64 // states at each depth that is done
	nothing []uint64 // a block without states
	workers []*worker

	total float64    // states
	mu    sync.Mutex // of Progress
	seen  uint64     // states
	begun uint64     // of them, before this run
}

// newSearch returns a search without store that has seen nothing.
func newSearch(l *layout, g *swap.Grid, o Options) *search {
	s := &search{layout: l, tables: newTables(l), options: o, total: float64(perm.Factorial(g.Cells()))}
	s.nothing = make([]uint64, s.tables.words)
	for p := range s.sides {
		s.sides[p] = flags{busy: make([]uint8, l.blocks()), full: make([]uint8, l.blocks())}
	}
	for range o.goroutines() {
		s.workers = append(s.workers, newWorker(s))
	}
	return s
}

// run searches all depths that are left.
func (s *search) run(ctx context.Context) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	for _, n := range s.depths {
		s.seen += n
	}
	s.begun = s.seen
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

// begin resumes a search that was interrupted. For a new one, it makes the goal
// the only state of depth 0: it is bit 0 of word 0 of block 0.
func (s *search) begin(ctx context.Context) error {
	if len(s.depths) > 0 {
		err := s.parallel(ctx, span{0, int(s.layout.blocks())}, func(w *worker, blocks span) error {
			return s.store.recall(blocks, &s.sides, &w.desk)
		})
		if err != nil {
			return err
		}
		return s.store.recalled(s.depths)
	}
	d := &s.workers[0].desk
	if err := s.store.open(0, span{0, 1}, func(func(int) bool) {}, d); err != nil {
		return err
	}
	if err := s.store.load(0, 0, d); err != nil {
		return err
	}
	d.states.newest[0], d.states.seen[0], s.sides[0].busy[0] = 1, 1, 1
	s.depths = []uint64{1}
	s.store.save(0, 0, d, true, false)
	return s.store.shut(0, d)
}

// depth finds the states of a depth from the depth before and returns
// their number.
func (s *search) depth(ctx context.Context, depth int) (found uint64, err error) {
	s.prepare(depth)
	for first := 0; first < int(s.layout.blocks()); first += s.store.size {
		if err := s.pullTile(ctx, depth, span{first, first + s.store.size}); err != nil {
			return 0, err
		}
	}
	for _, w := range s.workers {
		found += w.found
	}
	return found, nil
}

// prepare sets the workers up for a depth.
func (s *search) prepare(depth int) {
	for _, w := range s.workers {
		w.side = depth & 1
		w.from, w.to = &s.sides[1-w.side], &s.sides[w.side]
		w.found = 0
	}
}

// pullTile pulls the blocks of a tile.
func (s *search) pullTile(ctx context.Context, depth int, tile span) error {
	s.store.enter(1-depth&1, tile.first)
	err := s.parallel(ctx, tile, func(w *worker, blocks span) error {
		return s.store.fill(blocks, w.from.busy, &w.desk)
	})
	if err != nil {
		return err
	}
	return s.parallel(ctx, tile, func(w *worker, blocks span) error {
		before := w.found
		err := w.pullAll(blocks)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen += w.found - before
		s.options.Tell(job.Step{Doing: fmt.Sprintf("depth %d", depth), Begun: float64(s.begun), Done: float64(s.seen), Total: s.total})
		return err
	})
}

// parallel has the workers do something for all blocks, a chunk at a time.
func (s *search) parallel(ctx context.Context, all span, do func(w *worker, blocks span) error) error {
	chunk := s.layout.chunk()
	chunks := (all.end - all.first + chunk - 1) / chunk
	return crew.Each(ctx, len(s.workers), chunks, func(worker, i int) error {
		first := all.first + i*chunk
		return do(s.workers[worker], span{first, min(first+chunk, all.end)})
	})
}
