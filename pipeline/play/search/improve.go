package search

import (
	"fmt"

	"grenier/io/corrupt"
	"grenier/layers/awari"
)

// leastRound is the number of nodes that a round of the graph may expand at least.
const leastRound = 256

// improve moves bounds of the board by an attempt to prove the goals, and by a round if that finds nothing to expand. It reports
// false when it can do no more, for lack of memory or of nodes, or because the search is stopped.
func (r *root) improve() bool {
	g := r.graph
	if r.stop.Load() || r.spent() || !r.enter() {
		return false
	}
	expanded := g.counter.expanded
	if !r.attempt() {
		return false
	}
	if g.counter.expanded == expanded && !r.closed() && !g.full && !r.expand() {
		return false
	}
	if g.full {
		g.fills++
		g.clear() // proven bounds are in the transposition table
	}
	return true
}

// spent reports whether the nodes left are fewer than an attempt may visit.
func (r *root) spent() bool {
	visited := r.graph.counter.nodes + firstAttempt*awari.MaxPits/2
	if r.alone {
		visited += r.workers[0].counter.nodes
	}
	return visited > r.quota
}

// expand lets the graph grow by a quarter and solves all of it. If nothing is left to expand it solves as a whole
// the graph that attempts have solved in parts, and looks again: estimates, and so the goals, may have changed.
func (r *root) expand() bool {
	g := r.graph
	for again := false; ; again = true {
		g.goals = r.goals(g.goals[:0])
		grown := g.pursue(g.goals, max(leastRound, g.alive()/4)) > 0
		if !grown && again || !g.solve() {
			return false
		}
		r.take()
		if grown || r.closed() {
			return true
		}
	}
}

const (
	// firstAttempt is how many nodes the first attempts may expand, leastPart how many at a time.
	firstAttempt, leastPart = 512, 256
	// perBudget is the number of attempts with as many nodes.
	perBudget = 4
)

// attempt expands the nodes that the goals need, by proof numbers, and solves that part of the graph again and again.
// Each attempt forgets the proof numbers of the one before, some of which were of one path alone.
func (r *root) attempt() bool {
	g := r.graph
	g.round++
	budget := firstAttempt << min(g.attempts/perBudget, 20)
	g.attempts++
	for part := leastPart; budget > 0 && !r.closed() && !r.spent(); part = max(leastPart, len(g.queue)/4) {
		g.goals = r.goals(g.goals[:0])
		n := g.prove(g.goals, min(part, budget))
		if !g.solvePart() {
			return false
		}
		r.take()
		if n == 0 {
			break
		}
		budget -= n
	}
	return true
}

// take publishes the bounds that the graph has proven.
func (r *root) take() {
	g := r.graph
	known := g.known()
	if known == g.published && g.counter.effort() < g.reported+reportEffort {
		return
	}
	g.published, g.reported = known, g.counter.effort()
	r.publish(func() {
		r.done[len(r.done)-1] = g.counter
		r.adopt()
	})
}

// reportEffort is the effort after which progress is reported even if nothing new is proven.
const reportEffort = 1 << 18

// enter makes the boards after each move nodes.
func (r *root) enter() bool {
	g := r.graph
	if g.entered {
		return true
	}
	if !g.room() {
		return false
	}
	g.full = false
	for pit := range g.roots {
		g.roots[pit] = noNode
	}
	for _, pit := range r.first {
		if left := r.result.Seeds - int(r.plays.Captured[pit]); left > r.solved {
			child := r.plays.Children[pit]
			g.reserve()
			g.roots[pit] = g.node(child, left, &ahead{hash: mix(child), code: g.mover.code(child, left)})
		}
	}
	g.entered = true
	return true
}

// goals lists the goals that would make the score of the board known, or the values of all moves,
// if the estimates of the graph are right.
func (r *root) goals(list []goal) []goal {
	g := r.graph
	best, target := noNode, -r.result.Seeds
	for _, pit := range r.first {
		if id := g.roots[pit]; id == noNode {
			target = max(target, r.move(pit).Lower)
		} else if r.limits.AllMoves {
			list = g.want(list, id)
		}
	}
	if r.limits.AllMoves {
		return list
	}
	captured := func(pit int) int { return int(r.plays.Captured[pit]) }
	for _, pit := range r.first {
		if id := g.roots[pit]; id != noNode {
			if estimate := captured(pit) - int(g.values[id].estimate); estimate > target || best == noNode && estimate == target {
				best, target = pit, estimate
			}
		}
	}
	if best != noNode {
		list = append(list, goal{g.roots[best], true, int8(captured(best) - target)})
	}
	for _, pit := range r.first {
		if id := g.roots[pit]; id != noNode {
			list = append(list, goal{id, false, int8(captured(pit) - target)})
		}
	}
	return list
}

// adopt takes the bounds that the graph has proven into the result.
func (r *root) adopt() {
	g := r.graph
	for _, pit := range r.first {
		if id := g.roots[pit]; id != noNode {
			v, m := &g.values[id], &r.result.Moves[pit]
			if v.lower > v.upper {
				r.fail(corrupt.New("scores", "board "+r.game.Text(m.Child), "%s", fmt.Sprintf("proven to be %d or more and %d or less", v.lower, v.upper)))
				return
			}
			m.know(interval{m.Captured - int(v.upper), m.Captured - int(v.lower)}, m.Estimate)
		}
	}
}
