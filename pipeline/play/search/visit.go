package search

import "grenier/layers/awari"

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

// visit searches a board with n seeds between alpha and beta. When the search is
// asked to stop the outcome means nothing.
func (e *Engine) visit(b *awari.Board, n int, at place, depth, alpha, beta int) outcome {
	e.nodes++
	e.lines.clear(at.ply)
	if n <= e.solved {
		return e.lookUp(b)
	}
	e.path[at.ply] = *b
	if ply := e.repeats(b, at); ply != nowhere {
		return again(n, ply)
	}
	before, pit := anything(n), -1
	if s := e.stored.find(b); s != nil {
		before, pit = s.interval(), int(s.pit)
		if before.settles(alpha, beta) || s.settles(depth, alpha, beta) {
			e.storedHits++
			return known(int(s.estimate), before)
		}
	}
	plays := e.game.Plays(*b)
	v := visit{board: b, plays: &plays, seeds: n, at: at, depth: depth, alpha: alpha, beta: beta, before: before}
	v.pits, v.count = e.order.moves(b, &plays, at.ply, pit)
	if v.count == 0 {
		score := e.game.Terminal(*b)
		return known(score, interval{score, score})
	}
	return e.expand(&v)
}

// lookUp returns the outcome of a solved board. The transposition table keeps scores
// too: to read one of a high layer takes as long as to visit hundreds of positions.
func (e *Engine) lookUp(b *awari.Board) outcome {
	e.tableHits++
	if s := e.stored.find(b); s != nil {
		return known(int(s.estimate), s.interval())
	}
	e.reads++
	score, err := e.scores.Score(*b)
	if err != nil {
		e.err = err
		e.stop.Store(true)
		return known(0, anything(b.Seeds()))
	}
	e.stored.put(entry{
		board: *b, lower: score, upper: score, estimate: score, bound: equal, depth: lookUpDepth, pit: -1,
	})
	return known(int(score), interval{int(score), int(score)})
}

// lookUpDepth is the depth of a search that takes about as long as to read a score.
const lookUpDepth = 6

// repeats returns the last ply at which the same player had the board, since the
// last capture, or nowhere.
func (e *Engine) repeats(b *awari.Board, at place) int {
	for ply := at.ply - 2; ply >= at.layer; ply -= 2 {
		if e.path[ply] == *b {
			return ply
		}
	}
	return nowhere
}

// visit is a position whose moves are being searched.
type visit struct {
	board       *awari.Board
	plays       *[awari.MaxPits / 2]awari.Play
	pits        [awari.MaxPits / 2]int8 // legal moves, in the order to be tried
	count       int
	seeds       int
	at          place
	depth       int
	alpha, beta int
	before      interval // known on every path
}

// expand searches the moves of a position.
func (e *Engine) expand(v *visit) outcome {
	o := outcome{
		estimate: -v.seeds, here: interval{-v.seeds, -v.seeds}, sure: interval{-v.seeds, -v.seeds}, back: nowhere,
	}
	best, all := int(v.pits[0]), true
	if v.depth == 0 && v.quiet() {
		all, o.estimate = false, 0
	}
	for i := range v.count {
		if o.estimate >= v.beta || o.here.lower >= v.beta {
			all = false
			break
		}
		pit := int(v.pits[i])
		captured := v.plays[pit].Captured
		if v.depth == 0 && captured == 0 {
			continue
		}
		child := e.follow(v, pit, max(v.alpha, o.estimate), i == 0)
		if e.stop.Load() {
			return o
		}
		o.here.improve(captured, child.here)
		o.sure.improve(captured, child.sure)
		o.back = min(o.back, child.back)
		if estimate := captured - child.estimate; estimate > o.estimate {
			o.estimate, best = estimate, pit
			e.lines.set(v.at.ply, pit)
		}
		if captured == 0 && o.estimate >= v.beta {
			e.order.cut(v.board, v.at.ply, pit, v.depth)
		}
	}
	if !all {
		o.here.upper, o.sure.upper = v.seeds, v.seeds
	}
	return e.conclude(v, o, best)
}

// quiet reports whether a move captures nothing.
func (v *visit) quiet() bool {
	for _, pit := range v.pits[:v.count] {
		if v.plays[pit].Captured == 0 {
			return true
		}
	}
	return false
}

// follow searches a move: with a null window unless it is the first one, and again
// if it turns out to be better than alpha.
func (e *Engine) follow(v *visit, pit, alpha int, first bool) outcome {
	play := &v.plays[pit]
	captured, n := play.Captured, v.seeds-play.Captured
	at, depth := v.at.next(captured), max(0, v.depth-1)
	if first || v.beta-alpha <= 1 {
		return e.visit(&play.Child, n, at, depth, captured-v.beta, captured-alpha)
	}
	o := e.visit(&play.Child, n, at, depth, captured-alpha-1, captured-alpha)
	if estimate := captured - o.estimate; estimate <= alpha || estimate >= v.beta || e.stop.Load() {
		return o
	}
	return o.and(e.visit(&play.Child, n, at, depth, captured-v.beta, captured-alpha))
}

// conclude puts together what is known about a position, and stores what holds on
// every path.
func (e *Engine) conclude(v *visit, o outcome, best int) outcome {
	o.here, o.sure = o.here.both(v.before), o.sure.both(v.before)
	o.whole(v.at.ply)
	o.estimate = o.here.clamp(o.estimate)
	s := entry{
		board: *v.board, lower: int8(o.sure.lower), upper: int8(o.sure.upper), estimate: int8(o.estimate),
		depth: uint8(v.depth), pit: int8(best),
	}
	if o.back == nowhere {
		s.bound = v.compare(o.estimate)
	}
	e.stored.put(s)
	return o
}

// compare says what a search between alpha and beta means for its result.
func (v *visit) compare(estimate int) bound {
	switch {
	case estimate >= v.beta:
		return atLeast
	case estimate <= v.alpha:
		return atMost
	}
	return equal
}
