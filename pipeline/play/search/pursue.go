package search

import "grenier/layers/awari"

// goal is to prove that a node is worth target or more, or that it is worth no more.
type goal struct {
	node   int32
	atMost bool
	target int8
}

// pursue expands the nodes that the goals need, breadth first, up to a number of nodes: of both players all moves that
// may decide. It returns how many nodes were expanded.
func (g *graph) pursue(goals []goal, most int) int {
	g.round++
	g.queue = g.queue[:0]
	g.fresh = most
	before := g.counter.expanded
	for _, goal := range goals {
		g.push(goal)
	}
	for i := 0; i < len(g.queue) && g.fresh > 0 && !g.stop.Load(); i++ {
		if !g.open(g.queue[i].node) {
			break
		}
		g.follow(g.queue[i])
	}
	return int(g.counter.expanded - before)
}

// settled says that a goal is proven, or refuted.
func (v *value) settled(x goal) bool {
	return v.lower >= x.target && !x.atMost || v.upper < x.target || v.upper == x.target && x.atMost || v.lower > x.target
}

// push adds a goal that is open, unless one as hard for the same node was there before: that
// also ends play in cycles.
func (g *graph) push(x goal) {
	v := &g.values[x.node]
	if v.settled(x) {
		return
	}
	m := v.mark(x)
	if m.round == g.round && (m.target == x.target || (m.target < x.target) == x.atMost) {
		return
	}
	*m = mark{round: g.round, target: x.target}
	g.queue = append(g.queue, x)
}

// open expands a node if it is not. It fails when it may not, or when there is no room.
func (g *graph) open(id int32) bool {
	switch {
	case g.nodes[id].expanded:
		return true
	case g.fresh <= 0:
		return false
	case len(g.nodes)+awari.MaxPits/2 > g.limit:
		g.full = true
		return false
	}
	g.expand(id)
	g.fresh--
	return true
}

// follow pushes the goals of each child that a goal asks for, unless expanding its node has settled it.
func (g *graph) follow(x goal) {
	if g.values[x.node].settled(x) {
		return
	}
	for pit, child := range g.nodes[x.node].next {
		if child != noNode {
			g.push(goal{child, !x.atMost, g.nodes[x.node].captured[pit] - x.target})
		}
	}
}

// want lists the goals that would make the score of a node known, if its estimate is right.
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
