package search

import (
	"math/bits"
	"unsafe"

	"grenier/kernels/prefetch"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
)

// pipe prepares nodes of the queue before their turn: each step asks for the memory that the next one uses, and that comes
// while other nodes are dealt with.
type pipe struct {
	touched, played, looked int // goals of the queue that have passed each step
	ring                    [pipeSize]prepared
}

// How many goals ahead of the one at hand the steps are. The ring has room for those that were played.
const (
	touchAhead = 12
	playAhead  = 6
	lookAhead  = 3
	pipeSize   = 8
)

// prepared is a node that may be expanded, and its moves.
type prepared struct {
	node  int32 // noNode if it is expanded already
	plays packed.Plays
	ahead [awari.MaxPits / 2]ahead // after each move that leads to another node
}

// ahead is what is found out about a position before it is a node. It has no pointers: one to a score would keep a whole chunk
// of blocks from the garbage collector for as long as nobody needs this place again.
type ahead struct {
	hash   uint64
	code   uint64 // that of the transposition table
	played bool   // what follows is known
	plays  packed.Plays
	ranks  [awari.MaxPits / 2]uint64 // after captures into solved layers
}

// begin is for a new queue.
func (p *pipe) begin() { p.touched, p.played, p.looked = 0, 0, 0 }

// prepare has all steps go on for the goal i of the queue, and returns its node.
func (g *graph) prepare(i int) *prepared {
	p := &g.pipe
	for end := min(len(g.queue), i+touchAhead); p.touched < end; p.touched++ {
		id := g.queue[p.touched].node
		touch(&g.nodes[id].at)
		touch(&g.nodes[id].expanded)
		touch(&g.values[id])
	}
	for end := min(len(g.queue), i+playAhead); p.played < end; p.played++ {
		g.playMoves(g.queue[p.played].node, &p.ring[p.played%pipeSize])
	}
	for end := min(len(g.queue), i+lookAhead); p.looked < end; p.looked++ {
		g.lookBeyond(&p.ring[p.looked%pipeSize])
	}
	return &p.ring[i%pipeSize]
}

// touch asks for the cache line where a variable begins.
func touch[T any](x *T) { prefetch.Line(unsafe.Pointer(x)) }

// playMoves plays the moves of a node, and asks for the places in the index and in the transposition table of the positions that they lead to.
func (g *graph) playMoves(id int32, to *prepared) {
	d := &g.nodes[id]
	if to.node = noNode; d.expanded {
		return
	}
	to.node = id
	n := int(d.seeds)
	g.mover.Plays(d.at, &to.plays)
	for pits := to.plays.Legal; pits != 0; pits &= pits - 1 {
		pit := bits.TrailingZeros8(pits)
		if left := n - int(to.plays.Captured[pit]); left > g.solved {
			child, next := to.plays.Children[pit], &to.ahead[pit]
			next.hash, next.code, next.played = mix(child), g.mover.code(child, left), false
			touch(&g.index[home(next.hash)&(len(g.index)-1)])
			bucket, _ := g.stored.place(next.code)
			touch(bucket)
		}
	}
}

// lookBeyond plays on after the moves that lead to new nodes, and asks for the others.
func (g *graph) lookBeyond(to *prepared) {
	if to.node == noNode {
		return
	}
	n := int(g.nodes[to.node].seeds)
	for pits := to.plays.Legal; pits != 0; pits &= pits - 1 {
		pit := bits.TrailingZeros8(pits)
		left := n - int(to.plays.Captured[pit])
		if left <= g.solved {
			continue
		}
		if id := g.seems(to.ahead[pit].hash); id == noNode {
			g.look(to.plays.Children[pit], left, &to.ahead[pit])
		} else {
			touch(&g.nodes[id].at)
			touch(&g.values[id])
		}
	}
}

// look plays the moves of a position with n seeds, and asks for the scores after its captures, if they are in memory.
func (g *graph) look(p packed.Board, n int, to *ahead) {
	to.played = true
	g.mover.Plays(p, &to.plays)
	for pits := to.plays.Legal &^ to.plays.Quiet; pits != 0; pits &= pits - 1 {
		pit := bits.TrailingZeros8(pits)
		if left := n - int(to.plays.Captured[pit]); left <= g.solved {
			to.ranks[pit] = g.mover.Rank(to.plays.Children[pit])
			touch(g.blocks.peek(left, to.ranks[pit]))
		}
	}
}
