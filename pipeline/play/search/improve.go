package search

import (
	"fmt"

	"grenier/io/corrupt"
)

// leastRound is the number of nodes that a round of the graph may expand at least.
const leastRound = 256

// improve expands the graph and solves it again. It reports false when it can do no more, for
// lack of memory or because the search is stopped.
func (r *root) improve() bool {
	g := r.graph
	if r.stop.Load() || !r.enter() {
		return false
	}
	goals := r.goals(nil)
	g.choose()
	most := max(leastRound, g.alive()/4)
	if g.pursue(goals, most, false) == 0 && g.pursue(goals, most, true) == 0 {
		return false
	}
	if !g.solve() {
		return false
	}
	r.publish(func() {
		r.done[len(r.done)-1] = g.counter
		r.adopt()
	})
	if g.full {
		g.clear() // what is proven is in the transposition table
	}
	return true
}

// choose has the players choose in another way than in the round before.
func (g *graph) choose() {
	switch g.rounds++; g.rounds % 4 {
	case 0:
		g.choice = byEstimate
	case 1, 2:
		g.choice = bySeeds
	default:
		g.choice = byChance + g.rounds/4%200
	}
}

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
	for _, pit := range r.first {
		g.roots[pit] = noNode
		if left := r.result.Seeds - int(r.plays.captured[pit]); left > r.solved {
			g.roots[pit] = g.node(r.plays.children[pit], left)
		}
	}
	g.entered = true
	return true
}

// goals lists what would make the score of the board known, or those of all moves, if the
// estimates of the graph are right. In some rounds it lists what is half way there, which is easier to prove.
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
	captured := func(pit int) int { return int(r.plays.captured[pit]) }
	for _, pit := range r.first {
		if id := g.roots[pit]; id != noNode {
			if estimate := captured(pit) - int(g.values[id].estimate); estimate > target || best == noNode && estimate == target {
				best, target = pit, estimate
			}
		}
	}
	least, most := target, target
	if g.rounds%halfWay == halfWay-1 {
		least, most = r.between(target)
	}
	if best != noNode {
		list = append(list, goal{g.roots[best], true, int8(captured(best) - least)})
	}
	for _, pit := range r.first {
		if id := g.roots[pit]; id != noNode {
			list = append(list, goal{id, false, int8(captured(pit) - most)})
		}
	}
	return list
}

// halfWay is how often a round tries what is half way to the estimate.
const halfWay = 5

// between returns what lies half way from the bounds to a number between them.
func (r *root) between(x int) (least, most int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return x - (x-r.result.Lower)/2, x + (r.result.Upper-x)/2
}

// adopt takes what the graph has proven into the result.
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
