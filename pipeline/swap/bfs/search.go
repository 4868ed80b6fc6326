package bfs

import (
	"context"
	"fmt"
	"math"
	"sync"

	"grenier/io/crew"
	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/pipeline/job"
)

// flags says about the blocks of one parity what a search always has in memory:
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

	total float64 // states
	pace  pace
	begun float64    // share of the work that is done
	mu    sync.Mutex // of Progress
}

// newSearch returns a search without store that has seen nothing.
func newSearch(l *layout, g *swap.Grid, o Options) *search {
	s := &search{layout: l, tables: newTables(l), options: o, total: float64(perm.Factorial(g.Cells()))}
	s.pace = paceOf(g)
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
	s.begun = s.pace.share(len(s.depths), 0)
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

// depth finds the states of a depth from those of the one before and returns
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
		defer s.report(depth, float64(blocks.first)/float64(s.layout.blocks()))
		return w.pullAll(blocks)
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

// report reports progress, given the share of a depth that is done. How much of all states that is, is a
// guess: the number of depths is not known before the end, but for lines.
func (s *search) report(depth int, share float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.Tell(job.Step{
		Doing: fmt.Sprintf("depth %d", depth), Begun: s.begun * s.total, Done: s.pace.share(depth, share) * s.total, Total: s.total,
	})
}

// pace says how the time of a search is spread over its depths: like a bell. Few
// blocks are reached in the first depths, few words have states left in the last
// ones. Mean and deviation are shares of the diameter.
type pace struct {
	diameter        float64 // guessed, but for lines
	mean, deviation float64
}

// paceOf returns the pace of a grid. The processor time of each depth was measured
// (docs/swap.md): on 3 x 4 its mean is at 0.53 of the diameter, on 2 x 6 at 0.49,
// on 1 x 12 at 0.44, with deviations of 0.15 to 0.16.
func paceOf(g *swap.Grid) pace {
	p := pace{diameter: max(1, guessDiameter(g)), mean: 0.49, deviation: 0.15}
	if isLine(g) {
		p.mean, p.deviation = 0.445, 0.155
	}
	return p
}

// share returns the share of the time that has passed, 0 to 1, when a part of a
// depth is done.
func (p pace) share(depth int, part float64) float64 {
	x := min(1, (float64(depth-1)+part)/p.diameter)
	return (p.below(x) - p.below(0)) / (p.below(1) - p.below(0))
}

// below returns the share of the bell below x.
func (p pace) below(x float64) float64 {
	return math.Erfc((p.mean-x)/(p.deviation*math.Sqrt2)) / 2
}

func isLine(g *swap.Grid) bool { return min(g.Rows(), g.Cols()) == 1 }

// guessDiameter returns the diameter of a line, and about that of another grid:
// some 5/4 of the largest half Manhattan distance, which is that of the reversal
// (docs/sources.md, document 004).
func guessDiameter(g *swap.Grid) float64 {
	if n := g.Cells(); isLine(g) {
		return float64(n * (n - 1) / 2)
	}
	return 5. / 4 * float64(leastDiameter(g))
}

// leastDiameter returns half of the largest Manhattan distance, rounded up.
func leastDiameter(g *swap.Grid) int {
	m, n := g.Rows(), g.Cols()
	return (n*(m*m/2) + m*(n*n/2) + 1) / 2
}
