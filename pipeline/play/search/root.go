package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"grenier/io/crew"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
	"grenier/pipeline/job"
)

// root is the search of one board. The board itself is not on the path of a worker: what is
// proven of its moves then holds whatever was played before.
type root struct {
	*Engine
	limits Limits
	start  time.Time
	plays  packed.Plays
	first  []int // legal pits, in the first order
	// endless says that there is no limit of depth.
	endless bool
	quota   uint64 // of nodes, for each worker and for the graph; for all together if they take turns

	mu     sync.Mutex // guards what follows
	order  []int      // legal pits, in the order to be tried
	result Result
	// variations are the expected lines after each move.
	variations [awari.MaxPits / 2][]int8
	done       []counter // of each worker, and last of the graph
}

func newRoot(e *Engine, b awari.Board, l Limits) *root {
	r := &root{Engine: e, limits: l, start: time.Now(), done: make([]counter, len(e.workers)+1), endless: l.Depth <= 0 || l.Depth > MaxDepth}
	if r.endless {
		r.limits.Depth = MaxDepth
	}
	if r.quota = math.MaxUint64; l.Nodes > 0 && e.alone {
		r.quota = l.Nodes
	} else if l.Nodes > 0 {
		r.quota = max(1, l.Nodes/uint64(len(r.done)))
	}
	n := b.Seeds()
	r.result = Result{Board: b, Seeds: n, Best: -1, Value: Value{Lower: -n, Upper: n}}
	r.mover.Plays(e.mover.Pack(b), &r.plays)
	for _, w := range e.workers {
		w.counter, w.most, w.look = counter{}, r.quota, 0
	}
	e.graph.begin()
	v := visit{at: e.mover.Pack(b), plays: r.plays}
	v.order(noPit)
	for _, pit := range v.pits[:v.count] {
		r.order = append(r.order, int(pit))
	}
	r.first = slices.Clone(r.order)
	for pit := range e.game.Half() {
		r.result.Moves[pit].Pit = pit
		if r.plays.Legal&(1<<pit) != 0 {
			m, captured := &r.result.Moves[pit], int(r.plays.Captured[pit])
			m.Legal, m.Captured, m.Child = true, captured, e.mover.Unpack(r.plays.Children[pit])
			m.Lower, m.Upper, m.Estimate = 2*captured-n, n, captured
		}
	}
	return r
}

// run searches until the score is known, the limits are reached, or the search is stopped.
func (r *root) run() error {
	if len(r.order) == 0 {
		score := r.game.Terminal(r.result.Board)
		r.result.Lower, r.result.Upper, r.result.Estimate = score, score, score
		return nil
	}
	r.result.Best = r.order[0]
	r.lookUp()
	var err error
	if r.alone || r.result.Seeds <= r.solved {
		r.deepen(r.share)
		for r.endless && !r.closed() && r.improve() {
		}
	} else {
		err = r.together()
	}
	r.publish(nil)
	r.result.Line = r.line()
	return cmp.Or(err, r.err)
}

// lookUp finds out about the moves into solved layers.
func (r *root) lookUp() {
	for _, pit := range r.first {
		m := &r.result.Moves[pit]
		if left := r.result.Seeds - m.Captured; left <= r.solved {
			score := m.Captured - r.score(r.plays.Children[pit], left, &r.workers[0].counter)
			if r.failed.Load() {
				return
			}
			m.Value = Value{score, score, score}
		}
	}
	r.publish(nil)
}

// together has the first worker search and report, others help it by way of the transposition
// table, and one goroutine solve the graph.
func (r *root) together() error {
	group, _ := crew.WithContext(context.Background())
	group.Go(func() error {
		r.deepen(func() {})
		if !r.endless {
			r.stop.Store(true)
		}
		return nil
	})
	for i := 1; i < len(r.workers); i++ {
		group.Go(func() error { r.help(i); return nil })
	}
	group.Go(func() error {
		for !r.closed() && r.improve() {
		}
		if r.closed() {
			r.stop.Store(true)
		}
		return nil
	})
	return group.Wait()
}

// deepen searches deeper and deeper, and calls between after each depth.
func (r *root) deepen(between func()) {
	for depth := 1; depth <= r.limits.Depth && !r.closed() && !r.stop.Load(); depth++ {
		if r.alone {
			r.workers[0].most, r.workers[0].look = r.quota-min(r.quota, r.graph.counter.nodes), 0
		}
		done := r.iterate(depth)
		r.publish(func() {
			if done {
				r.result.Depth = depth
			}
			r.done[0] = r.workers[0].counter
		})
		between()
	}
}

// share gives the graph three quarters of all effort.
func (r *root) share() {
	for !r.closed() && r.graph.counter.effort() < 3*r.workers[0].counter.effort() && r.improve() {
	}
}

// effort is about what was done, in visits of a tree.
func (c *counter) effort() uint64 { return c.nodes + 4*c.expanded + c.swept/8 }

// help searches like the first worker, beginning a ply deeper than the one before it.
func (r *root) help(i int) {
	w := r.workers[i]
	for depth := 1 + i%4; depth <= r.limits.Depth && !r.stop.Load(); depth++ {
		for _, pit := range r.first {
			v := r.visitOf(depth)
			v.alpha, v.beta = -v.seeds-1, v.seeds+1
			w.follow(&v, pit, v.alpha)
			if r.stop.Load() {
				break
			}
		}
		r.publish(func() { r.done[i] = w.counter })
	}
}

// publish changes the result, draws conclusions and reports progress, unless scores could not be read.
func (r *root) publish(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed.Load() {
		return
	}
	if change != nil {
		change()
	}
	r.summarize()
	var all counter
	for _, c := range r.done {
		all.add(c)
	}
	r.result.Nodes, r.result.TableHits, r.result.StoredHits = all.nodes, all.tableHits, all.storedHits
	r.result.Elapsed = time.Since(r.start)
	if r.result.Elapsed > 0 {
		r.result.NodesPerSecond = math.Round(float64(all.nodes) / r.result.Elapsed.Seconds())
	}
	if change != nil && r.job.Progress != nil && len(r.order) > 0 {
		r.result.Line = r.line()
		r.job.Tell(r.step())
	}
}

// step says how far the search is.
func (r *root) step() job.Step {
	now := r.result
	return job.Step{
		Doing: fmt.Sprintf("depth %d, %s", now.Depth, now.Text()), Done: float64(now.Depth), Total: MaxDepth, Limit: r.limits.Time, Detail: now,
		Pace: &job.Pace{Rate: now.NodesPerSecond, Layer: job.NoLayer, Run: job.Unknown},
	}
}

// closed says that there is nothing left to find out.
func (r *root) closed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
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

// visitOf is a visit of the board that is searched, to a depth.
func (r *root) visitOf(depth int) visit {
	return visit{plays: r.plays, seeds: r.result.Seeds, place: place{ply: 0, layer: 1}, depth: depth}
}

// move returns what is known of a move.
func (r *root) move(pit int) Move {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.result.Moves[pit]
}

// iterate searches all moves to a depth. It reports whether it came to the end.
func (r *root) iterate(depth int) bool {
	v := r.visitOf(depth)
	r.mu.Lock()
	lower, upper := r.result.Lower, r.result.Upper
	r.mu.Unlock()
	v.alpha, v.beta = lower-1, upper+1
	if r.limits.AllMoves {
		v.alpha, v.beta = -v.seeds-1, v.seeds+1
	}
	best, pitOfBest := v.alpha, noPit
	for _, pit := range r.order {
		m := r.move(pit)
		if m.Lower < m.Upper && (r.limits.AllMoves || m.Upper > lower) {
			alpha := best
			if r.limits.AllMoves {
				alpha = v.alpha
			}
			if !r.search(&v, pit, alpha) {
				return false
			}
			m = r.move(pit)
		}
		if m.Estimate > best {
			best, pitOfBest = m.Estimate, pit
			r.mu.Lock()
			r.result.Best = pit
			r.mu.Unlock()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortStableFunc(r.order, func(i, j int) int {
		return cmp.Or(boolOrder(j == pitOfBest, i == pitOfBest), r.result.Moves[j].Estimate-r.result.Moves[i].Estimate)
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
func (r *root) search(v *visit, pit, alpha int) bool {
	w := r.workers[0]
	o := w.follow(v, pit, alpha)
	if r.stop.Load() {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	m := &r.result.Moves[pit]
	m.know(interval{m.Lower, m.Upper}, m.Captured-o.estimate)
	r.variations[pit] = append(r.variations[pit][:0], w.lines.at(1)...)
	return true
}

// know adds what was found out about a move.
func (m *Move) know(proven interval, estimate int) {
	known := interval{m.Lower, m.Upper}.both(proven)
	m.Lower, m.Upper, m.Estimate = known.lower, known.upper, known.clamp(estimate)
}

// summarize says of the board what is known of its moves.
func (r *root) summarize() {
	known := interval{-r.result.Seeds, -r.result.Seeds}
	for _, pit := range r.order {
		m := &r.result.Moves[pit]
		known.lower, known.upper = max(known.lower, m.Lower), max(known.upper, m.Upper)
	}
	if len(r.order) == 0 {
		return
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
	p, n := r.mover.Pack(r.result.Board), r.result.Seeds
	seen := map[packed.Board]bool{}
	for i := 0; n > r.solved && len(line) < MaxDepth && !seen[p]; i++ {
		var moves packed.Plays
		r.mover.Plays(p, &moves)
		if i == len(line) {
			s, ok := r.stored.find(r.mover.code(p, n))
			if !ok || s.pit == noPit || moves.Legal&(1<<s.pit) == 0 {
				break
			}
			line = append(line, int(s.pit))
			seen[p] = true
		}
		p, n = moves.Children[line[i]], n-int(moves.Captured[line[i]])
	}
	return line
}
