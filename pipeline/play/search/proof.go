package search

import (
	"math"
	"math/bits"

	"grenier/layers/awari"
)

// proof answers one question: can the attacker, one of the two players, be worth
// target or more, target > 0, from a board with a given number of seeds? Endless
// play does not help him, so this is a question of reaching something: a board is
// won for him if he can capture his way to the target, or play a quiet move to a
// board that is won, or if the defender must.
//
// It is answered on the graph of boards with as many seeds, not on a tree, so that
// play in circles costs nothing: boards count as not won until they are found to be
// won, which is then propagated to the boards that depend on them; the rest is not
// won. Of the defender only the move that he relies on is followed.
// This is the local algorithm of Liu and Smolka, "Simple linear-time algorithms for
// minimal fixed points" (1998).
//
// What captures lead to comes from the tables or, above them, from proofs in lower
// layers.
type proof struct {
	e      *Engine
	seeds  int
	target int

	nodes []proofNode
	edges []proofEdge
	index []proofSlot // by hash; a power of two
	now   uint32      // of this question: slots of others are empty
	fresh int         // nodes from here on are not expanded yet
	queue []int32     // nodes to visit again
}

// proofNode is a board.
type proofNode struct {
	board   awari.Board
	attacks bool // the attacker is to move
	won     bool
	settled bool  // nothing is left to expand
	asked   bool  // captures are done
	relied  int8  // pit that the defender relies on, noPit if there is none yet
	waiting int32 // first edge to a node that waits for the outcome, noEdge if there is none
}

// proofEdge is an entry in a list of nodes.
type proofEdge struct{ node, next int32 }

// proofSlot names a node.
type proofSlot struct {
	question uint32
	node     int32
}

const (
	noPit  = -1
	noEdge = -1
)

// proofBytes is the most memory that a node takes with its edges and slots, arrays
// that have just grown included.
const proofBytes = 200

// wins answers the question for a board. decided is the move that decides where the
// board is won and the attacker is to move, or not won and the defender is; noPit
// otherwise. ok is false when the budget is spent or the search is to stop.
func (p *proof) wins(b awari.Board, attacks bool, target int) (won bool, decided int, ok bool) {
	p.start(b.Seeds(), target)
	defer p.trim()
	root, ok := p.node(&b, attacks)
	for ok && !p.nodes[root].won {
		switch {
		case len(p.queue) > 0:
			last := len(p.queue) - 1
			id := p.queue[last]
			p.queue = p.queue[:last]
			ok = p.look(id)
		case p.fresh < len(p.nodes):
			p.fresh++
			ok = p.look(int32(p.fresh - 1))
		default:
			p.keep(true)
			return false, int(p.nodes[root].relied), true
		}
	}
	if !ok {
		p.keep(false)
		return false, noPit, false
	}
	p.keep(false)
	return true, int(p.nodes[root].relied), true
}

// start forgets everything but the memory.
func (p *proof) start(seeds, target int) {
	p.seeds, p.target = seeds, target
	p.nodes, p.edges, p.queue, p.fresh = p.nodes[:0], p.edges[:0], p.queue[:0], 0
	if p.now++; p.now == 0 || p.index == nil {
		p.index = make([]proofSlot, max(1024, len(p.index)))
		p.now = 1
	}
}

// node returns the node of a board, a new one if there is none. It fails when the
// budget is spent.
func (p *proof) node(b *awari.Board, attacks bool) (id int32, ok bool) {
	slot := p.find(b, attacks)
	if slot.question == p.now {
		return slot.node, true
	}
	if p.e.budget <= 0 || p.e.stop.Load() {
		return 0, false
	}
	p.e.budget--
	p.e.nodes++
	n := proofNode{board: *b, attacks: attacks, relied: noPit, waiting: noEdge}
	id = int32(len(p.nodes))
	if id > 0 { // of the first one the move is wanted that decides
		p.consult(&n)
	}
	p.nodes = append(p.nodes, n)
	*slot = proofSlot{p.now, id}
	if 2*len(p.nodes) > len(p.index) {
		p.grow()
	}
	return id, true
}

// trim gives memory back after a large proof.
func (p *proof) trim() {
	if len(p.nodes) > p.e.mostNodes/8 {
		p.nodes, p.edges, p.index, p.queue = nil, nil, nil, nil
	}
}

// find returns the slot of a board, or the empty one where it belongs. A board that
// both players can have stands for two nodes.
func (p *proof) find(b *awari.Board, attacks bool) *proofSlot {
	mask := len(p.index) - 1
	for i := int(hash(b)>>(64-bits.Len(uint(mask)))) & mask; ; i = (i + 1) & mask {
		slot := &p.index[i]
		if slot.question != p.now {
			return slot
		}
		if n := &p.nodes[slot.node]; n.board == *b && n.attacks == attacks {
			return slot
		}
	}
}

// grow doubles the index.
func (p *proof) grow() {
	p.index = make([]proofSlot, 2*len(p.index))
	p.now = 1
	for id := range p.nodes {
		*p.find(&p.nodes[id].board, p.nodes[id].attacks) = proofSlot{p.now, int32(id)}
	}
}

// consult settles a node if the stored proofs decide it.
func (p *proof) consult(n *proofNode) {
	s := p.e.stored.find(&n.board)
	if s == nil {
		return
	}
	known := s.interval()
	if !n.attacks {
		known = interval{-known.upper, -known.lower}
	}
	n.won = known.lower >= p.target
	n.settled = n.won || known.upper < p.target
}

// look finds out whether a node is won, given what is known of others.
func (p *proof) look(id int32) (ok bool) {
	n := &p.nodes[id]
	if n.settled {
		return true
	}
	plays := p.e.game.Plays(n.board)
	first, attacks := !n.asked, n.attacks
	n.asked = true
	if first {
		if ok = p.capture(id, &plays); !ok || p.nodes[id].settled {
			return ok
		}
	}
	if attacks {
		return p.attack(id, &plays)
	}
	return p.defend(id, &plays)
}

// capture looks for a capture that settles a node: one that wins for the attacker,
// or one that does not lose for the defender.
func (p *proof) capture(id int32, plays *[awari.MaxPits / 2]awari.Play) (ok bool) {
	for pit := range plays {
		play := &plays[pit]
		if play.Captured == 0 {
			continue
		}
		bound := play.Captured + p.target // that the attacker needs as the next player
		if p.nodes[id].attacks {
			bound = play.Captured - p.target + 1 // that the defender needs
		}
		reached, ok := p.e.atLeast(&play.Child, p.seeds-play.Captured, bound)
		switch {
		case !ok:
			return false
		case !reached && p.nodes[id].attacks:
			p.win(id, pit)
			return true
		case !reached:
			p.nodes[id].relied, p.nodes[id].settled = int8(pit), true
			return true
		}
	}
	return true
}

// attack looks for a quiet move that wins. Afterwards the node is visited again when a
// board that it leads to is won.
func (p *proof) attack(id int32, plays *[awari.MaxPits / 2]awari.Play) (ok bool) {
	for pit := range plays {
		play := &plays[pit]
		if !play.Legal || play.Captured > 0 {
			continue
		}
		child, ok := p.node(&play.Child, false)
		if !ok {
			return false
		}
		if p.nodes[child].won {
			p.win(id, pit)
			return true
		}
		p.wait(id, child)
	}
	return true
}

// defend looks for a quiet move that does not lose, as far as is known, and relies on
// it until it is found to lose. Without one the node is won.
func (p *proof) defend(id int32, plays *[awari.MaxPits / 2]awari.Play) (ok bool) {
	var tried [awari.MaxPits / 2]bool
	for {
		pit := p.prefer(plays, &tried)
		if pit == noPit {
			p.win(id, noPit)
			return true
		}
		tried[pit] = true
		child, ok := p.node(&plays[pit].Child, true)
		if !ok {
			return false
		}
		if !p.nodes[child].won {
			p.nodes[id].relied = int8(pit)
			p.wait(id, child)
			return true
		}
	}
}

// prefer chooses a quiet move of the defender that was not tried, noPit when there is
// none. The choice decides whether the proof has ten boards or ten million, which cannot
// be predicted: so each attempt has an order of its own. The first one
// gives the attacker few seeds to play with.
func (p *proof) prefer(plays *[awari.MaxPits / 2]awari.Play, tried *[awari.MaxPits / 2]bool) (pit int) {
	pit, least := noPit, uint64(math.MaxUint64)
	for i := range plays {
		if tried[i] || !plays[i].Legal || plays[i].Captured > 0 {
			continue
		}
		rank := uint64(0)
		if p.e.attempt > 0 {
			rank = hash(&plays[i].Child) * (2*uint64(p.e.attempt) + 1) >> 1
		} else {
			for _, x := range plays[i].Child[:p.e.game.Half()] {
				rank += uint64(x)
			}
		}
		if rank < least {
			pit, least = i, rank
		}
	}
	return pit
}

// wait has a node visited again when a child is won.
func (p *proof) wait(id, child int32) {
	p.edges = append(p.edges, proofEdge{id, p.nodes[child].waiting})
	p.nodes[child].waiting = int32(len(p.edges) - 1)
}

// win marks a node as won, by a pit of the attacker, and queues the nodes that depend
// on it.
func (p *proof) win(id int32, pit int) {
	n := &p.nodes[id]
	n.won, n.settled, n.relied = true, true, int8(pit)
	for i := n.waiting; i != noEdge; i = p.edges[i].next {
		p.queue = append(p.queue, p.edges[i].node)
	}
}

// keep stores what was found out: about boards that are won, and if all is done
// about those that are not.
func (p *proof) keep(done bool) {
	for i := range p.nodes {
		n := &p.nodes[i]
		found := anything(p.seeds)
		switch {
		case n.won:
			found.lower = p.target
		case done:
			found.upper = p.target - 1
		default:
			continue
		}
		pit := int(n.relied)
		if !n.attacks {
			found = interval{-found.upper, -found.lower}
		}
		p.e.stored.learn(&n.board, found, pit)
	}
}

// atLeast reports whether the score of a board with n seeds is at least bound. ok is
// false when that is not found out.
func (e *Engine) atLeast(b *awari.Board, n, bound int) (reached, ok bool) {
	if bound <= -n || bound > n {
		return bound <= -n, true
	}
	if n <= e.solved {
		o := e.lookUp(b)
		return o.sure.lower >= bound, !e.stop.Load()
	}
	if s := e.stored.find(b); s != nil {
		if known := s.interval(); known.lower >= bound || known.upper < bound {
			return known.lower >= bound, true
		}
	}
	p := e.proofOf(n)
	if bound > 0 {
		reached, _, ok = p.wins(*b, true, bound)
		return reached, ok
	}
	lost, _, ok := p.wins(*b, false, 1-bound)
	return !lost, ok
}

// proofOf returns the memory for proofs in a layer.
func (e *Engine) proofOf(n int) *proof {
	if e.proofs[n] == nil {
		e.proofs[n] = &proof{e: e}
	}
	return e.proofs[n]
}
