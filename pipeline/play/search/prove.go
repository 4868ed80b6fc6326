package search

// numbers are the proof number and the disproof number of a goal: roughly, how many positions must be settled until it is proven, or
// until it is refuted.
type numbers struct{ proof, disproof int16 }

// never is the proof number of an impossible goal.
const never = 1 << 14

var (
	proven  = numbers{0, never}
	refuted = numbers{never, 0}
)

// settled says that there is nothing left to do.
func (e numbers) settled() bool { return e.proof == 0 || e.disproof == 0 }

// Limits of a search by proof numbers.
const (
	// stepsPerNode bounds the steps between expansions: positions in cycles may send each other back and forth.
	stepsPerNode = 30
	// deepest bounds the recursion.
	deepest = 2000
	// fillsPerOrder is how often the graph may fill up until another move is the first among equals: with the same order
	// it might fill up with the same nodes for ever.
	fillsPerOrder = 8
	// unlike is the weight of a seed between the estimate and the target, up to mostUnlike seeds.
	unlike, mostUnlike = 2, 12
)

// prove expands up to a number of nodes for the goals, in the order of proof numbers: always one that seems to decide soonest
// whether the goal can be had. It is df-pn (Nagai, "Df-pn algorithm for searching AND/OR trees and its
// applications", 2002), with the largest number of a sum for all of it, since positions are reached on many ways (Ueda
// et al., "Weak proof-number search", 2008), and with a quarter more than the next best move needs before that is tried (Pawlewicz and Lew, 2007). A position
// on the path again is endless play, worth 0. All this only chooses nodes to expand:
// nothing is proven before the graph is solved. The nodes visited are in the queue. It returns how many were expanded.
func (g *graph) prove(goals []goal, most int) int {
	g.queue = g.queue[:0]
	g.fresh, g.steps = most, stepsPerNode*most
	before := g.counter.expanded
	for _, x := range goals {
		if !g.numbers(x).settled() {
			g.pursueBest(x, numbers{never, never}, 0)
		}
	}
	return int(g.counter.expanded - before)
}

// pursueBest searches a goal until its numbers come up to one of the limits.
func (g *graph) pursueBest(x goal, limit numbers, depth int) {
	if !g.open(x.node) {
		return
	}
	g.queue = append(g.queue, x)
	if g.numbers(x).settled() {
		return
	}
	m := g.values[x.node].mark(x)
	m.onPath = true
	var e numbers
	for {
		var c choice
		e, c = g.choose(x)
		if g.steps--; g.steps%lookEvery == 0 {
			g.watch()
		}
		if e.proof >= limit.proof || e.disproof >= limit.disproof || e.settled() || c.best.node == noNode ||
			g.fresh <= 0 || g.steps <= 0 || g.full || depth == deepest || g.stop.Load() {
			break
		}
		g.pursueBest(c.best, c.limit(x, e, limit), depth+1)
	}
	*m = mark{round: g.round, target: x.target, numbers: e}
}

// choice is the next step for a goal.
type choice struct {
	best         goal
	second, rest int16 // of the next best move the number that is compared, of the best one that which adds up
}

// choose returns the numbers of a goal whose node is expanded, and the next step. For the player to move it takes the number of
// his best move; for his opponent, who must answer all, the largest, and one for each other move that is open.
func (g *graph) choose(x goal) (numbers, choice) {
	d := &g.nodes[x.node]
	c, least, dearest, open := choice{best: goal{node: noNode}, second: never}, int16(never), int16(0), int16(0)
	first := g.fills / fillsPerOrder
	for i := range uint(len(d.next)) {
		pit := (first + i) % uint(len(d.next))
		child := d.next[pit]
		if child == noNode {
			continue
		}
		y := goal{child, !x.atMost, d.captured[pit] - x.target}
		e := g.numbers(y)
		own, others := e.proof, e.disproof
		if x.atMost {
			own, others = others, own
		}
		switch {
		case own < least || own == least && c.best.node != noNode && others < c.rest:
			c.second, least = least, own
			c.best, c.rest = y, others
		case own < c.second:
			c.second = own
		}
		if others > 0 {
			open++
		}
		dearest = max(dearest, others)
	}
	all := min(never, dearest+max(0, open-1))
	if x.atMost {
		return numbers{all, least}, c
	}
	return numbers{least, all}, c
}

// limit returns how far the best move may go, within the limit of the goal x that has the numbers e.
func (c *choice) limit(x goal, e, limit numbers) numbers {
	next := c.second
	if next < never {
		next = min(never, next+next/4+1)
	}
	if x.atMost {
		return numbers{limit.proof - max(0, e.proof-c.rest), min(limit.disproof, next)}
	}
	return numbers{min(limit.proof, next), limit.disproof - max(0, e.disproof-c.rest)}
}

// numbers returns the numbers of a goal: it is settled if bounds say so, or if its node is on the path, which is endless play; otherwise they are
// the result of a search of this round, or else a guess from the estimate.
func (g *graph) numbers(x goal) numbers {
	v := &g.values[x.node]
	switch {
	case v.lower >= x.target && !x.atMost, v.upper <= x.target && x.atMost:
		return proven
	case v.settled(x):
		return refuted
	}
	m := v.mark(x)
	switch {
	case m.onPath && (x.target == 0 || x.atMost == (x.target > 0)):
		return proven
	case m.onPath:
		return refuted
	case m.round == g.round && m.target == x.target:
		return m.numbers
	}
	margin := int16(v.estimate) - int16(x.target)
	if x.atMost {
		margin = -margin
	}
	if margin < 0 {
		return numbers{1 + unlike*min(-margin, mostUnlike), 1}
	}
	return numbers{1, 1 + unlike*min(margin+1, mostUnlike)}
}
