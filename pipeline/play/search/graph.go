package search

import (
	"math/bits"
	"slices"

	"grenier/io/memory"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
)

// graph is the positions above the tables that matter for one position, as far as they were
// expanded, with bounds of their scores. See the package comment.
type graph struct {
	*shared
	nodes  []node
	values []value  // by node
	index  []uint64 // by hash; a power of two; 0 is empty, otherwise the upper half of the hash and node+1
	limit  int      // most nodes

	active  [awari.MaxSeeds + 1][]int32 // expanded nodes that are not exact, by seeds, the oldest first
	dirty   [awari.MaxSeeds + 1]bool    // layers to be solved again
	round   uint32
	queue   []goal
	goals   []goal // room for those at the beginning
	fresh   int    // nodes that the round at hand may still expand
	steps   int    // likewise of steps
	counter counter

	roots   [awari.MaxPits / 2]int32 // nodes after the moves of the board that is searched
	entered bool                     // roots is set
	full    bool                     // a node could not be expanded for lack of room
	fills   uint                     // how often that was so since the search has begun

	attempts  int       // since the search has begun
	published knowledge // the knowledge told last; at first none
	reported  uint64    // effort at that time
	part      [][]int32 // nodes of an attempt, by seeds

	next   prepared
	moving moving
}

// node is a position and its moves.
type node struct {
	at       packed.Board
	next     [awari.MaxPits / 2]int32 // node after the move of a pit, noNode if it is solved or there is none
	captured [awari.MaxPits / 2]int8  // by that move
	taken    int8                     // best value of the moves into solved layers, noScore if there is none
	seeds    uint8
	expanded bool
}

const (
	noNode  = -1
	noScore = -128
)

// value is the knowledge of the score of a node, and of its part in the round at hand.
type value struct {
	lower, upper int8 // proven
	estimate     int8
	best         int8    // pit that made the estimate positive
	moving       int32   // where it is in the iteration at hand, if it is there
	marks        [2]mark // of goals to be worth more, and no more
}

// mark is about the last goal of a kind that a node had.
type mark struct {
	round   uint32
	target  int8
	onPath  bool
	numbers numbers
}

// mark returns the mark of goals like x.
func (v *value) mark(x goal) *mark {
	if x.atMost {
		return &v.marks[1]
	}
	return &v.marks[0]
}

// exact says that the score is known.
func (v *value) exact() bool { return v.lower >= v.upper }

// nodeBytes is the most memory that a node takes, with its share of all lists while they grow.
const nodeBytes = 168

func newGraph(s *shared, bytes int64) *graph {
	g := &graph{shared: s, limit: int(min(max(0, bytes)/nodeBytes, 1<<31-1)), part: make([][]int32, awari.MaxSeeds+1)}
	g.nodes = memory.Make[node](g.limit)[:0] // the system gives memory when it is touched
	g.values = memory.Make[value](g.limit)[:0]
	g.clear()
	return g
}

// clear forgets all nodes.
func (g *graph) clear() {
	g.nodes, g.values = g.nodes[:0], g.values[:0]
	g.index = make([]uint64, 1024)
	g.entered = false
	for n := range g.active {
		g.active[n], g.dirty[n] = g.active[n][:0], false
	}
}

// begin forgets the data of the search before, but no node.
func (g *graph) begin() {
	g.counter, g.entered, g.attempts, g.fills = counter{}, false, 0, 0
	g.published, g.reported = knowledge{{noScore, noScore}}, 0
}

// room forgets all nodes if they have half of the memory: earlier results are kept as
// long as there is room. It fails when there is no room at all.
func (g *graph) room() bool {
	if len(g.nodes) > g.limit/2 {
		g.clear()
	}
	return g.limit >= 64
}

// alive returns the number of expanded nodes that are not exact.
func (g *graph) alive() int {
	n := 0
	for _, list := range g.active {
		n += len(list)
	}
	return n
}

// slot returns the place in the index of a position with a hash.
func (g *graph) slot(p packed.Board, hash uint64) *uint64 {
	mask := len(g.index) - 1
	for i := home(hash) & mask; ; i = (i + 1) & mask {
		if x := g.index[i]; x == 0 || alike(x, hash) && g.nodes[uint32(x)-1].at == p {
			return &g.index[i]
		}
	}
}

// seems returns the node that a hash stands for, unless two of them are alike, or noNode.
func (g *graph) seems(hash uint64) int32 {
	mask := len(g.index) - 1
	for i := home(hash) & mask; ; i = (i + 1) & mask {
		if x := g.index[i]; x == 0 || alike(x, hash) {
			return int32(uint32(x)) - 1
		}
	}
}

// home returns where to look for a hash first.
func home(hash uint64) int { return int(uint32(hash)) }

// alike says that an entry of the index has the upper half of a hash.
func alike(entry, hash uint64) bool { return (entry^hash)>>32 == 0 }

// mix hashes a position.
func mix(p packed.Board) uint64 {
	const odd, mix = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
	h := (uint64(p.Own) ^ bits.RotateLeft64(uint64(p.Other)*odd, 29)) * mix
	h = (h ^ h>>32) * mix
	return h ^ h>>32
}

// node returns the node of a position with n seeds, a new one if there is none. next has the knowledge of it. There
// must be room in the index.
func (g *graph) node(p packed.Board, n int, next *ahead) int32 {
	slot := g.slot(p, next.hash)
	if *slot != 0 {
		return int32(uint32(*slot)) - 1
	}
	if !next.played {
		g.look(p, n, next)
	}
	id := int32(len(g.nodes))
	*slot = next.hash>>32<<32 | uint64(id+1)
	g.counter.nodes++
	g.nodes = append(g.nodes, node{at: p, seeds: uint8(n)})
	g.values = append(g.values, g.appraise(&g.nodes[id], next))
	return id
}

// reserve has room in the index for the moves of a node.
func (g *graph) reserve() {
	if 2*(len(g.nodes)+awari.MaxPits/2) > len(g.index) {
		g.grow()
	}
}

// grow doubles the index.
func (g *graph) grow() {
	g.index = memory.Make[uint64](2 * len(g.index))
	for id := range g.nodes {
		hash := mix(g.nodes[id].at)
		*g.slot(g.nodes[id].at, hash) = hash>>32<<32 | uint64(id+1)
	}
}

// appraise returns the value of a new node: from its captures into solved layers, and
// from the transposition table. Without other moves the score is known.
func (g *graph) appraise(d *node, next *ahead) value {
	n, moves := int(d.seeds), &next.plays
	v := value{best: noPit}
	taken, open, least, estimate := noScore, moves.Quiet != 0, -n, -n
	if open {
		estimate = g.mover.quiet(d.at, n)
	}
	if moves.Legal == 0 {
		taken = -n
	}
	for pits := moves.Legal &^ moves.Quiet; pits != 0; pits &= pits - 1 {
		pit := bits.TrailingZeros8(pits)
		captured := int(moves.Captured[pit])
		if left := n - captured; left > g.solved {
			open = true
			least = max(least, captured-left)
			estimate = max(estimate, captured-g.guess(moves.Children[pit], left))
		} else {
			taken = max(taken, captured-g.scoreAt(left, next.ranks[pit], &g.counter))
		}
	}
	known := interval{max(least, taken), n}
	if !open {
		known.upper = taken
	}
	estimate = max(estimate, taken)
	if s, ok := g.stored.find(next.code); ok {
		known = known.both(s.interval())
		if s.bound != none {
			estimate = int(s.estimate)
		}
	}
	d.taken = int8(taken)
	for pit := range d.next {
		d.next[pit] = noNode
	}
	v.lower, v.upper, v.estimate = int8(known.lower), int8(known.upper), int8(known.clamp(estimate))
	return v
}

// guess follows captures only.
func (g *graph) guess(p packed.Board, n int) int {
	var moves packed.Plays
	g.mover.Plays(p, &moves)
	best := -n
	if moves.Quiet != 0 {
		best = g.mover.quiet(p, n)
	}
	for pits := moves.Legal &^ moves.Quiet; pits != 0; pits &= pits - 1 {
		pit := bits.TrailingZeros8(pits)
		captured := int(moves.Captured[pit])
		left := n - captured
		if left <= g.solved {
			best = max(best, captured-g.score(moves.Children[pit], left, &g.counter))
		} else {
			best = max(best, captured-g.guess(moves.Children[pit], left))
		}
	}
	return best
}

// expand adds the moves of a node. There must be room.
func (g *graph) expand(id int32) {
	g.reserve()
	moves := g.prepare(id)
	n := int(g.nodes[id].seeds)
	for pits := moves.plays.Legal; pits != 0; pits &= pits - 1 {
		pit := bits.TrailingZeros8(pits)
		captured := moves.plays.Captured[pit]
		if left := n - int(captured); left > g.solved {
			child := g.node(moves.plays.Children[pit], left, &moves.ahead[pit])
			d := &g.nodes[id]
			d.next[pit], d.captured[pit] = child, captured
		}
	}
	g.nodes[id].expanded = true
	g.active[n] = append(g.active[n], id)
	g.dirty[n] = true
	g.counter.expanded++
	v := &g.values[id]
	back := g.back(&g.nodes[id])
	v.lower, v.upper = max(v.lower, back.low), min(v.upper, back.high)
	v.estimate, v.best = max(v.lower, min(v.upper, back.estimate)), back.best
}

// backed is the bounds of a node that follow from its children.
type backed struct{ low, high, estimate, best int8 }

// add takes up a move that captures seeds and leads to a node.
func (b *backed) add(v *value, captured int8, pit int) {
	b.low, b.high = max(b.low, captured-v.upper), max(b.high, captured-v.lower)
	if x := captured - v.estimate; x > b.estimate {
		b.estimate, b.best = x, int8(pit)
	}
}

// back returns the bounds and the estimate of a node that follow from its moves.
func (g *graph) back(d *node) backed {
	b := backed{d.taken, d.taken, d.taken, noPit}
	for pit, child := range d.next {
		if child != noNode {
			b.add(&g.values[child], d.captured[pit], pit)
		}
	}
	return b
}

// solve moves the bounds of all nodes as far as they go. It reports whether it came to the end;
// otherwise nothing has changed.
func (g *graph) solve() bool {
	for n := g.solved + 1; n <= awari.MaxSeeds; n++ {
		if g.dirty[n] && len(g.active[n]) > 0 && !g.solveLayer(n) {
			return false
		}
		g.dirty[n] = false
	}
	return true
}

// solvePart moves the bounds of the nodes that were visited last, likewise. All others stay as they are.
func (g *graph) solvePart() bool {
	for n := range g.part {
		g.part[n] = g.part[n][:0]
	}
	for _, x := range g.queue {
		d, v := &g.nodes[x.node], &g.values[x.node]
		if list := g.part[d.seeds]; d.expanded && !v.exact() {
			if _, ok := v.listed(list, x.node); !ok {
				v.moving = int32(len(list))
				g.part[d.seeds] = append(list, x.node)
			}
		}
	}
	for n, list := range g.part {
		if len(list) > 0 {
			if !g.solveList(list) {
				return false
			}
			g.settle(list, n)
			g.dirty[n] = true
		}
	}
	return true
}

// solveLayer moves the bounds of all active nodes with n seeds, and drops those that are exact now.
func (g *graph) solveLayer(n int) bool {
	if !g.solveList(g.active[n]) {
		return false
	}
	g.settle(g.active[n], n)
	g.active[n] = slices.DeleteFunc(g.active[n], func(id int32) bool { return g.values[id].exact() })
	return true
}

// settle takes the bounds of an iteration over a list that has ended as proven, and stores new ones.
func (g *graph) settle(list []int32, n int) {
	for i, id := range list {
		v, x := &g.values[id], &g.moving.values[i]
		v.estimate, v.best = x.estimate, x.best
		if x.low > v.lower || x.high < v.upper {
			v.lower, v.upper = max(v.lower, x.low), min(v.upper, x.high)
			for above := n + 1; above <= awari.MaxSeeds; above++ {
				g.dirty[above] = true
			}
			g.stored.learn(g.mover.code(g.nodes[id].at, n), interval{int(v.lower), int(v.upper)}, int(v.best))
		}
		v.estimate = max(v.lower, min(v.upper, v.estimate))
	}
}

// knowledge is the proven bounds of the boards after each move.
type knowledge [awari.MaxPits / 2][2]int8

// known returns the proven bounds.
func (g *graph) known() (k knowledge) {
	for pit, id := range g.roots {
		if id != noNode {
			k[pit] = [2]int8{g.values[id].lower, g.values[id].upper}
		}
	}
	return k
}
