package bfs

import (
	"fmt"
	"math/bits"

	"grenier/layers/swap"
)

// Sizes of the parts of a list.
const (
	// tail is the number of cells whose order is a bit of a word: half of 5!
	// is 60.
	tail = 5
	// middle is the largest number of cells whose order is the place of a word
	// in its block: 9*8*7*6 words for grids of 9 cells and more, 24 KiB, so
	// that a block stays in the first-level cache.
	middle = 4
)

// edge is a swap of the cells at two places of the list, from < to.
type edge struct{ from, to int }

// layout is the order in which the cells of a grid are listed: first the upper
// cells, then the lower ones, at last the tail. No edge joins an upper cell and
// one of the tail.
type layout struct {
	cells        int // at least tail
	upper, lower int
	// Edges by the parts that they join. Places count from the beginning of
	// their part.
	uu, ul, ll, ls, ss []edge
}

// newLayout returns the layout of a grid that searches fastest. A grid of fewer
// than five cells gets cells that no edge joins: their tiles never move, which
// leaves the depths as they are. It fails if every five cells have more than four
// neighbours, as in no grid of 16 cells or fewer.
func newLayout(g *swap.Grid) (*layout, error) {
	n := max(g.Cells(), tail)
	lower := min(middle, n-tail)
	best, bestCost := parts{}, -1
	eachSubset(n, tail, func(s uint) {
		eachSubset(n, lower, func(l uint) {
			if l&s != 0 {
				return
			}
			p := parts{lower: l, tail: s}
			if cost, ok := p.cost(g.Swaps()); ok && (bestCost < 0 || cost < bestCost) {
				best, bestCost = p, cost
			}
		})
	})
	if bestCost < 0 {
		return nil, fmt.Errorf("bfs: %d x %d cells cannot be divided", g.Rows(), g.Cols())
	}
	return best.layout(n, g.Swaps()), nil
}

// eachSubset calls visit with the sets of k of n cells, as masks.
func eachSubset(n, k int, visit func(set uint)) {
	if k == 0 {
		visit(0)
		return
	}
	// The next larger number with as many bits (HAKMEM, item 175).
	for set := uint(1)<<k - 1; set < 1<<n; {
		visit(set)
		low := set & -set
		carried := set + low
		set = carried | (set^carried)/low>>2
	}
}

// parts are the cells of two parts of a list, as masks; the others are upper.
type parts struct{ lower, tail uint }

// Instructions that a word takes for each edge of a kind and for each cell of
// the tail with a neighbour outside, about.
const (
	costUU, costUL, costLL, costLS = 3, 8, 4, 35
	costRegroup                    = 64
)

// cost estimates the time of a search. ok is false if an edge joins an upper
// cell and one of the tail.
func (p parts) cost(swaps []swap.Swap) (cost int, ok bool) {
	regrouped := uint(0)
	for _, m := range swaps {
		both := uint(1)<<m.A | uint(1)<<m.B
		inLower, inTail := both&p.lower != 0, both&p.tail != 0
		switch {
		case both&^p.tail == 0:
		case inLower && inTail:
			cost += costLS
			regrouped |= both & p.tail
		case inTail:
			return 0, false
		case both&^p.lower == 0:
			cost += costLL
		case inLower:
			cost += costUL
		default:
			cost += costUU
		}
	}
	return cost + costRegroup*bits.OnesCount(regrouped), true
}

// layout lists n cells by parts.
func (p parts) layout(n int, swaps []swap.Swap) *layout {
	l := &layout{cells: n, lower: bits.OnesCount(p.lower), upper: n - tail - bits.OnesCount(p.lower)}
	place := make([]int, n)
	next := 0
	upper := uint(1)<<n - 1 - p.lower - p.tail
	first := p.first(upper, swaps)
	// Next to it come its neighbours: then the blocks that their edges lead to
	// from successive blocks are successive too.
	near := upper & neighbours(first, swaps) &^ first
	for _, part := range []uint{first, near, upper &^ first &^ near, p.lower, p.tail} {
		for ; part != 0; part &= part - 1 {
			place[bits.TrailingZeros(part)] = next
			next++
		}
	}
	for _, m := range swaps {
		l.add(edge{min(place[m.A], place[m.B]), max(place[m.A], place[m.B])})
	}
	return l
}

// neighbours returns the cells at the ends of all edges of a set of cells.
func neighbours(cells uint, swaps []swap.Swap) (set uint) {
	for _, m := range swaps {
		if both := uint(1)<<m.A | uint(1)<<m.B; both&cells != 0 {
			set |= both
		}
	}
	return set
}

// first returns the upper cell that is best for the first place, as a mask: that
// by which a search on disk is divided. An edge to a lower cell makes it read each
// block nine times, one to an upper cell once.
func (p parts) first(upper uint, swaps []swap.Swap) (best uint) {
	bestReads := 0
	for left := upper; left != 0; left &= left - 1 {
		cell, reads := left&-left, 0
		for _, m := range swaps {
			both := uint(1)<<m.A | uint(1)<<m.B
			switch {
			case both&cell == 0:
			case both&p.lower != 0:
				reads += middle + tail
			default:
				reads++
			}
		}
		if best == 0 || reads < bestReads {
			best, bestReads = cell, reads
		}
	}
	return best
}

// add sorts in an edge, whose places count from the beginning of the list.
func (l *layout) add(e edge) {
	lower, end := l.upper, l.upper+l.lower
	switch {
	case e.to < lower:
		l.uu = append(l.uu, e)
	case e.from >= end:
		l.ss = append(l.ss, edge{e.from - end, e.to - end})
	case e.to >= end:
		l.ls = append(l.ls, edge{e.from - lower, e.to - end})
	case e.from >= lower:
		l.ll = append(l.ll, edge{e.from - lower, e.to - lower})
	default:
		l.ul = append(l.ul, edge{e.from, e.to - lower})
	}
}

// rest returns the number of tiles that are not in the upper cells.
func (l *layout) rest() int { return l.lower + tail }
