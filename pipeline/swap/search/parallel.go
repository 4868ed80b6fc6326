package search

import (
	"grenier/io/crew"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
)

const (
	// parts is how many queues and tables parallelSearch has: no more workers are of use.
	parts = 32
	// A round expands up to most states of each part, and about one for spread expanded
	// before: the last rounds expand few states in vain.
	most   = 64
	spread = 16
	// leastPartBits is the size of the table of a part at first.
	leastPartBits = 6
	// none is above all f.
	none = 256
)

// parallelSearch is A* by several workers: a hash says which part of the search a state
// belongs to, and each part has a queue and a table of its own (HDA*: Kishimoto, Fukunaga and
// Botea, "Scalable, parallel best-first search for optimal sequential planning", ICAPS 2009).
// It goes in rounds of two steps. In the first, parts expand states that wait with the least f of
// all parts and send the neighbours to their parts; in the second, each part takes in the states
// sent to it, in the order of the senders. So the outcome does not depend on the number of workers.
//
// The search ends between two rounds, when no state waits with an f below the length of
// the best way known. That way is a shortest one: nothing is under way then, and if C is the length
// of a shortest way, follow one from the start to the last state of which it and all before it were
// taken in with their distance from the start, and all before it expanded so. If that is
// the goal, a way of length C is known. Otherwise it has not been expanded so, as the next state
// would have been taken in too: it waits, and then its f, at most C, is no less than the best way
// known; or it was left out, because its f was no less than the best way known then.
// There is an end, since a state is expanded again only if its distance has become less.
func parallelSearch(s *search) ([]swap.Swap, error) {
	p := newParallel(s)
	if err := p.begin(); err != nil {
		return nil, err
	}
	for p.least < p.best {
		s.raise(p.least)
		if err := p.round(); err != nil {
			return nil, err
		}
	}
	if !p.reached {
		return s.best, nil // the solution of the beginning: no other is shorter
	}
	return pathTo(s.grid, func(state swap.State) *node { return p.parts[partOf(state)].get(state) }, s.goal), nil
}

// parallel is a search by parts.
type parallel struct {
	s       *search
	parts   [parts]*part
	best    int  // length of the best way known
	reached bool // that way was found by this search
	least   int  // least f that waits
}

// part is the states with one value of partOf.
type part struct {
	*table
	queue     buckets
	sent      [parts][]arrival // by part
	goal      int              // length of the best way to the goal, if it is of this part; 0 for none
	least     int              // least f that waits
	held      uint64           // bytes of sent
	open      uint64           // entries of the queue
	expanded  uint64
	generated uint64
}

// arrival is a state that an expanded one leads to.
type arrival struct {
	state   swap.State
	g, move uint8
}

const arrivalBytes = 16

// partOf returns the part of a state. The hash is not the one of tables.
func partOf(state swap.State) int {
	return int(uint64(state) * 0xa0761d6478bd642f >> 32 * parts >> 32)
}

func newParallel(s *search) *parallel {
	p := &parallel{s: s, best: len(s.best), least: none}
	own := &search{grid: s.grid, goal: s.goal}
	if s.job.Memory > 0 {
		own.job.Memory = max(1, s.job.Memory/parts)
	}
	for i := range p.parts {
		q := &part{least: none}
		q.table = newTable(own, leastPartBits, q.others)
		p.parts[i] = q
	}
	return p
}

// begin has the search begin with the start.
func (p *parallel) begin() error {
	first := p.parts[partOf(p.s.start)]
	if err := first.take([]arrival{{p.s.start, 0, noMove}}, p.s.h, p.best); err != nil {
		return err
	}
	first.settle()
	p.least = first.least
	return p.s.hold(1, 1, p.bytes())
}

// round expands states with the least f, and sums up the results.
func (p *parallel) round() error {
	s := p.s
	quota := min(most, 1+s.Expanded/(spread*parts))
	err := crew.Each(s.ctx, s.job.Workers, parts, func(_, i int) error {
		p.parts[i].expand(p.least, quota)
		return nil
	})
	if err != nil {
		return err
	}
	err = crew.Each(s.ctx, s.job.Workers, parts, func(_, i int) error {
		for _, from := range p.parts {
			if err := p.parts[i].take(from.sent[i], s.h, p.best); err != nil {
				return err
			}
		}
		p.parts[i].settle()
		return nil
	})
	if err != nil {
		return err
	}
	p.least = none
	var open, used uint64
	s.Expanded, s.Generated = 0, 0
	for _, q := range p.parts {
		if q.goal > 0 && q.goal < p.best {
			p.best, p.reached = q.goal, true
		}
		p.least = min(p.least, q.least)
		open += q.open
		used += uint64(q.used)
		s.Expanded += q.expanded
		s.Generated += q.generated
	}
	if err := s.hold(open, used, p.bytes()); err != nil {
		return err
	}
	return s.clock()
}

func (p *parallel) bytes() (bytes uint64) {
	for _, q := range p.parts {
		bytes += q.bytes() + q.others()
	}
	return bytes
}

// others returns the memory of a part besides its table.
func (q *part) others() uint64 { return q.queue.bytes() + q.held }

// expand expands up to quota states with f.
func (q *part) expand(f int, quota uint64) {
	for i := range q.sent {
		q.sent[i] = q.sent[i][:0]
	}
	swaps := q.s.grid.Swaps()
	for ; quota > 0 && q.least == f; quota-- {
		e, _ := q.queue.pop()
		q.get(e.state).done = true
		q.open--
		q.expanded++
		q.generated += uint64(len(swaps))
		for i, move := range swaps {
			to := q.s.grid.Apply(e.state, move)
			of := partOf(to)
			q.sent[of] = append(q.sent[of], arrival{to, e.g + 1, uint8(i)})
		}
		q.settle()
	}
	q.held = 0
	for _, list := range q.sent {
		q.held += arrivalBytes * uint64(cap(list))
	}
}

// settle removes old entries from the head of the queue and finds the least f.
func (q *part) settle() {
	for {
		e, ok := q.queue.pop()
		if !ok {
			q.least = none
			return
		}
		if n := q.get(e.state); !n.done && n.g == e.g {
			q.queue.push(e)
			q.least = int(e.f)
			return
		}
		q.open--
	}
}

// take takes in states of the part. Those through which no way is shorter than best do not wait.
func (q *part) take(list []arrival, h heuristic.Heuristic, best int) error {
	for _, a := range list {
		n, added, err := q.add(a.state)
		if err != nil {
			return err
		}
		if !added && n.g <= a.g {
			continue
		}
		*n = node{g: a.g, move: a.move}
		if a.state == q.s.goal {
			q.goal = int(a.g)
		} else if f := int(a.g) + h.Estimate(a.state); f < best {
			q.queue.push(entry{a.state, uint8(f), a.g})
			q.open++
		}
	}
	return nil
}
