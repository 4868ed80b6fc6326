package search

import (
	"math/bits"

	"grenier/layers/awari"
	"grenier/layers/awari/packed"
)

// worker searches a tree.
type worker struct {
	*shared
	path    [maxPly + 1]packed.Board
	lines   variations
	counter counter
	most    uint64 // nodes, after which it asks all to end
	look    uint64 // nodes, after which it looks whether that is due
}

// lookEvery is how many positions are visited between two looks at the time.
const lookEvery = 256

// end asks all to end if the nodes or the time are over.
func (w *worker) end() {
	if w.counter.nodes >= w.most {
		w.stop.Store(true)
	}
	w.watch()
	w.look = min(w.most, w.counter.nodes+lookEvery)
}

// maxPly bounds the length of a path: after the last ply of depth every move
// captures two seeds or more, and one ply may stay for a board without moves.
const maxPly = MaxDepth + awari.MaxSeeds/2 + 1

// place says where on the path a position is.
type place struct {
	ply int
	// layer is the first ply since which no seed was captured.
	layer int
}

// next returns the place after a move.
func (p place) next(captured int) place {
	p.ply++
	if captured > 0 {
		p.layer = p.ply
	}
	return p
}

// outcome is a guess of the tree, for the player to move.
type outcome struct {
	estimate int
	// back is the first ply that a repetition below leads back to, nowhere if
	// there is none: then the estimate holds on every path.
	back int
}

// nowhere is beyond all plies.
const nowhere = maxPly + 1

// visit searches a position with n seeds between alpha and beta. When the search is
// asked to stop the outcome means nothing.
func (w *worker) visit(p packed.Board, n int, at place, depth, alpha, beta int) outcome {
	w.lines.clear(at.ply)
	if n <= w.solved {
		return outcome{w.score(p, n, &w.counter), nowhere}
	}
	if w.counter.nodes++; w.counter.nodes >= w.look {
		w.end()
	}
	w.path[at.ply] = p
	if ply := w.repeats(p, at); ply != nowhere {
		return outcome{0, ply}
	}
	v := visit{at: p, code: w.mover.code(p, n), seeds: n, place: at, depth: depth, alpha: alpha, beta: beta, proven: anything(n)}
	pit := noPit
	if s, ok := w.stored.find(v.code); ok {
		v.proven, pit = s.interval(), int(s.pit)
		if v.proven.settles(alpha, beta) || s.settles(depth, alpha, beta) {
			w.counter.storedHits++
			return outcome{v.proven.clamp(int(s.estimate)), nowhere}
		}
	}
	w.mover.Plays(p, &v.plays)
	if v.plays.Legal == 0 {
		return outcome{-n, nowhere}
	}
	w.ask(&v)
	v.order(pit)
	return w.expand(&v)
}

// ask asks for the memory that the moves of a position need: scores, and places in the transposition table.
func (w *worker) ask(v *visit) {
	pits := v.plays.Legal
	if v.depth == 0 {
		pits &^= v.plays.Quiet
	}
	for ; pits != 0; pits &= pits - 1 {
		pit := bits.TrailingZeros8(pits)
		child, left := v.plays.Children[pit], v.seeds-int(v.plays.Captured[pit])
		if left <= w.solved {
			touch(w.blocks.peek(left, w.mover.Rank(child)))
		} else {
			bucket, _ := w.stored.place(w.mover.code(child, left))
			touch(bucket)
		}
	}
}

// repeats returns the last ply at which the same player had the position, since the
// last capture, or nowhere.
func (w *worker) repeats(p packed.Board, at place) int {
	for ply := at.ply - 2; ply >= at.layer; ply -= 2 {
		if w.path[ply] == p {
			return ply
		}
	}
	return nowhere
}

// visit is a position whose moves are being searched.
type visit struct {
	at          packed.Board
	code        uint64
	plays       packed.Plays
	pits        [awari.MaxPits / 2]int8 // legal moves, in the order to be tried
	count       int
	seeds       int
	place       place
	depth       int
	alpha, beta int
	proven      interval
}

// expand searches the moves of a position.
func (w *worker) expand(v *visit) outcome {
	o, best := outcome{-v.seeds, nowhere}, int(v.pits[0])
	if v.depth == 0 && v.plays.Quiet != 0 {
		o.estimate = w.mover.quiet(v.at, v.seeds)
	}
	for i := 0; i < v.count && o.estimate < v.beta; i++ {
		pit := int(v.pits[i])
		captured := int(v.plays.Captured[pit])
		if v.depth == 0 && captured == 0 {
			continue
		}
		child := w.follow(v, pit, max(v.alpha, o.estimate))
		if w.stop.Load() {
			return o
		}
		o.back = min(o.back, child.back)
		if estimate := captured - child.estimate; estimate > o.estimate {
			o.estimate, best = estimate, pit
			w.lines.set(v.place.ply, pit)
		}
	}
	return w.conclude(v, o, best)
}

// follow searches a move that must give more than alpha.
func (w *worker) follow(v *visit, pit, alpha int) outcome {
	captured := int(v.plays.Captured[pit])
	return w.visit(v.plays.Children[pit], v.seeds-captured, v.place.next(captured), max(0, v.depth-1), captured-v.beta, captured-alpha)
}

// conclude stores the outcome, the estimate only if it holds on every path: then no repetition
// below leads back to before the position.
func (w *worker) conclude(v *visit, o outcome, best int) outcome {
	if w.stop.Load() {
		return o
	}
	if o.back >= v.place.ply {
		o.back = nowhere
	}
	o.estimate = v.proven.clamp(o.estimate)
	s := entry{
		lower: int8(v.proven.lower), upper: int8(v.proven.upper), estimate: int8(o.estimate), depth: uint8(v.depth), pit: int8(best),
	}
	if o.back == nowhere {
		s.bound = v.compare(o.estimate)
	}
	w.stored.put(v.code, s)
	return o
}

// compare says how the result of a search between alpha and beta bounds the score.
func (v *visit) compare(estimate int) bound {
	switch {
	case estimate >= v.beta:
		return atLeast
	case estimate <= v.alpha:
		return atMost
	}
	return equal
}
