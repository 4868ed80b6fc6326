package search

import (
	"math/bits"
	"slices"

	"grenier/layers/awari"
)

// graph is the positions above the tables that matter for one position, as far as they were
// expanded, with bounds of their scores. See the package comment.
type graph struct {
	*shared
	nodes  []node
	values []value // by node
	marks  []mark  // by node
	index  []int32 // by hash; a power of two; 0 is empty, otherwise node+1
	limit  int     // most nodes

	active  [awari.MaxSeeds + 1][]int32 // expanded nodes that are not exact, by seeds, the oldest first
	dirty   [awari.MaxSeeds + 1]bool    // layers to be solved again
	round   uint32
	choice  int // of moves, in the round at hand
	queue   []goal
	goals   []goal // room for those at the beginning
	fresh   int    // nodes that the round at hand may still expand
	counter counter

	roots   [awari.MaxPits / 2]int32 // nodes after the moves of the board that is searched
	entered bool                     // roots is set
	full    bool                     // a node could not be expanded for lack of room

	rounds, attempts int       // since the search has begun
	spent            [2]uint64 // effort of rounds, of attempts
	published        knowledge // what was told last
	reported         uint64    // effort at that time
	part             [][]int32 // nodes of an attempt, by seeds

	ahead  [awari.MaxPits / 2]plays // after each move of the node that is being expanded, if it leads to a new node
	loaded uint64                   // by fetch, for no use
}

// node is a position and its moves.
type node struct {
	at       position
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

// value is what is known of the score of a node.
type value struct {
	lower, upper int8 // proven
	low, high    int8 // of the iteration at hand; proven when it has ended
	estimate     int8
	best         int8 // pit that made the estimate positive
	replies      int8 // legal moves
}

// exact says that the score is known.
func (v *value) exact() bool { return v.lower >= v.upper }

// nodeBytes is the most memory that a node takes, with its share of all lists while they grow.
const nodeBytes = 128

func newGraph(s *shared, bytes int64) *graph {
	g := &graph{shared: s, limit: int(min(max(0, bytes)/nodeBytes, 1<<31-1)), part: make([][]int32, awari.MaxSeeds+1)}
	g.nodes = allocate[node](g.limit)[:0] // the system gives memory when it is touched
	g.values = allocate[value](g.limit)[:0]
	g.marks = allocate[mark](g.limit)[:0]
	g.clear()
	return g
}

// clear forgets all nodes.
func (g *graph) clear() {
	g.nodes, g.values, g.marks = g.nodes[:0], g.values[:0], g.marks[:0]
	g.index = make([]int32, 1024)
	g.entered = false
	for n := range g.active {
		g.active[n], g.dirty[n] = g.active[n][:0], false
	}
}

// begin forgets what belongs to the search before, but no node.
func (g *graph) begin() {
	g.counter, g.entered, g.rounds, g.attempts, g.spent = counter{}, false, 0, 0, [2]uint64{}
	g.published, g.reported = knowledge{}, 0
}

// room forgets all nodes if they have half of the memory: what was found out before is kept as
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

// slot returns the place of a position in the index.
func (g *graph) slot(p position) *int32 {
	mask := len(g.index) - 1
	for i := int(mix(p)) & mask; ; i = (i + 1) & mask {
		if id := g.index[i]; id == 0 || g.nodes[id-1].at == p {
			return &g.index[i]
		}
	}
}

// mix hashes a position.
func mix(p position) uint64 {
	const odd, mix = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
	h := (p.own ^ bits.RotateLeft64(p.other*odd, 29)) * mix
	return (h ^ h>>32) * mix >> 8
}

// node returns the node of a position with n seeds and some moves, a new one if there is none.
func (g *graph) node(p position, n int, moves *plays) int32 {
	slot := g.slot(p)
	if *slot != 0 {
		return *slot - 1
	}
	id := int32(len(g.nodes))
	*slot = id + 1
	g.counter.nodes++
	g.nodes = append(g.nodes, node{at: p, seeds: uint8(n)})
	g.marks = append(g.marks, mark{})
	g.values = append(g.values, g.appraise(&g.nodes[id], moves))
	if 2*len(g.nodes) > len(g.index) {
		g.grow()
	}
	return id
}

// grow doubles the index.
func (g *graph) grow() {
	g.index = allocate[int32](2 * len(g.index))
	for id := range g.nodes {
		*g.slot(g.nodes[id].at) = int32(id + 1)
	}
}

// appraise returns what is known of a new node: from its captures into solved layers, and
// from the transposition table. Without other moves the score is known.
func (g *graph) appraise(d *node, moves *plays) value {
	n := int(d.seeds)
	v := value{best: noPit, replies: int8(bits.OnesCount8(moves.legal))}
	taken, open, least, estimate := noScore, moves.quiet != 0, -n, -n
	if open {
		estimate = g.mover.quiet(d.at, n)
	}
	if moves.legal == 0 {
		taken = -n
	}
	for pits := moves.legal &^ moves.quiet; pits != 0; pits &= pits - 1 {
		pit := bits.TrailingZeros8(pits)
		captured := int(moves.captured[pit])
		if left := n - captured; left <= g.solved {
			taken = max(taken, captured-g.score(moves.children[pit], left, &g.counter))
		} else {
			open = true
			least = max(least, captured-left)
			estimate = max(estimate, captured-g.guess(moves.children[pit], left))
		}
	}
	known := interval{max(least, taken), n}
	if !open {
		known.upper = taken
	}
	estimate = max(estimate, taken)
	if s, ok := g.stored.find(g.mover.code(d.at, n)); ok {
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
	v.low, v.high = v.lower, v.upper
	return v
}

// guess follows captures only.
func (g *graph) guess(p position, n int) int {
	var moves plays
	g.mover.plays(p, n, &moves)
	best := -n
	if moves.quiet != 0 {
		best = g.mover.quiet(p, n)
	}
	for pits := moves.legal &^ moves.quiet; pits != 0; pits &= pits - 1 {
		pit := bits.TrailingZeros8(pits)
		captured := int(moves.captured[pit])
		left := n - captured
		if left <= g.solved {
			best = max(best, captured-g.score(moves.children[pit], left, &g.counter))
		} else {
			best = max(best, captured-g.guess(moves.children[pit], left))
		}
	}
	return best
}

// expand adds the moves of a node. It fails when there is no room.
func (g *graph) expand(id int32) (ok bool) {
	if len(g.nodes)+awari.MaxPits/2 > g.limit {
		return false
	}
	n := int(g.nodes[id].seeds)
	var moves plays
	g.mover.plays(g.nodes[id].at, n, &moves)
	g.fetch(&moves, n)
	for pits := moves.legal; pits != 0; pits &= pits - 1 {
		pit := bits.TrailingZeros8(pits)
		captured := moves.captured[pit]
		if left := n - int(captured); left > g.solved {
			child := g.node(moves.children[pit], left, &g.ahead[pit])
			d := &g.nodes[id]
			d.next[pit], d.captured[pit] = child, captured
		}
	}
	g.nodes[id].expanded = true
	g.active[n] = append(g.active[n], id)
	g.dirty[n] = true
	g.counter.expanded++
	v := &g.values[id]
	low, high, estimate, best := g.back(&g.nodes[id])
	v.lower, v.upper = max(v.lower, low), min(v.upper, high)
	v.low, v.high = v.lower, v.upper
	v.estimate, v.best = max(v.lower, min(v.upper, estimate)), best
	return true
}

// fetch plays ahead after some moves of a position with n seeds, and loads what their nodes are going to need: so memory is
// waited for once, and not by one node after the other.
func (g *graph) fetch(moves *plays, n int) {
	loaded := uint64(0)
	mask := len(g.index) - 1
	for pits := moves.legal; pits != 0; pits &= pits - 1 {
		pit := bits.TrailingZeros8(pits)
		if left := n - int(moves.captured[pit]); left > g.solved {
			child := moves.children[pit]
			loaded ^= uint64(g.index[int(mix(child))&mask])
			bucket, _ := g.stored.place(g.mover.code(child, left))
			loaded ^= bucket[0].Load()
		}
	}
	for pits := moves.legal; pits != 0; pits &= pits - 1 {
		pit := bits.TrailingZeros8(pits)
		left := n - int(moves.captured[pit])
		if left <= g.solved || *g.slot(moves.children[pit]) != 0 {
			continue
		}
		next := &g.ahead[pit]
		g.mover.plays(moves.children[pit], left, next)
		for pits := next.legal &^ next.quiet; pits != 0; pits &= pits - 1 {
			pit := bits.TrailingZeros8(pits)
			if left := left - int(next.captured[pit]); left <= g.solved {
				score, _ := g.blocks.peek(left, g.mover.rank(next.children[pit]))
				loaded ^= uint64(score)
			}
		}
	}
	g.loaded = loaded
}

// back returns what follows for a node from what is known of its children.
func (g *graph) back(d *node) (low, high, estimate, best int8) {
	low, high, estimate, best = d.taken, d.taken, d.taken, noPit
	for pit, child := range d.next {
		if child == noNode {
			continue
		}
		v, captured := &g.values[child], d.captured[pit]
		low, high = max(low, captured-v.high), max(high, captured-v.low)
		if x := captured - v.estimate; x > estimate {
			estimate, best = x, int8(pit)
		}
	}
	return low, high, estimate, best
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
		if d := &g.nodes[x.node]; d.expanded && !g.values[x.node].exact() {
			g.part[d.seeds] = append(g.part[d.seeds], x.node)
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

// solveList iterates over nodes with as many seeds, the newest first, until nothing
// changes: layers below are done. Scores begin at 0, or at what is proven beyond it.
func (g *graph) solveList(list []int32) bool {
	for _, id := range list {
		v := &g.values[id]
		v.low, v.high = max(0, v.lower), min(0, v.upper)
		v.estimate = max(v.lower, min(v.upper, 0))
		v.best = noPit
	}
	for sweep := 0; ; sweep++ {
		proven, guessed := g.sweep(list)
		if g.stop.Load() && (proven || guessed) {
			g.restore(list)
			return false
		}
		if !proven && (!guessed || sweep > mostSweeps) {
			return true
		}
	}
}

// mostSweeps bounds the iteration of estimates, which may be endless.
const mostSweeps = 100

// sweep recomputes all nodes of a list. It reports whether bounds, or estimates, have changed.
func (g *graph) sweep(list []int32) (proven, guessed bool) {
	g.counter.swept += uint64(len(list))
	for i := len(list) - 1; i >= 0; i-- {
		v := &g.values[list[i]]
		low, high, estimate, best := g.back(&g.nodes[list[i]])
		low, high = max(low, v.lower), min(high, v.upper)
		if low != v.low || high != v.high {
			v.low, v.high, proven = low, high, true
		}
		if estimate = max(v.lower, min(v.upper, estimate)); estimate != v.estimate {
			v.estimate, v.best, guessed = estimate, best, true
		}
	}
	return proven, guessed
}

// restore forgets an iteration that has not ended.
func (g *graph) restore(list []int32) {
	for _, id := range list {
		v := &g.values[id]
		v.low, v.high = v.lower, v.upper
	}
}

// settle takes the bounds of an iteration that has ended as proven, and stores what is new.
func (g *graph) settle(list []int32, n int) {
	for _, id := range list {
		v := &g.values[id]
		if v.low > v.lower || v.high < v.upper {
			v.lower, v.upper = max(v.lower, v.low), min(v.upper, v.high)
			for above := n + 1; above <= awari.MaxSeeds; above++ {
				g.dirty[above] = true
			}
			g.stored.learn(g.mover.code(g.nodes[id].at, n), interval{int(v.lower), int(v.upper)}, int(v.best))
		}
		v.low, v.high = v.lower, v.upper
		v.estimate = max(v.lower, min(v.upper, v.estimate))
	}
}

// knowledge is what is proven of the boards after each move.
type knowledge [awari.MaxPits / 2][2]int8

// known returns what is proven.
func (g *graph) known() (k knowledge) {
	for pit, id := range g.roots {
		if id != noNode {
			k[pit] = [2]int8{g.values[id].lower, g.values[id].upper}
		}
	}
	return k
}
