package search

// moving is the data of an iteration over the nodes of a list, all with as many seeds, close together in memory. In a
// list a quiet move leads from one of them to another; the values of all other moves do not change.
type moving struct {
	values []moved // by index in the list
	fixed  []fixed // likewise
	edges  []edge  // quiet moves inside the list, from the last node to the first
}

// moved is the values that an iteration changes. low and high are proven when it has ended.
type moved struct{ low, high, estimate, best int8 }

// fixed is the constants of a node during an iteration.
type fixed struct {
	backed             // from the moves out of the list
	lower, upper int8  // proven before
	edges        uint8 // moves inside the list
}

// edge is a quiet move: index<<edgeShift | pit.
type edge uint32

const edgeShift = 3

// mostSweeps bounds the iteration of estimates, which may be endless.
const mostSweeps = 100

// solveList iterates over nodes with as many seeds, the newest first, until nothing changes: layers below are done.
// Scores begin at 0, or at the proven bound beyond it. It fails when the search is stopped. The values of the nodes
// stay as they are: settle changes them.
func (g *graph) solveList(list []int32) bool {
	g.gather(list)
	for sweep := 0; ; sweep++ {
		g.counter.swept += uint64(len(list))
		proven, guessed := g.moving.sweep()
		g.watch()
		if g.stop.Load() && (proven || guessed) {
			return false
		}
		if !proven && (!guessed || sweep > mostSweeps) {
			return true
		}
	}
}

// listed reports whether a node is in a list, and its index there, if the values of all nodes in the list have that.
func (v *value) listed(list []int32, id int32) (index int32, ok bool) {
	return v.moving, int(v.moving) < len(list) && list[v.moving] == id
}

// gatherAhead is how many nodes ahead their children are asked for.
const gatherAhead = 6

// gather begins an iteration.
func (g *graph) gather(list []int32) {
	m := &g.moving
	if cap(m.values) < len(list) {
		m.values, m.fixed = make([]moved, len(list)+len(list)/2), make([]fixed, len(list)+len(list)/2)
	}
	m.values, m.fixed, m.edges = m.values[:len(list)], m.fixed[:len(list)], m.edges[:0]
	for i, id := range list {
		g.values[id].moving = int32(i)
	}
	for i := len(list) - 1; i >= 0; i-- {
		if i >= 2*gatherAhead {
			touch(&g.nodes[list[i-2*gatherAhead]].at)
			touch(&g.nodes[list[i-2*gatherAhead]].expanded)
		}
		if i >= gatherAhead {
			for _, child := range g.nodes[list[i-gatherAhead]].next {
				touch(&g.values[max(0, child)])
			}
		}
		d, v, before := &g.nodes[list[i]], &g.values[list[i]], len(m.edges)
		f := fixed{backed: backed{d.taken, d.taken, d.taken, noPit}, lower: v.lower, upper: v.upper}
		for pit, child := range d.next {
			if child == noNode {
				continue
			}
			c := &g.values[child]
			if index, ok := c.listed(list, child); ok {
				m.edges = append(m.edges, edge(index)<<edgeShift|edge(pit))
			} else {
				f.add(c, d.captured[pit], pit)
			}
		}
		f.edges = uint8(len(m.edges) - before)
		m.fixed[i] = f
		m.values[i] = moved{max(0, v.lower), min(0, v.upper), max(v.lower, min(v.upper, 0)), noPit}
	}
}

// sweep computes all nodes anew. It reports whether bounds, or estimates, have changed.
func (m *moving) sweep() (proven, guessed bool) {
	edges := m.edges
	for i := len(m.fixed) - 1; i >= 0; i-- {
		f, v := &m.fixed[i], &m.values[i]
		low, high, estimate, best := f.low, f.high, f.estimate, f.best
		for _, e := range edges[:f.edges] {
			c := m.values[e>>edgeShift]
			low, high = max(low, -c.high), max(high, -c.low)
			if x := -c.estimate; x > estimate {
				estimate, best = x, int8(e&(1<<edgeShift-1))
			}
		}
		edges = edges[f.edges:]
		low, high = max(low, f.lower), min(high, f.upper)
		if low != v.low || high != v.high {
			v.low, v.high, proven = low, high, true
		}
		if estimate = max(f.lower, min(f.upper, estimate)); estimate != v.estimate {
			v.estimate, v.best, guessed = estimate, best, true
		}
	}
	return proven, guessed
}
