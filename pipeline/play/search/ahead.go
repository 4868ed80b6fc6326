package search

import (
	"math/bits"
	"unsafe"

	"grenier/kernels/prefetch"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
)

// prepared is the moves of a node that is to be expanded.
type prepared struct {
	plays packed.Plays
	ahead [awari.MaxPits / 2]ahead // after each move that leads to another node
}

// ahead is the knowledge of a position before it is a node. It has no pointers: one to a score would keep a whole chunk
// of blocks from the garbage collector for as long as nobody needs this place again.
type ahead struct {
	hash   uint64
	code   uint64 // in the transposition table
	played bool   // the fields below are known
	plays  packed.Plays
	ranks  [awari.MaxPits / 2]uint64 // after captures into solved layers
}

// touch asks for the cache line where a variable begins.
func touch[T any](x *T) { prefetch.Line(unsafe.Pointer(x)) }

// prepare plays the moves of a node, and asks for the memory that expanding it uses: first for the places in the index and in
// the transposition table of the positions that they lead to, then for the positions after those.
func (g *graph) prepare(id int32) *prepared {
	to, d := &g.next, &g.nodes[id]
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
	g.lookBeyond(to, n)
	return to
}

// lookBeyond plays on after the moves of a position with n seeds that lead to new nodes, and asks for the others.
func (g *graph) lookBeyond(to *prepared, n int) {
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
