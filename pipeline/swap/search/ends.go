package search

import (
	"math"
	"slices"

	"grenier/layers/swap"
)

// weight is the factor of the bound in weightedSearch: a solution is at most weight
// times as long as a shortest one.
const weight = 2

// weightedSearch is A* in the order of g + weight*h (Pohl, "Heuristic search viewed as path
// finding in a graph", 1970). When the goal is next, every way home still has a state that waits,
// with at least the same g + weight*h: so the shortest is no shorter than the solution
// divided by weight. States that cannot be on a way shorter than the best known do not wait.
func weightedSearch(s *search) ([]swap.Swap, error) {
	h := s.h.Estimate
	e, err := newEnd(s, s.start, h, func(g int, state swap.State) int { return g + weight*h(state) })
	if err != nil {
		return nil, err
	}
	for {
		top, ok := e.next()
		if !ok {
			s.raise(len(s.best)) // all shorter ways were excluded
			return s.best, nil
		}
		if top.state == s.goal {
			s.raise((int(top.g) + weight - 1) / weight)
			return e.path(s.goal), nil
		}
		if err := e.expand(top, func(swap.State, int) int { return len(s.best) }); err != nil {
			return nil, err
		}
	}
}

// bidirectionalAstar is A* from both ends, in the order of g + h for each, until the least
// of one end is no less than the best way through a state that both have reached: then A* from
// that end alone proves it. The end with fewer states waiting goes on. The bound from the
// other end is the bound of start^-1 s, as two states s and t are as far apart as t^-1 s is from home.
func bidirectionalAstar(s *search) ([]swap.Swap, error) {
	return fromBothEnds(s,
		func(h, _ func(swap.State) int) (key func(g int, state swap.State) int) {
			return func(g int, state swap.State) int { return g + h(state) }
		},
		func(ends *[2]*end) int {
			if ends[0].open <= ends[1].open {
				return 0
			}
			return 1
		},
		func(a, b int) int { return max(a, b) })
}

// dibbs is A* from both ends in the order of 2g + h - h', where h' is the bound of the other
// end, until half the sum of the two least is no less than the best way known (Sewell and
// Jacobson, "Dynamically improved bounds bidirectional search", Artificial Intelligence 291,
// 2021). The end with the smaller least goes on. The bound must be consistent.
func dibbs(s *search) ([]swap.Swap, error) {
	return fromBothEnds(s,
		func(h, other func(swap.State) int) (key func(g int, state swap.State) int) {
			return func(g int, state swap.State) int { return 2*g + h(state) - other(state) }
		},
		func(ends *[2]*end) int {
			if ends[0].least <= ends[1].least {
				return 0
			}
			return 1
		},
		func(a, b int) int { return (a + b + 1) / 2 })
}

// end is a search from one end.
type end struct {
	*table
	queue buckets
	h     func(swap.State) int              // the bound of a state
	key   func(g int, state swap.State) int // the order
	open  uint64
	least int // no state that waits has a smaller key
	other *end
}

// newEnd returns a search that begins with a state. It fails with errMemory.
func newEnd(s *search, from swap.State, h func(swap.State) int, key func(g int, state swap.State) int) (*end, error) {
	e := &end{h: h, key: key}
	e.table = newTable(s, leastBits, e.size)
	e.push(from, 0)
	return e, e.begin(from)
}

func (e *end) push(state swap.State, g int) {
	e.queue.push(entry{state, uint8(min(e.key(g, state), math.MaxUint8)), uint8(g)})
	e.open++
}

// next returns the entry to expand, which stays in the queue no longer.
func (e *end) next() (entry, bool) {
	for {
		top, ok := e.queue.pop()
		if !ok {
			return entry{}, false
		}
		e.open--
		if n := e.get(top.state); !n.done && n.g == top.g {
			e.least = int(top.f)
			return top, true
		}
	}
}

// peek is next, but the entry stays.
func (e *end) peek() bool {
	top, ok := e.next()
	if ok {
		e.queue.push(top)
		e.open++
	}
	return ok
}

// size returns the memory of the search besides the table.
func (e *end) size() uint64 {
	bytes := e.queue.bytes()
	if e.other != nil {
		bytes += e.other.queue.bytes() + e.other.table.bytes()
	}
	return bytes
}

// expand expands an entry. reached is called for each state that is reached by a way shorter
// than those before, and returns how long the best way known is: states through which none
// is shorter do not wait.
func (e *end) expand(top entry, reached func(state swap.State, g int) (best int)) error {
	s := e.s
	if err := s.expand(); err != nil {
		return err
	}
	e.get(top.state).done = true
	g := int(top.g) + 1
	for i, move := range s.grid.Swaps() {
		s.Generated++
		to := s.grid.Apply(top.state, move)
		n, added, err := e.add(to)
		if err != nil {
			return err
		}
		if !added && int(n.g) <= g {
			continue
		}
		*n = node{g: uint8(g), move: uint8(i)}
		if best := reached(to, g); g+e.h(to) < best {
			e.push(to, g)
		}
	}
	open, closed := e.open, uint64(e.used)
	if e.other != nil {
		open, closed = open+e.other.open, closed+uint64(e.other.used)
	}
	return s.hold(open, closed, e.bytes()+e.size())
}

// fromBothEnds searches from both ends. keys returns the order of an end with the bound h, whose
// other end has the bound other; choose returns the end that goes on; bound returns a lower
// bound on all solutions that are not known, from the least keys of both ends.
func fromBothEnds(s *search, keys func(h, other func(swap.State) int) func(g int, state swap.State) int,
	choose func(ends *[2]*end) int, bound func(a, b int) int,
) ([]swap.Swap, error) {
	cells := s.grid.Cells()
	toStart := s.start.Inverse(cells)
	home := s.h.Estimate
	back := func(state swap.State) int { return s.h.Estimate(toStart.Compose(state, cells)) }
	var ends [2]*end
	var err error
	if ends[0], err = newEnd(s, s.start, home, keys(home, back)); err != nil {
		return nil, err
	}
	if ends[1], err = newEnd(s, s.goal, back, keys(back, home)); err != nil {
		return nil, err
	}
	ends[0].other, ends[1].other = ends[1], ends[0]
	best, meeting, met := len(s.best), swap.State(0), false
	for ends[0].peek() && ends[1].peek() {
		lower := bound(ends[0].least, ends[1].least)
		if lower >= best {
			break
		}
		s.raise(lower)
		e := ends[choose(&ends)]
		top, _ := e.next()
		err := e.expand(top, func(state swap.State, g int) int {
			if n := e.other.get(state); n != nil && g+int(n.g) < best {
				best, meeting, met = g+int(n.g), state, true
			}
			return best
		})
		if err != nil {
			return nil, err
		}
	}
	if !met {
		return s.best, nil // the solution of the beginning: no other is shorter
	}
	moves, rest := ends[0].path(meeting), ends[1].path(meeting)
	slices.Reverse(rest)
	return append(moves, rest...), nil
}
