package search

import (
	"math"
	"slices"

	"grenier/kernels/perm"
	"grenier/layers/swap"
)

// graphSearch makes the whole state graph, lists of neighbours by rank, and searches
// it breadth first (document 004, question 7).
func graphSearch(s *search) ([]swap.Swap, error) {
	n, swaps := s.grid.Cells(), s.grid.Swaps()
	states := perm.Factorial(n)
	// 4 bytes for each neighbour, and 1 + 4 for the search: a move, a place in the queue.
	bytes := states * uint64(4*len(swaps)+5)
	if err := s.hold(0, 0, bytes); err != nil || bytes > math.MaxInt/2 || states > math.MaxUint32 {
		return nil, errMemory
	}
	neighbours := make([]uint32, states*uint64(len(swaps)))
	for rank := range states {
		if rank%pause == 0 {
			if err := s.clock(); err != nil {
				return nil, err
			}
		}
		state := perm.UnrankPacked(n, rank)
		for i, m := range swaps {
			neighbours[rank*uint64(len(swaps))+uint64(i)] = uint32(s.grid.Apply(state, m).Rank(n))
		}
	}
	from := make([]uint8, states) // the move to a state, plus 1
	start, goal := uint32(s.start.Rank(n)), uint32(s.goal.Rank(n))
	from[start] = noMove
	queue := append(make([]uint32, 0, states), start)
	for head := 0; from[goal] == 0; head++ {
		if err := s.expand(); err != nil {
			return nil, err
		}
		rank := queue[head]
		for i := range swaps {
			s.Generated++
			to := neighbours[int(rank)*len(swaps)+i]
			if from[to] == 0 {
				from[to] = uint8(i + 1)
				queue = append(queue, to)
			}
		}
		if err := s.hold(uint64(len(queue)-head-1), uint64(len(queue)), bytes); err != nil {
			return nil, err
		}
	}
	var moves []swap.Swap
	for at := goal; at != start; {
		i := int(from[at]) - 1
		moves = append(moves, swaps[i])
		at = neighbours[int(at)*len(swaps)+i]
	}
	slices.Reverse(moves)
	return moves, nil
}

// front is one breadth-first search: the states seen, and the last depth.
type front struct {
	*table
	level []swap.State
	next  []swap.State
	depth int
	other *front // of the other end, if there is one
}

func newFront(s *search, from swap.State) (*front, error) {
	f := &front{level: []swap.State{from}}
	f.table = newTable(s, leastBits, f.others)
	return f, f.begin(from)
}

// listBytes returns the memory of the lists.
func (f *front) listBytes() uint64 { return 8*uint64(cap(f.level)) + listBytes(f.next, 8) }

// others returns the memory of the search besides the table of this front.
func (f *front) others() uint64 {
	if f.other == nil {
		return f.listBytes()
	}
	return f.listBytes() + f.other.listBytes() + f.other.bytes()
}

// seen returns how many states the search remembers.
func (f *front) seen() uint64 {
	if f.other == nil {
		return uint64(f.used)
	}
	return uint64(f.used + f.other.used)
}

// advance searches one more depth. visit is called for each new state and ends
// the search by returning true.
func (f *front) advance(visit func(swap.State) bool) (ended bool, err error) {
	s := f.s
	f.next = f.next[:0]
	for i, state := range f.level {
		if err := s.expand(); err != nil {
			return false, err
		}
		for move, m := range s.grid.Swaps() {
			s.Generated++
			to := s.grid.Apply(state, m)
			n, added, err := f.add(to)
			if err != nil {
				return false, err
			}
			if !added {
				continue
			}
			n.g, n.move = uint8(f.depth+1), uint8(move)
			f.next = append(f.next, to)
			if visit(to) {
				return true, nil
			}
		}
		waiting := uint64(len(f.level) - i - 1 + len(f.next))
		if err := s.hold(waiting, f.seen(), f.bytes()+f.others()); err != nil {
			return false, err
		}
	}
	f.level, f.next = f.next, f.level
	f.depth++
	return false, nil
}

// breadthFirst makes the graph as it goes (document 004, question 8).
func breadthFirst(s *search) ([]swap.Swap, error) {
	f, err := newFront(s, s.start)
	if err != nil {
		return nil, err
	}
	for {
		s.raise(f.depth + 1)
		ended, err := f.advance(func(state swap.State) bool { return state == s.goal })
		if err != nil {
			return nil, err
		}
		if ended {
			return f.path(s.goal), nil
		}
	}
}

// bidirectional searches from both ends, always the side with fewer states to expand,
// and ends at the first state that both have seen. Swaps change the parity, so the
// states of one depth of a side meet the other side at one length only, and no state
// of a lower depth has met it before: that length is the least.
func bidirectional(s *search) ([]swap.Swap, error) {
	a, err := newFront(s, s.start)
	if err != nil {
		return nil, err
	}
	b, err := newFront(s, s.goal)
	if err != nil {
		return nil, err
	}
	forward, backward := a, b
	a.other, b.other = b, a
	for {
		s.raise(a.depth + b.depth + 1)
		if len(a.level) > len(b.level) {
			a, b = b, a
		}
		var meeting swap.State
		ended, err := a.advance(func(state swap.State) bool {
			meeting = state
			return b.get(state) != nil
		})
		if err != nil {
			return nil, err
		}
		if ended {
			rest := backward.path(meeting)
			slices.Reverse(rest)
			return append(forward.path(meeting), rest...), nil
		}
	}
}

// pseudoBidirectional searches from the goal only. When it sees a state t for the first
// time and has seen r such that the start is r after t, the ways to both solve the
// start (document 004, and docs/sources.md). It looks once for each t, so it misses r that are seen later:
// the solution need not be a shortest one.
func pseudoBidirectional(s *search) ([]swap.Swap, error) {
	f, err := newFront(s, s.goal)
	if err != nil {
		return nil, err
	}
	n := s.grid.Cells()
	for {
		var first, second swap.State
		ended, err := f.advance(func(t swap.State) bool {
			first, second = t, s.start.Compose(t.Inverse(n), n)
			return f.get(second) != nil
		})
		if err != nil {
			return nil, err
		}
		if ended {
			moves := append(f.path(second), f.path(first)...)
			slices.Reverse(moves)
			return moves, nil
		}
	}
}
