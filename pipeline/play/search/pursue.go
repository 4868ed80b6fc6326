package search

import "math"

// goal is to prove that a node is worth target or more, or that it is worth no more.
type goal struct {
	node   int32
	atMost bool
	target int8
}

// pursue expands what the goals need, breadth first, up to a number of nodes: of the player who has a goal the move
// that he likes best, or all that may do if wide is set; of the other player all
// moves that are not refuted. It returns how many nodes were expanded.
func (g *graph) pursue(goals []goal, most int, wide bool) int {
	g.round++
	g.queue = g.queue[:0]
	g.pipe.begin()
	g.fresh = most
	before := g.counter.expanded
	for _, goal := range goals {
		g.push(goal)
	}
	for i := 0; i < len(g.queue) && g.fresh > 0 && !g.stop.Load(); i++ {
		moves := g.prepare(i)
		if x := g.queue[i]; !g.open(x.node, moves) {
			break
		} else if x.atMost {
			g.hold(x)
		} else {
			g.reach(x, wide)
		}
	}
	return int(g.counter.expanded - before)
}

// push adds a goal that is open, unless one as hard for the same node was there before: that
// also ends play in cycles.
func (g *graph) push(x goal) {
	v := &g.values[x.node]
	switch {
	case v.lower >= x.target && !x.atMost, v.upper < x.target, v.upper == x.target && x.atMost, v.lower > x.target:
		return
	}
	m := v.mark(x)
	if m.round == g.round && (m.target == x.target || (m.target < x.target) == x.atMost) {
		return
	}
	*m = mark{round: g.round, target: x.target}
	g.queue = append(g.queue, x)
}

// open expands a node if it is not. It fails when there is no room.
func (g *graph) open(id int32, moves *prepared) bool {
	if g.nodes[id].expanded {
		return true
	}
	if !g.expand(id, moves) {
		g.full = true
		return false
	}
	g.fresh--
	return true
}

// hold follows the moves of a player who shall not get more than the target.
func (g *graph) hold(x goal) {
	for pit, child := range g.nodes[x.node].next {
		if child != noNode {
			captured := g.nodes[x.node].captured[pit]
			g.push(goal{child, false, captured - x.target})
		}
	}
}

// reach follows the best move of a player who shall get the target.
func (g *graph) reach(x goal, wide bool) {
	d, v := &g.nodes[x.node], &g.values[x.node]
	if v.lower >= x.target || v.upper < x.target {
		return
	}
	best, most := noPit, math.MinInt
	for pit, child := range d.next {
		if child == noNode {
			continue
		}
		c, captured := &g.values[child], d.captured[pit]
		switch {
		case captured-c.lower < x.target:
		case wide:
			g.push(goal{child, true, captured - x.target})
		default:
			rank := g.rank(child, int(captured))
			if pit == int(v.best) && v.estimate > 0 {
				rank += 1 << 11
			}
			if rank > most {
				best, most = pit, rank
			}
		}
	}
	if best != noPit {
		g.push(goal{d.next[best], true, d.captured[best] - x.target})
	}
}

// rank says how good a move looks that captures seeds and leads to a node: by the estimate, what may still be had, and fewer replies.
func (g *graph) rank(child int32, captured int) int {
	v := &g.values[child]
	return (captured-int(v.estimate))<<12 + (captured-int(v.upper))<<4 - int(v.replies)
}

// want lists what would make the score of a node known, if its estimate is right.
func (g *graph) want(goals []goal, id int32) []goal {
	v := &g.values[id]
	if v.lower < v.estimate {
		goals = append(goals, goal{id, false, v.estimate})
	}
	if v.upper > v.estimate {
		goals = append(goals, goal{id, true, v.estimate})
	}
	return goals
}
