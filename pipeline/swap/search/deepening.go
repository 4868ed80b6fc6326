package search

import (
	"math"
	"slices"

	"grenier/layers/swap"
)

// deepening is IDA*: depth-first searches for solutions of length up to a bound,
// which grows from the heuristic of the start to the least length that the one before
// has come across, or to the length of a solution that is known.
//
// Swaps of disjoint cells commute, so a way of many swaps has a great many orders. Sleep
// sets (Godefroid) keep one: after the ways that begin with a swap have been
// searched, the swap sleeps in the ways that begin with others, until one comes that
// does not commute with it. A way that is left out has the same length as one with
// the same end that was searched before.
func deepening(s *search) ([]swap.Swap, error) {
	d := &deepener{search: s, tiles: slices.Clone(s.list), commuting: commuting(s.grid.Swaps()), jumps: !s.h.Consistent()}
	for s.lower < len(s.best) {
		d.limit, d.beyond = s.lower, math.MaxInt
		found, err := d.visit(swapSet{})
		if err != nil || found {
			return slices.Clone(d.moves), err
		}
		s.raise(d.beyond)
	}
	return s.best, nil
}

// swapSet is a set of swaps, by their number in Grid.Swaps.
type swapSet [2]uint64

func (s swapSet) has(i int) bool { return s[i>>6&1]>>(i&63)&1 != 0 }

func (s *swapSet) add(i int) { s[i>>6&1] |= 1 << (i & 63) }

// and returns the swaps that are in both sets.
func (s swapSet) and(o swapSet) swapSet { return swapSet{s[0] & o[0], s[1] & o[1]} }

// commuting returns for each swap the set of those that share no cell with it.
func commuting(swaps []swap.Swap) []swapSet {
	sets := make([]swapSet, len(swaps))
	for i, a := range swaps {
		for j, b := range swaps {
			if a.A != b.A && a.A != b.B && a.B != b.A && a.B != b.B {
				sets[i].add(j)
			}
		}
	}
	return sets
}

// deepener is one depth-first search.
type deepener struct {
	*search
	commuting []swapSet
	tiles     swap.List // after moves, which s.tracker has done too
	moves     []swap.Swap
	limit     int
	jumps     bool       // the bound is not consistent
	memory    [][]uint16 // for lengths, by depth
	beyond    int        // least length above limit of a way that was given up
}

// visit searches the ways that continue moves, but none that begins with a swap of the
// set asleep. It reports whether moves now is a solution.
func (d *deepener) visit(asleep swapSet) (found bool, err error) {
	if d.tiles.Solved() {
		return true, nil
	}
	if err := d.expand(); err != nil {
		return false, err
	}
	if err := d.hold(uint64(len(d.moves)+1), 0, 0); err != nil {
		return false, err
	}
	var lengths []uint16
	if d.jumps {
		var most int
		if lengths, most = d.lengths(asleep); most-2 > d.limit {
			d.beyond = min(d.beyond, most-2)
			return false, nil
		}
	}
	for i, m := range d.grid.Swaps() {
		if asleep.has(i) {
			continue
		}
		d.Generated++
		f := 0
		if d.jumps {
			f = int(lengths[i])
		} else {
			f = d.length(i)
		}
		if f > d.limit {
			d.beyond = min(d.beyond, f)
		} else {
			d.do(i, m)
			d.moves = append(d.moves, m)
			if found, err = d.visit(asleep.and(d.commuting[i])); found || err != nil {
				return found, err
			}
			d.moves = d.moves[:len(d.moves)-1]
			d.do(i, m) // undone
		}
		asleep.add(i)
	}
	return false, nil
}

// length returns the least length of the ways that continue moves by swap i, as far as the bound knows.
func (d *deepener) length(i int) int { return len(d.moves) + 1 + d.tracker.After(i) }

// lengths returns what the ways that continue moves by one swap that is awake have at least, and the most of these.
// A neighbour is at most 1 farther than the state before, so if the bound is not consistent all ways through that state may be known to
// have that most, less 2 (BPMX, Felner and others: "Dual Lookups in Pattern Databases", IJCAI 2005).
func (d *deepener) lengths(asleep swapSet) (all []uint16, most int) {
	swaps := d.grid.Swaps()
	for len(d.memory) <= len(d.moves) {
		d.memory = append(d.memory, make([]uint16, len(swaps)))
	}
	all = d.memory[len(d.moves)]
	for i := range swaps {
		if !asleep.has(i) {
			f := d.length(i)
			all[i], most = uint16(f), max(most, f)
		}
	}
	return all, most
}

func (d *deepener) do(i int, m swap.Swap) {
	d.tiles.Swap(m)
	d.tracker.Do(i)
}
