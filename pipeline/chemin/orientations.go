package chemin

import (
	"context"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"grenier/io/crew"
	"grenier/layers/chemin"
)

// mostVisited is the most orientations that are all visited, to count their grids.
const mostVisited = 1 << 23

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
	orders, ending, ok, err := s.countExtensions(ctx)
	if ok {
		setOptimal(&s.result.Orders, &tally{orders, orders / uint64(len(s.board.Symmetries()))})
		s.result.Orders.OptimalEnding = &ending
	}
	return err
}

// visitOrientations visits one order of each orientation (package comment) and leaves out orders
// that cannot reach the best score so far. When there are few orientations it visits all of them,
// and counts grids. It returns how many it visited to the end.
func (s *solver) visitOrientations(ctx context.Context, t *bounds) (leaves uint64, err error) {
	o := &orientationSearch{solver: s, bounds: t, found: harvest{most: s.mostListed()}}
	if s.countsOrientations() {
		o.grids = newGridSet(s.board, s.mostInSet())
	}
	if err := o.run(ctx); err != nil {
		return o.leaves.Load(), err
	}
	o.found.trim()
	s.result.Cut = o.found.cut
	setOptimal(&s.result.Orientations, &tally{o.found.solutions, o.found.classes})
	setTotal(&s.result.Grids, o.grids.count())
	for _, q := range o.found.kept {
		s.optimal = append(s.optimal, s.firstImage(q.order(s.board)))
	}
	slices.SortFunc(s.optimal, slices.Compare[[]int])
	if !s.result.Cut {
		setOptimal(&s.result.Grids, orbits(s.board, s.optimalGrids, moveGrid))
	}
	return o.leaves.Load(), nil
}

// countsOrientations counts the orientations if that is possible, and reports whether they are
// few enough to visit them all.
func (s *solver) countsOrientations() bool {
	if s.board.Cells() > chemin.MaxCounted {
		return false
	}
	total, classes := s.board.Orientations()
	setTotal(&s.result.Orientations, &tally{total, classes})
	return total <= mostVisited
}

// firstImage returns the least order of any orientation that is symmetric to the orientation of the
// given one.
func (s *solver) firstImage(order []int) []int {
	o := s.board.Orient(order)
	for i := range s.board.Symmetries() {
		image := o.Move(s.board, &s.board.Symmetries()[i])
		if other := image.Order(s.board); slices.Compare(other, order) < 0 {
			order = other
		}
	}
	return order
}

// optimalGrids yields the grids of the solutions.
func (s *solver) optimalGrids(yield func(grid) bool) {
	for _, order := range s.optimal {
		if !yield(gridOf(s.board, order)) {
			return
		}
	}
}

// countExtensions counts the optimal orders, and the ones whose last cell has the score,
// from the list of optimal solutions. ok is false if that is not complete, or if one of them
// has too many starts of orders to count in the memory given.
func (s *solver) countExtensions(ctx context.Context) (orders, ending uint64, ok bool, err error) {
	if s.result.Cut || s.board.Cells() > chemin.MaxCounted {
		return 0, 0, false, nil
	}
	var allOrders, allEnding atomic.Uint64
	var unknown atomic.Bool
	most := int(min(mostSets, s.room/8/64/int64(s.Workers)))
	err = crew.Each(ctx, s.Workers, len(s.optimal), func(worker, i int) error {
		if unknown.Load() {
			return nil
		}
		if worker == 0 {
			s.report("counting orders", float64(i), float64(len(s.optimal)), true)
		}
		o := s.board.Orient(s.optimal[i])
		all, last, ok := o.Extensions(s.board, s.scored(s.optimal[i]), most)
		if !ok {
			unknown.Store(true)
		}
		_, images := least(s.board, o, moveOrientation)
		allOrders.Add(all * images)
		allEnding.Add(last * images)
		return nil
	})
	return allOrders.Load(), allEnding.Load(), err == nil && !unknown.Load(), err
}

// scored returns the cells that have the score after an order.
func (s *solver) scored(order []int) (cells chemin.Cells) {
	for cell, number := range play(s.board, order) {
		if number == s.best.score.Load() {
			cells |= 1 << cell
		}
	}
	return cells
}

// orientationSearch is a depth-first search by several goroutines.
type orientationSearch struct {
	*solver
	bounds *bounds
	grids  *gridSet // of all orientations, if not nil
	leaves atomic.Uint64

	mu    sync.Mutex
	found harvest
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

// shares is the least number of parts into which a search is divided for workers, if it has as
// many; it does not depend on their number.
const shares = 1024

// run shares out the first cells.
func (o *orientationSearch) run(ctx context.Context) error {
	starts := []*node{{}}
	for len(starts) < shares && len(starts[0].order) < o.board.Cells() {
		var longer []*node
		for _, n := range starts {
			o.extend(n, func(next node) error { longer = append(longer, next.clone()); return nil })
		}
		starts = longer
	}
	group, ctx := crew.WithContext(ctx)
	group.SetLimit(o.Workers)
	done := 0
	for _, n := range starts {
		group.Go(func() error {
			v := &visitor{o, harvest{most: o.found.most}}
			err := v.visit(ctx, n)
			o.mu.Lock()
			defer o.mu.Unlock()
			o.found.take(&v.found)
			done++
			o.report("orientations", float64(done), float64(len(starts)), true)
			return err
		})
	}
	return group.Wait()
}

// clone returns a node that keeps its order.
func (n node) clone() *node {
	n.order = slices.Clone(n.order)
	return &n
}

// extend calls next with every node one cell on that is the start of the least order of some
// orientation. A cell that could have been exchanged with larger ones just before it is
// not: it does not touch them, and would come first (A. V. Anisimov, D. E. Knuth,
// "Inhomogeneous sorting", 1979).
func (o *orientationSearch) extend(n *node, next func(node) error) error {
	for rest := o.board.Full() &^ (n.state.Filled | n.barred); rest != 0; rest &= rest - 1 {
		cell := bits.TrailingZeros32(rest)
		m := *n
		var value uint32
		m.state, value = o.board.Fill(&n.state, cell)
		m.order = append(n.order, cell)
		m.grid[cell], m.top = value, max(n.top, value)
		near := o.board.Near(cell)
		m.barred = (n.barred | (1<<cell - 1)) &^ near
		if err := next(m); err != nil {
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

// visitor is a worker with its findings.
type visitor struct {
	*orientationSearch
	found harvest
}

func (v *visitor) visit(ctx context.Context, n *node) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if v.hopeless(n) {
		return nil
	}
	if n.state.Filled == v.board.Full() {
		v.leaf(n)
		return nil
	}
	return v.extend(n, func(next node) error { return v.visit(ctx, &next) })
}

func (v *visitor) leaf(n *node) {
	v.leaves.Add(1)
	if v.grids != nil {
		v.grids.add(n.grid)
	}
	best := v.best.score.Load()
	if n.top > best {
		v.best.offer(v.board, n.order)
	}
	if n.top < best || !v.found.wants(n.top) {
		return
	}
	v.found.solutions++
	o := v.board.Orient(n.order)
	if first, _ := least(v.board, o, moveOrientation); first == o {
		v.found.classes++
		v.found.keep(sequenceOf(n.order))
	}
}
