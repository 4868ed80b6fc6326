package chemin

import (
	"context"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"grenier/layers/chemin"
)

// mostVisited is the most orientations that are all visited, to count their grids.
const mostVisited = 1 << 20

// mostSets is the most sets of cells at a time in counting the orders of an orientation.
const mostSets = 1 << 16

// orientations is the method of that name.
func (s *solver) orientations(ctx context.Context) error {
	t, err := s.prepare(ctx)
	if err != nil {
		return err
	}
	if s.result.Leaves, err = s.visitOrientations(ctx, t); err != nil {
		return err
	}
	s.upper = uint64(s.best.score.Load())
	s.countExtensions()
	s.dropSymmetric()
	return nil
}

// visitOrientations visits one order of each orientation (package comment) and leaves out what
// cannot reach the best score so far. When there are few orientations it visits all of them,
// and counts grids. It returns how many it visited to the end.
func (s *solver) visitOrientations(ctx context.Context, t *bounds) (leaves uint64, err error) {
	o := &orientationSearch{solver: s, bounds: t}
	if s.board.Cells() <= chemin.MaxCounted {
		total, classes := s.board.Orientations()
		s.result.Orientations = &Counts{Total: &total, UpToSymmetry: &classes}
		if total <= mostVisited {
			o.grids = map[grid]bool{}
		}
	}
	if err := o.run(ctx); err != nil {
		return o.leaves.Load(), err
	}
	s.result.Cut = o.cut
	slices.SortFunc(s.optimal, slices.Compare[[]int]) // whoever found them first
	s.countOptimal()
	if o.grids != nil {
		s.setGrids(o.grids)
	}
	return o.leaves.Load(), nil
}

// setGrids counts the grids of all orders; countOptimal has been called.
func (s *solver) setGrids(grids map[grid]bool) {
	total, classes := s.gridOrbits(grids)
	if s.result.Grids == nil {
		s.result.Grids = &Counts{}
	}
	s.result.Grids.Total, s.result.Grids.UpToSymmetry = &total, &classes
}

// countExtensions counts the optimal orders.
func (s *solver) countExtensions() {
	if s.result.Cut || s.board.Cells() > chemin.MaxCounted {
		return
	}
	orders := uint64(0)
	for _, order := range s.optimal {
		o := s.board.Orient(order)
		n, ok := o.Extensions(s.board, mostSets)
		if !ok {
			return
		}
		orders += n
	}
	classes := orders / uint64(len(s.board.Symmetries()))
	s.result.Orders = &Counts{Optimal: &orders, OptimalUpToSymmetry: &classes}
}

// dropSymmetric keeps the first solution of each class.
func (s *solver) dropSymmetric() {
	seen := map[chemin.Orientation]bool{}
	s.optimal = slices.DeleteFunc(s.optimal, func(order []int) bool {
		o := s.board.Orient(order)
		known := seen[o]
		for i := range s.board.Symmetries() {
			seen[o.Move(s.board, &s.board.Symmetries()[i])] = true
		}
		return known
	})
}

// orientationSearch is a depth-first search by several goroutines.
type orientationSearch struct {
	*solver
	bounds *bounds
	grids  map[grid]bool // of all orientations, if not nil
	leaves atomic.Uint64

	mu  sync.Mutex
	top uint32 // the score of the solutions kept
	cut bool
}

// node is the start of an order.
type node struct {
	state chemin.State
	order []int
	grid  grid
	top   uint32
	// barred cells would come earlier in the least order of the same orientation.
	barred chemin.Cells
}

// run shares out the first cells.
func (o *orientationSearch) run(ctx context.Context) error {
	starts := []*node{{}}
	for len(starts) < 64 && len(starts[0].order) < o.board.Cells() {
		var longer []*node
		for _, n := range starts {
			o.extend(n, func(next *node) error { longer = append(longer, next.clone()); return nil })
		}
		starts = longer
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.Threads)
	var mu sync.Mutex
	done := 0
	for _, n := range starts {
		group.Go(func() error {
			err := o.visit(ctx, n)
			mu.Lock()
			defer mu.Unlock()
			done++
			o.report("orientations", done, len(starts))
			return err
		})
	}
	return group.Wait()
}

func (n *node) clone() *node {
	c := *n
	c.order = slices.Clone(n.order)
	return &c
}

// extend calls next with every node one cell on that is the start of the least order of some
// orientation. A cell that could have been exchanged with larger ones just before it is
// not: it does not touch them, and would come first (A. V. Anisimov, D. E. Knuth,
// "Inhomogeneous sorting", 1979).
func (o *orientationSearch) extend(n *node, next func(*node) error) error {
	for rest := o.board.Full() &^ (n.state.Filled | n.barred); rest != 0; rest &= rest - 1 {
		cell := bits.TrailingZeros32(rest)
		m := *n
		var value uint32
		m.state, value = o.board.Fill(&n.state, cell)
		m.order = append(n.order, cell)
		m.grid[cell], m.top = value, max(n.top, value)
		near := o.board.Near(cell)
		m.barred = (n.barred | (1<<cell - 1)) &^ near
		if err := next(&m); err != nil {
			return err
		}
	}
	return nil
}

// hopeless reports whether no order that begins so reaches the best score.
func (o *orientationSearch) hopeless(n *node) bool {
	best := o.best.score.Load()
	if o.grids != nil || n.top >= best {
		return false
	}
	look := o.bounds.outlook(o.board.Full() &^ n.state.Filled)
	return look.upper(&n.state.Values, uint64(best)-1) < uint64(best)
}

func (o *orientationSearch) visit(ctx context.Context, n *node) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.hopeless(n) {
		return nil
	}
	if n.state.Filled == o.board.Full() {
		o.leaf(n)
		return nil
	}
	return o.extend(n, func(next *node) error { return o.visit(ctx, next) })
}

func (o *orientationSearch) leaf(n *node) {
	o.leaves.Add(1)
	if n.top > o.best.score.Load() {
		o.best.offer(o.board, n.order)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.grids != nil {
		o.grids[n.grid] = true
	}
	switch {
	case n.top < o.best.score.Load() || n.top < o.top:
		return
	case n.top > o.top:
		o.top, o.optimal, o.cut = n.top, nil, false
	}
	if len(o.optimal) == MaxSolutions {
		o.cut = true
		return
	}
	o.optimal = append(o.optimal, slices.Clone(n.order))
}
