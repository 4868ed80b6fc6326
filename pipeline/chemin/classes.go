package chemin

import (
	"context"
	"maps"
	"math/bits"
	"sync"

	"grenier/io/crew"
	"grenier/layers/chemin"
)

// mostGrids is the most leaves whose grids are compared.
const mostGrids = 1 << 22

// classes visits one order of each class of symmetric ones, or all orders (Naive). Next to be filled is one cell of
// each orbit under the symmetries that keep every filled cell; a symmetry that keeps all cells
// filled so far is one that keeps the order so far, and the next orders that it carries into
// each other are symmetric.
func (s *solver) classes(ctx context.Context) error {
	c := &classSearch{solver: s, symmetries: s.board.Symmetries(), total: 1, found: harvest{most: s.mostListed()}}
	if s.Method == Naive {
		c.symmetries = c.symmetries[:1] // the identity
	}
	c.found.orientations.most = s.mostInSet()
	for i := range s.board.Cells() {
		c.total *= float64(i + 1)
	}
	c.total /= float64(len(c.symmetries))
	if c.total <= mostGrids {
		c.grids = newGridSet(s.board, s.mostInSet())
	}
	s.countsOrientations()
	err := c.run(ctx)
	s.result.Leaves = c.leaves
	if err != nil {
		return err
	}
	s.upper = uint64(s.best.score.Load())
	h := &c.found
	h.trim()
	s.result.Cut = h.cut
	images := uint64(len(c.symmetries)) // of each order visited
	orders, ending := h.solutions*images, h.ending*images
	setOptimal(&s.result.Orders, &tally{orders, orders / uint64(len(s.board.Symmetries()))})
	s.result.Orders.OptimalEnding = &ending
	setTotal(&s.result.Grids, c.grids.count())
	if !h.orientations.full {
		found := h.orientations.has
		setOptimal(&s.result.Orientations, orbits(s.board, maps.Keys(found), moveOrientation))
		setOptimal(&s.result.Grids, orbits(s.board, func(yield func(grid) bool) {
			for o := range found {
				if !yield(gridOf(s.board, o.Order(s.board))) {
					return
				}
			}
		}, moveGrid))
	}
	for _, q := range h.kept {
		s.optimal = append(s.optimal, q.order(s.board))
	}
	return nil
}

// classSearch is a depth-first search by several goroutines.
type classSearch struct {
	*solver
	symmetries []chemin.Symmetry // of which one order each is visited
	grids      *gridSet          // of all leaves, if not nil
	total      float64           // leaves

	mu     sync.Mutex
	leaves uint64 // visited
	found  harvest
}

// classPath is the order so far and its effects.
type classPath struct {
	order  sequence
	grid   grid
	before chemin.Orientation
}

// classStart is the start of an order.
type classStart struct {
	path   classPath
	state  chemin.State
	fixing []*chemin.Symmetry // that keep every filled cell
	top    uint32             // the largest number
}

// run shares out the first cells.
func (c *classSearch) run(ctx context.Context) error {
	group, ctx := crew.WithContext(ctx)
	group.SetLimit(c.Workers)
	for _, start := range c.starts() {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			v := &classVisitor{classSearch: c, path: start.path, found: harvest{most: c.found.most}}
			v.found.orientations.most = c.mostInSet()
			v.reach = func(_ chemin.State, _ []*chemin.Symmetry, top uint32) error { return v.leaf(ctx, top) }
			err := v.visit(&start.state, start.fixing, start.top, c.board.Cells())
			c.mu.Lock()
			defer c.mu.Unlock()
			c.count(v)
			c.found.take(&v.found)
			return err
		})
	}
	return group.Wait()
}

// starts returns orders of the same length.
func (c *classSearch) starts() []*classStart {
	root := &classStart{}
	for i := range c.symmetries {
		root.fixing = append(root.fixing, &c.symmetries[i])
	}
	starts := []*classStart{root}
	for depth := 1; len(starts) < shares && depth < c.board.Cells(); depth++ {
		starts = nil
		v := &classVisitor{classSearch: c}
		v.reach = func(s chemin.State, fixing []*chemin.Symmetry, top uint32) error {
			starts = append(starts, &classStart{v.path, s, fixing, top})
			return nil
		}
		_ = v.visit(&root.state, root.fixing, 0, depth) // reach does not fail
	}
	return starts
}

// classVisitor visits the orders with a common beginning.
type classVisitor struct {
	*classSearch
	path classPath
	// reach is called with every order of the length wanted.
	reach func(s chemin.State, fixing []*chemin.Symmetry, top uint32) error

	found harvest
	fresh uint64 // leaves not counted yet
}

// visit continues from a state until the given number of cells are filled; top is the largest number so
// far.
func (v *classVisitor) visit(s *chemin.State, fixing []*chemin.Symmetry, top uint32, filled int) error {
	k := bits.OnesCount32(s.Filled)
	if k == filled {
		return v.reach(*s, fixing, top)
	}
	for rest := v.board.Full() &^ s.Filled; rest != 0; {
		cell := bits.TrailingZeros32(rest)
		still := fixing // the identity, if nothing else
		if len(fixing) > 1 {
			still = nil
		}
		for _, by := range fixing {
			rest &^= 1 << by[cell]
			if int(by[cell]) == cell && len(fixing) > 1 {
				still = append(still, by)
			}
		}
		next, value := v.board.Fill(s, cell)
		v.path.order[k], v.path.grid[cell] = uint8(cell), value
		v.path.before[cell] = v.board.Near(cell) & s.Filled
		if err := v.visit(&next, still, max(top, value), filled); err != nil {
			return err
		}
	}
	return nil
}

// checkEvery is the number of leaves between two looks at the clock.
const checkEvery = 1 << 14

// flush adds the counts of v to the counts of all visitors.
func (v *classVisitor) flush() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.count(v)
}

func (v *classVisitor) leaf(ctx context.Context, score uint32) error {
	if v.fresh++; v.fresh == checkEvery {
		if err := ctx.Err(); err != nil {
			return err
		}
		v.flush()
	}
	if v.grids != nil {
		v.grids.add(v.path.grid)
	}
	best := v.best.score.Load()
	if score > best {
		v.best.offer(v.board, v.path.order.order(v.board))
	}
	if score < best || !v.found.wants(score) {
		return nil
	}
	v.found.solutions++
	if last := v.path.order[v.board.Cells()-1]; v.path.grid[last] == score {
		v.found.ending++
	}
	if v.first() {
		v.found.keep(v.path.order)
	}
	v.found.orientations.add(v.path.before)
	return nil
}

// first reports whether the order comes before all that are symmetric to it.
func (v *classVisitor) first() bool {
	order := v.path.order[:v.board.Cells()]
	for i := range v.board.Symmetries() {
		by := &v.board.Symmetries()[i]
		for _, cell := range order {
			if by[cell] < cell {
				return false
			}
			if by[cell] > cell {
				break
			}
		}
	}
	return true
}

// count counts the leaves of a worker; c.mu is held.
func (c *classSearch) count(v *classVisitor) {
	c.leaves += v.fresh
	v.fresh = 0
	c.report(string(c.Method), float64(c.leaves), c.total, true)
}
