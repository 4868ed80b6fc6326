package search

import (
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
)

// entry is a state that waits to be expanded.
type entry struct {
	state swap.State
	f, g  uint8 // length of the way through the state, at least; of the way there
}

// before says which of two is expanded first: the smaller f, then the larger g.
func (e entry) before(o entry) bool { return e.f < o.f || e.f == o.f && e.g > o.g }

// queue holds the states that wait. A state whose g has become smaller is in it
// twice; the old entry is skipped when its turn comes.
type queue interface {
	push(entry)
	// pop returns the entry to expand first.
	pop() (e entry, ok bool)
	bytes() uint64
}

// listBytes returns the memory of a list of elements of each bytes, which may grow
// soon: then the old one and the new one are there at a time.
func listBytes[E any](list []E, each uint64) uint64 {
	const soon = 256 // more than the neighbours of a state
	bytes := each * uint64(cap(list))
	if cap(list)-len(list) < soon {
		bytes += bytes*3/2 + each*soon
	}
	return bytes
}

// heap is a queue as a binary heap.
type heap struct{ list []entry }

func (h *heap) bytes() uint64 { return listBytes(h.list, 16) }

func (h *heap) push(e entry) {
	h.list = append(h.list, e)
	i := len(h.list) - 1
	for i > 0 && e.before(h.list[(i-1)/2]) {
		h.list[i] = h.list[(i-1)/2]
		i = (i - 1) / 2
	}
	h.list[i] = e
}

func (h *heap) pop() (entry, bool) {
	if len(h.list) == 0 {
		return entry{}, false
	}
	top, last := h.list[0], h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	if len(h.list) > 0 {
		h.sink(last)
	}
	return top, true
}

// sink puts e in place of the top.
func (h *heap) sink(e entry) {
	i := 0
	for {
		child := 2*i + 1
		if child+1 < len(h.list) && h.list[child+1].before(h.list[child]) {
			child++
		}
		if child >= len(h.list) || !h.list[child].before(e) {
			break
		}
		h.list[i] = h.list[child]
		i = child
	}
	h.list[i] = e
}

// buckets is a queue with a stack for each f and g.
type buckets struct {
	stacks  [256][]([]swap.State) // by f, then g
	least   int                   // no smaller f waits
	size    uint64                // bytes of the stacks
	largest uint64                // bytes of the largest of them
}

// bytes counts the largest stack once more and a half, for when it grows.
func (b *buckets) bytes() uint64 { return b.size + b.largest*3/2 }

func (b *buckets) push(e entry) {
	for len(b.stacks[e.f]) <= int(e.g) {
		b.stacks[e.f] = append(b.stacks[e.f], nil)
	}
	stack := &b.stacks[e.f][e.g]
	before := cap(*stack)
	*stack = append(*stack, e.state)
	b.size += 8 * uint64(cap(*stack)-before)
	b.largest = max(b.largest, 8*uint64(cap(*stack)))
	b.least = min(b.least, int(e.f))
}

func (b *buckets) pop() (entry, bool) {
	for ; b.least < len(b.stacks); b.least++ {
		stacks := b.stacks[b.least]
		for g := len(stacks) - 1; g >= 0; g-- {
			if last := len(stacks[g]) - 1; last >= 0 {
				state := stacks[g][last]
				stacks[g] = stacks[g][:last]
				return entry{state, uint8(b.least), uint8(g)}, true
			}
			b.stacks[b.least] = stacks[:g] // pushed again if it fills again
		}
	}
	return entry{}, false
}

func heapSearch(s *search) ([]swap.Swap, error)   { return astar(s, &heap{}, s.estimates()) }
func bucketSearch(s *search) ([]swap.Swap, error) { return astar(s, &buckets{}, s.estimates()) }

// incrementalSearch keeps half the sum of Manhattan distances up to date: a swap
// changes two terms of it.
func incrementalSearch(s *search) ([]swap.Swap, error) {
	m := heuristic.NewManhattan(s.grid)
	s.h = m
	return astar(s, &buckets{}, func(from entry, i int, _ swap.State) int {
		return int(from.f-from.g) + m.Change(from.state, s.grid.Swaps()[i])/2
	})
}

// estimator returns the bound of the state to, to which swap i of another state leads.
type estimator func(from entry, i int, to swap.State) int

// estimates returns the estimator of s.h. If that is not consistent, the bounds of all neighbours of a state raise that of the
// state, which raises theirs: of two states that a swap exchanges one is at most 1 farther than the other (BPMX, Felner and others:
// "Dual Lookups in Pattern Databases", IJCAI 2005).
func (s *search) estimates() estimator {
	if s.h.Consistent() {
		return func(_ entry, _ int, to swap.State) int { return s.h.Estimate(to) }
	}
	var of entry // whose neighbours have bounds
	bounds, least := make([]int, len(s.grid.Swaps())), 0
	return func(from entry, i int, _ swap.State) int {
		if from != of {
			h := int(from.f - from.g)
			for j, move := range s.grid.Swaps() {
				bounds[j] = s.h.Estimate(s.grid.Apply(from.state, move))
				h = max(h, bounds[j]-1)
			}
			of, least = from, h-1
		}
		return max(bounds[i], least)
	}
}

// astar expands states in the order of q. A state that is reached by a shorter way
// after it was expanded is expanded again, as happens if the bound is not
// consistent.
func astar(s *search, q queue, estimate estimator) ([]swap.Swap, error) {
	t := newTable(s, leastBits, q.bytes)
	if err := t.begin(s.start); err != nil {
		return nil, err
	}
	q.push(entry{state: s.start, f: uint8(s.h.Estimate(s.start))})
	open, closed := uint64(1), uint64(0)
	for {
		e, ok := q.pop()
		if !ok {
			return nil, errMemory // not reached: every state has a way home
		}
		n := t.get(e.state)
		if n.done || n.g != e.g {
			continue // an old entry
		}
		s.raise(int(e.f))
		if e.state == s.goal {
			return t.path(s.goal), nil
		}
		if err := s.expand(); err != nil {
			return nil, err
		}
		n.done = true
		open--
		closed++
		for i, move := range s.grid.Swaps() {
			s.Generated++
			to := s.grid.Apply(e.state, move)
			n, added, err := t.add(to)
			if err != nil {
				return nil, err
			}
			if !added && n.g <= e.g+1 {
				continue
			}
			if added {
				open++
			} else if n.done {
				open++
				closed--
			}
			*n = node{g: e.g + 1, move: uint8(i)}
			q.push(entry{to, uint8(int(e.g) + 1 + estimate(e, i, to)), e.g + 1})
		}
		if err := s.hold(open, closed, t.bytes()+q.bytes()); err != nil {
			return nil, err
		}
	}
}
