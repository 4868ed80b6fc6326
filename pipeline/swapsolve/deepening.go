package swapsolve

import (
	"math"
	"slices"

	"grenier/layers/swap"
)

// deepening is IDA*: depth-first searches for solutions of length up to a bound,
// which grows from the heuristic of the start to the least length that the one before
// has come across.
//
// Swaps of disjoint cells commute, so a way of many swaps has a great many orders. Sleep
// sets (Godefroid) keep one: after the ways that begin with a swap have been
// searched, the swap sleeps in the ways that begin with others, until one comes that
// does not commute with it. A way that is left out has the same length as one with
// the same end that was searched before.
func deepening(s *search) ([]swap.Swap, error) {
	d := &deepener{search: s, commuting: commuting(s.grid.Swaps())}
	for {
		d.limit, d.beyond = s.lower, math.MaxInt
		found, err := d.visit(s.start, 0)
		if err != nil || found {
			return slices.Clone(d.moves), err
		}
		s.raise(d.beyond)
	}
}

// commuting returns for each swap the set of those that share no cell with it.
func commuting(swaps []swap.Swap) []uint64 {
	sets := make([]uint64, len(swaps))
	for i, a := range swaps {
		for j, b := range swaps {
			if a.A != b.A && a.A != b.B && a.B != b.A && a.B != b.B {
				sets[i] |= 1 << j
			}
		}
	}
	return sets
}

// deepener is one depth-first search.
type deepener struct {
	*search
	commuting []uint64
	moves     []swap.Swap
	limit     int
	beyond    int // least length above limit of a way that was given up
}

// visit searches the ways that continue moves, but none that begins with a swap of the
// set asleep. It reports whether moves now is a solution.
func (d *deepener) visit(state swap.State, asleep uint64) (found bool, err error) {
	if state == d.goal {
		return true, nil
	}
	if err := d.expand(); err != nil {
		return false, err
	}
	if err := d.hold(uint64(len(d.moves)+1), 0, 0); err != nil {
		return false, err
	}
	for i, m := range d.grid.Swaps() {
		if asleep>>i&1 != 0 {
			continue
		}
		d.Generated++
		to := d.grid.Apply(state, m)
		if f := len(d.moves) + 1 + d.h.Estimate(to); f > d.limit {
			d.beyond = min(d.beyond, f)
		} else {
			d.moves = append(d.moves, m)
			if found, err = d.visit(to, asleep&d.commuting[i]); found || err != nil {
				return found, err
			}
			d.moves = d.moves[:len(d.moves)-1]
		}
		asleep |= 1 << i
	}
	return false, nil
}
