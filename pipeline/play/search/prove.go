package search

// effort is what a goal still needs, roughly: positions to be settled until it is proven, or until it is refuted.
type effort struct{ prove, refute int16 }

// never is the effort of what is not possible; proof and refutation need none when they are there.
const never = 1 << 14

var (
	proven  = effort{0, never}
	refuted = effort{never, 0}
)

// settled says that there is nothing left to do.
func (e effort) settled() bool { return e.prove == 0 || e.refute == 0 }

// Limits of a search by proof numbers.
const (
	// stepsPerNode bounds the steps between expansions: positions in cycles may send each other back and forth.
	stepsPerNode = 30
	// deepest bounds the recursion.
	deepest = 2000
	// unlike is what a seed between the estimate and the target counts, up to some seeds.
	unlike, mostUnlike = 2, 12
)

// prove expands up to a number of nodes for the goals, in the order of proof numbers: always one that decides with as little effort
// as possible, as far as it is known, whether the goal can be had. It is df-pn (Nagai, "Df-pn algorithm for searching AND/OR trees and its
// applications", 2002), with the largest number of a sum for all of it, since positions are reached on many ways (Ueda
// et al., "Weak proof-number search", 2008), and with a quarter more than the next best move needs before that is tried (Pawlewicz and Lew, 2007). A position
// on the path again is endless play, worth 0. All this only chooses what to expand:
// nothing is proven before the graph is solved. The nodes visited are in the queue. It returns how many were expanded.
func (g *graph) prove(goals []goal, most int) int {
	g.queue = g.queue[:0]
	g.fresh, g.steps = most, stepsPerNode*most
	before := g.counter.expanded
	for _, x := range goals {
		if !g.effort(x).settled() {
			g.pursueBest(x, effort{never, never}, 0)
		}
	}
	return int(g.counter.expanded - before)
}

// pursueBest searches a goal until its effort comes up to one of the limits.
func (g *graph) pursueBest(x goal, limit effort, depth int) {
	if !g.openAlone(x.node) {
		return
	}
	g.queue = append(g.queue, x)
	if g.effort(x).settled() {
		return
	}
	m := g.values[x.node].mark(x)
	m.onPath = true
	var e effort
	for {
		var c choice
		e, c = g.choose(x)
		g.steps--
		if e.prove >= limit.prove || e.refute >= limit.refute || e.settled() || c.best.node == noNode ||
			g.fresh <= 0 || g.steps <= 0 || g.full || depth == deepest || g.stop.Load() {
			break
		}
		g.pursueBest(c.best, c.limit(x, e, limit), depth+1)
	}
	*m = mark{round: g.round, target: x.target, effort: e}
}

// openAlone expands a node if it is not. It fails when it may not, or when there is no room.
func (g *graph) openAlone(id int32) bool {
	if g.nodes[id].expanded {
		return true
	}
	if g.fresh <= 0 {
		return false
	}
	moves := &g.pipe.ring[0]
	g.playMoves(id, moves)
	g.lookBeyond(moves)
	return g.open(id, moves)
}

// choice is what to do for a goal next.
type choice struct {
	best         goal
	effort       effort
	second, rest int16 // the effort of the next best move; that of the best one that does not add up
}

// choose returns the effort of a goal whose node is expanded, and what to do next. The player to move has what the best move
// has; his opponent must answer all, and needs as much as the dearest answer, and one for each other.
func (g *graph) choose(x goal) (effort, choice) {
	d := &g.nodes[x.node]
	c, least, dearest, open := choice{best: goal{node: noNode}, second: never}, int16(never), int16(0), int16(0)
	for pit, child := range d.next {
		if child == noNode {
			continue
		}
		y := goal{child, !x.atMost, d.captured[pit] - x.target}
		e := g.effort(y)
		own, others := e.prove, e.refute
		if x.atMost {
			own, others = others, own
		}
		switch {
		case own < least || own == least && c.best.node != noNode && others < c.rest:
			c.second, least = least, own
			c.best, c.rest, c.effort = y, others, e
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
		return effort{all, least}, c
	}
	return effort{least, all}, c
}

// limit returns how much effort the best move may take, within the limit of the goal x that has the effort e.
func (c *choice) limit(x goal, e, limit effort) effort {
	next := c.second
	if next < never {
		next = min(never, next+next/4+1)
	}
	if x.atMost {
		return effort{limit.prove - max(0, e.prove-c.rest), min(limit.refute, next)}
	}
	return effort{min(limit.prove, next), limit.refute - max(0, e.refute-c.rest)}
}

// effort returns what a goal needs: nothing if it is proven or refuted, if its node is on the path, or if it is endless play; otherwise
// what a search of this round found, or else a guess from the estimate.
func (g *graph) effort(x goal) effort {
	v := &g.values[x.node]
	switch {
	case v.lower >= x.target && !x.atMost, v.upper <= x.target && x.atMost:
		return proven
	case v.upper < x.target, v.lower > x.target:
		return refuted
	}
	m := v.mark(x)
	switch {
	case m.onPath && (x.target == 0 || x.atMost == (x.target > 0)):
		return proven
	case m.onPath:
		return refuted
	case m.round == g.round && m.target == x.target:
		return m.effort
	}
	margin := int16(v.estimate) - int16(x.target)
	if x.atMost {
		margin = -margin
	}
	if margin < 0 {
		return effort{1 + unlike*min(-margin, mostUnlike), 1}
	}
	return effort{1, 1 + unlike*min(margin+1, mostUnlike)}
}
