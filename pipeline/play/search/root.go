package search

import (
	"cmp"
	"slices"
	"time"

	"grenier/layers/awari"
)

// root is the search of one board. The board itself is not on the path: what is
// proven of its moves then holds whatever was played before.
type root struct {
	*Engine
	limits  Limits
	start   time.Time
	result  Result
	plays   [awari.MaxPits / 2]awari.Play
	order   []int                    // legal pits, in the order to be tried
	doubt   doubt                    // about the board
	doubts  [awari.MaxPits / 2]doubt // about the boards after each move
	proving uint64                   // effort of proofs
	// variations are what is expected after each move.
	variations [awari.MaxPits / 2][]int8
}

func newRoot(e *Engine, b awari.Board, l Limits) *root {
	r := &root{Engine: e, limits: l, start: time.Now(), plays: e.game.Plays(b)}
	if l.Depth <= 0 || l.Depth > MaxDepth {
		r.limits.Depth = MaxDepth
	}
	n := b.Seeds()
	r.result = Result{Board: b, Seeds: n, Best: -1, Lower: -n, Upper: n}
	pits, count := e.order.moves(&b, &r.plays, 0, -1)
	for _, pit := range pits[:count] {
		r.order = append(r.order, int(pit))
	}
	for pit := range e.game.Half() {
		m, play := &r.result.Moves[pit], &r.plays[pit]
		m.Pit = pit
		if play.Legal {
			left := n - play.Captured
			m.Legal, m.Captured, m.Child = true, play.Captured, play.Child
			m.Lower, m.Upper, m.Estimate = play.Captured-left, n, play.Captured
		}
	}
	return r
}

// run searches deeper and deeper.
func (r *root) run() {
	if len(r.order) == 0 {
		score := r.game.Terminal(r.result.Board)
		r.result.Lower, r.result.Upper, r.result.Estimate = score, score, score
		return
	}
	r.result.Best = r.order[0]
	for depth := 1; depth <= r.limits.Depth && !r.closed() && !r.stop.Load(); depth++ {
		if r.iterate(depth) {
			r.result.Depth = depth
		}
		r.summarize()
		r.prove()
		r.report()
	}
	r.result.Line = r.line()
}

// report reports progress.
func (r *root) report() {
	r.result.Nodes, r.result.TableHits, r.result.StoredHits = r.nodes, r.tableHits, r.storedHits
	r.result.Elapsed = time.Since(r.start)
	if r.limits.Progress != nil {
		r.limits.Progress(r.result)
	}
}

// closed says that there is nothing left to find out.
func (r *root) closed() bool {
	if !r.limits.AllMoves || len(r.order) == 0 {
		return r.result.Exact()
	}
	for _, pit := range r.order {
		if m := &r.result.Moves[pit]; m.Lower < m.Upper {
			return false
		}
	}
	return true
}

// iterate searches all moves to a depth. It reports whether it came to the end.
func (r *root) iterate(depth int) bool {
	v := visit{
		board: &r.result.Board, plays: &r.plays, seeds: r.result.Seeds, at: place{ply: 0, layer: 1}, depth: depth,
		alpha: r.result.Lower - 1, beta: r.result.Upper + 1,
	}
	if r.limits.AllMoves {
		v.alpha, v.beta = -r.result.Seeds-1, r.result.Seeds+1
	}
	best := v.alpha
	for _, pit := range r.order {
		m := &r.result.Moves[pit]
		if m.Lower < m.Upper && (r.limits.AllMoves || m.Upper > r.result.Lower) {
			alpha := best
			if r.limits.AllMoves {
				alpha = v.alpha
			}
			if !r.search(&v, m, alpha, best == v.alpha) {
				return false
			}
		}
		if m.Estimate > best {
			best = m.Estimate
			r.result.Best = pit
		}
	}
	slices.SortStableFunc(r.order, func(i, j int) int {
		return cmp.Or(boolOrder(j == r.result.Best, i == r.result.Best), r.result.Moves[j].Estimate-r.result.Moves[i].Estimate)
	})
	return true
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// search searches a move. It reports whether it came to the end.
func (r *root) search(v *visit, m *Move, alpha int, first bool) bool {
	o := r.follow(v, m.Pit, alpha, first || r.limits.AllMoves)
	if r.stop.Load() {
		return false
	}
	known := interval{m.Lower, m.Upper}.both(interval{m.Captured - o.sure.upper, m.Captured - o.sure.lower})
	m.Lower, m.Upper = known.lower, known.upper
	m.Estimate = known.clamp(m.Captured - o.estimate)
	r.variations[m.Pit] = append(r.variations[m.Pit][:0], r.lines.at(1)...)
	return true
}

// summarize says of the board what is known of its moves.
func (r *root) summarize() {
	known := interval{-r.result.Seeds, -r.result.Seeds}
	for _, pit := range r.order {
		m := &r.result.Moves[pit]
		known.lower, known.upper = max(known.lower, m.Lower), max(known.upper, m.Upper)
	}
	r.result.Lower, r.result.Upper = known.lower, known.upper
	if r.result.Exact() {
		r.preferProven()
	}
	r.result.Estimate = known.clamp(r.result.Moves[r.result.Best].Estimate)
}

// preferProven has the best move be one that is proven to reach the score.
func (r *root) preferProven() {
	if r.result.Moves[r.result.Best].Lower == r.result.Lower {
		return
	}
	for _, pit := range r.order {
		if r.result.Moves[pit].Lower == r.result.Lower {
			r.result.Best = pit
			return
		}
	}
}

// line returns the principal variation: what the search kept of it, and then the
// best moves of the transposition table.
func (r *root) line() []int {
	line := []int{r.result.Best}
	for _, pit := range r.variations[r.result.Best] {
		line = append(line, int(pit))
	}
	b := r.result.Board
	seen := map[awari.Board]bool{}
	for i := 0; b.Seeds() > r.solved && len(line) < MaxDepth && !seen[b]; i++ {
		if i == len(line) {
			s := r.stored.find(&b)
			if s == nil || s.pit < 0 || !r.game.Plays(b)[s.pit].Legal {
				break
			}
			line = append(line, int(s.pit))
			seen[b] = true
		}
		b = r.game.Plays(b)[line[i]].Child
	}
	return line
}
