package chemin

import (
	"context"
	"math/bits"

	"grenier/layers/chemin"
)

// mostGrids is the most leaves of which the grids are compared.
const mostGrids = 1 << 20

// classes visits one order of each class of symmetric ones. Next to be filled is one cell of
// each orbit under the symmetries that keep every filled cell; a symmetry that keeps all cells
// filled so far is one that keeps the order so far, and the next orders that it carries into
// each other are symmetric.
func (s *solver) classes(ctx context.Context) error {
	c := &classSearch{solver: s, ctx: ctx}
	orders, leaves := uint64(0), uint64(0)
	if s.board.Cells() <= chemin.MaxCounted {
		orders, leaves = s.board.Orders()
	}
	if orders > 0 && leaves <= mostGrids {
		c.grids = map[grid]bool{}
	}
	var all []*chemin.Symmetry
	for i := range s.board.Symmetries() {
		all = append(all, &s.board.Symmetries()[i])
	}
	err := c.visit(&chemin.State{}, all, 0)
	s.result.Leaves = c.leaves
	if err != nil {
		return err
	}
	s.upper = uint64(s.best.score.Load())
	optimal := c.optimal * uint64(len(all))
	s.result.Orders = &Counts{Optimal: &optimal, OptimalUpToSymmetry: &c.optimal}
	s.result.Cut = c.optimal > uint64(len(s.optimal))
	s.countOptimal()
	if c.grids != nil {
		s.setGrids(c.grids)
	}
	return nil
}

// classSearch is a depth-first search in one goroutine.
type classSearch struct {
	*solver
	ctx     context.Context
	order   [chemin.MaxCells]int
	grid    grid
	grids   map[grid]bool // of all leaves, if not nil
	leaves  uint64
	optimal uint64
}

// visit goes on from a state; top is the largest number so far.
func (c *classSearch) visit(s *chemin.State, fixing []*chemin.Symmetry, top uint32) error {
	k := bits.OnesCount32(s.Filled)
	if k == c.board.Cells() {
		return c.leaf(top)
	}
	for rest := c.board.Full() &^ s.Filled; rest != 0; {
		cell := bits.TrailingZeros32(rest)
		var still []*chemin.Symmetry
		for _, by := range fixing {
			rest &^= 1 << by[cell]
			if int(by[cell]) == cell {
				still = append(still, by)
			}
		}
		next, value := c.board.Fill(s, cell)
		c.order[k], c.grid[cell] = cell, value
		if err := c.visit(&next, still, max(top, value)); err != nil {
			return err
		}
	}
	return nil
}

// checkEvery is the number of leaves between two looks at the clock.
const checkEvery = 1 << 14

func (c *classSearch) leaf(score uint32) error {
	c.leaves++
	if c.leaves%checkEvery == 0 {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		c.report("classes", 0, 1)
	}
	if c.grids != nil {
		c.grids[c.grid] = true
	}
	order := c.order[:c.board.Cells()]
	switch best := c.best.score.Load(); {
	case score > best:
		c.best.offer(c.board, order)
		c.solver.optimal, c.optimal = nil, 0
	case score < best:
		return nil
	}
	c.optimal++
	if len(c.solver.optimal) < MaxSolutions {
		c.solver.optimal = append(c.solver.optimal, append([]int(nil), order...))
	}
	return nil
}
