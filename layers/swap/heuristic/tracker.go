package heuristic

import (
	"fmt"

	"grenier/kernels/perm"
	"grenier/layers/swap"
)

// Tracker is a bound that follows a state, of a grid of any size, from swap to swap. It
// is not safe for concurrent use.
type Tracker interface {
	// Begin starts from a state.
	Begin(tiles swap.List)
	// Bound returns the bound for the state.
	Bound() int
	// After returns the bound after a swap of the state, number i of Grid.Swaps.
	After(i int) int
	// Do does a swap. The same swap undoes it.
	Do(i int)
}

// Follow returns a tracker of a bound. It fails with ErrTooLarge if the bound is only for
// grids with a State, and g has more cells.
func Follow(g *swap.Grid, h Heuristic) (Tracker, error) {
	switch h := h.(type) {
	case Zero:
		return zeroTracker{}, nil
	case *Manhattan:
		return &manhattanTracker{Manhattan: h, swaps: g.Swaps()}, nil
	case *Inversions:
		return newInversionTracker(g), nil
	case *Walking:
		return followWalking(g, h), nil
	case Lift:
		t, err := Follow(g, h.Heuristic)
		return &liftTracker{Tracker: t}, err
	case Max:
		var list maxTracker
		for _, part := range h {
			t, err := Follow(g, part)
			if err != nil {
				return nil, err
			}
			list = append(list, t)
		}
		return list, nil
	}
	if !g.Packs() {
		return nil, fmt.Errorf("%s: %w: %d x %d (at most %d cells)", h.Name(), ErrTooLarge, g.Rows(), g.Cols(), swap.MaxCells)
	}
	return &stateTracker{grid: g, bound: h}, nil
}

// zeroTracker follows Zero.
type zeroTracker struct{}

func (zeroTracker) Begin(swap.List) {}
func (zeroTracker) Bound() int      { return 0 }
func (zeroTracker) After(int) int   { return 0 }
func (zeroTracker) Do(int)          {}

// stateTracker recomputes any bound for each state.
type stateTracker struct {
	grid  *swap.Grid
	bound Heuristic
	state swap.State
}

func (t *stateTracker) Begin(tiles swap.List) { t.state = tiles.State() }
func (t *stateTracker) Bound() int            { return t.bound.Estimate(t.state) }
func (t *stateTracker) After(i int) int {
	return t.bound.Estimate(t.grid.Apply(t.state, t.grid.Swaps()[i]))
}
func (t *stateTracker) Do(i int) { t.state = t.grid.Apply(t.state, t.grid.Swaps()[i]) }

// manhattanTracker keeps the sum of Manhattan distances: a swap changes two terms.
type manhattanTracker struct {
	*Manhattan
	swaps []swap.Swap
	tiles [swap.MaxListed]uint8
	sum   int
}

func (t *manhattanTracker) Begin(tiles swap.List) {
	copy(t.tiles[:], tiles)
	t.sum = t.SumList(tiles)
}

func (t *manhattanTracker) Bound() int      { return t.sum / 2 }
func (t *manhattanTracker) After(i int) int { return (t.sum + t.change(t.swaps[i])) / 2 }

func (t *manhattanTracker) change(m swap.Swap) int {
	from, to := &t.distance[m.A&63], &t.distance[m.B&63]
	a, b := t.tiles[m.A&63]&63, t.tiles[m.B&63]&63
	return int(to[a]) + int(from[b]) - int(from[a]) - int(to[b])
}

func (t *manhattanTracker) Do(i int) {
	m := t.swaps[i]
	t.sum += t.change(m)
	t.tiles[m.A], t.tiles[m.B] = t.tiles[m.B], t.tiles[m.A]
}

// inversionTracker keeps the inversions of both orders of the cells: a swap changes
// only those with the cells between.
type inversionTracker struct {
	swaps   []swap.Swap
	divisor int
	column  []uint8   // place of a cell, and of a tile, column by column
	rows    swap.List // tiles row by row
	columns swap.List // the same column by column, numbered so too
	sum     int       // of the inversions of both
}

// CountInversions returns a tracker of the inversions that Inversions counts, not
// divided: not a bound, but it orders states with equal bounds.
func CountInversions(g *swap.Grid) Tracker {
	t := newInversionTracker(g)
	t.divisor = 1
	return t
}

func newInversionTracker(g *swap.Grid) *inversionTracker {
	t := &inversionTracker{swaps: g.Swaps(), divisor: 2 * max(g.Rows(), g.Cols()), columns: g.Home()}
	for c := range g.Cells() {
		t.column = append(t.column, uint8(c%g.Cols()*g.Rows()+c/g.Cols()))
	}
	return t
}

func (t *inversionTracker) Begin(tiles swap.List) {
	t.rows = append(t.rows[:0], tiles...)
	for c, tile := range tiles {
		t.columns[t.column[c]] = t.column[tile]
	}
	t.sum = perm.Inversions(t.rows) + perm.Inversions(t.columns)
}

func (t *inversionTracker) Bound() int { return t.bound(t.sum) }

func (t *inversionTracker) bound(sum int) int { return (sum + t.divisor - 1) / t.divisor }

func (t *inversionTracker) After(i int) int { return t.bound(t.sum + t.change(t.swaps[i])) }

func (t *inversionTracker) change(m swap.Swap) int {
	return exchanged(t.rows[m.A:m.B+1]) + exchanged(t.columns[t.column[m.A]:t.column[m.B]+1])
}

func (t *inversionTracker) Do(i int) {
	m := t.swaps[i]
	t.sum += t.change(m)
	t.rows.Swap(m)
	t.columns.Swap(swap.Swap{A: int(t.column[m.A]), B: int(t.column[m.B])})
}

// exchanged returns how many inversions a list gets when its ends are exchanged.
func exchanged(list swap.List) int {
	low, high, sign := list[0], list[len(list)-1], 1
	if low > high {
		low, high, sign = high, low, -1
	}
	count := 1
	for _, x := range list[1 : len(list)-1] {
		if low < x && x < high {
			count += 2
		}
	}
	return sign * count
}

// liftTracker follows Lift: every swap changes the parity.
type liftTracker struct {
	Tracker
	parity int
}

func (t *liftTracker) Begin(tiles swap.List) {
	t.parity = tiles.Parity()
	t.Tracker.Begin(tiles)
}

func (t *liftTracker) Bound() int { return lifted(t.Tracker.Bound(), t.parity) }

func (t *liftTracker) After(i int) int { return lifted(t.Tracker.After(i), 1-t.parity) }

func (t *liftTracker) Do(i int) {
	t.parity = 1 - t.parity
	t.Tracker.Do(i)
}

// lifted returns the least number from h up that has a parity.
func lifted(h, parity int) int { return h + (h^parity)&1 }

// maxTracker follows Max.
type maxTracker []Tracker

func (m maxTracker) Begin(tiles swap.List) {
	for _, t := range m {
		t.Begin(tiles)
	}
}

func (m maxTracker) Bound() int {
	most := 0
	for _, t := range m {
		most = max(most, t.Bound())
	}
	return most
}

func (m maxTracker) After(i int) int {
	most := 0
	for _, t := range m {
		most = max(most, t.After(i))
	}
	return most
}

func (m maxTracker) Do(i int) {
	for _, t := range m {
		t.Do(i)
	}
}
