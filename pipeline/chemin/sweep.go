package chemin

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"grenier/io/crew"
	"grenier/layers/chemin"
	"grenier/pipeline/internal/runs"
	"grenier/pipeline/job"
)

// sweep is one search through the layers, from the empty board on.
type sweep struct {
	board   *chemin.Board
	bounds  *bounds
	best    *incumbent
	workers int
	store   *runs.Store
	room    int64 // bytes for records at work

	// counting keeps all states that reach target and counts the orders to them; otherwise
	// the sweep looks for more than best, and keeps states that may get there and that no
	// other exceeds.
	counting bool
	target   uint32
	optimal  atomic.Uint64 // orders that reach target, if counting

	layer *run // the last complete one; nil before the first

	// width, if not 0, is the number of states of a layer that are kept, the most promising. Nothing is
	// proven then.
	width int
}

// incumbent is the best order so far.
type incumbent struct {
	score atomic.Uint32
	mu    sync.Mutex
	order []int
}

// offer takes an order if it is better.
func (i *incumbent) offer(b *chemin.Board, order []int) {
	score := slices.Max(play(b, order))
	i.mu.Lock()
	defer i.mu.Unlock()
	if score > i.score.Load() {
		i.score.Store(score)
		i.order = slices.Clone(order)
	}
}

// found returns the best order.
func (i *incumbent) found() []int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.order
}

func (s *sweep) layout(filled int) layout {
	if s.counting {
		return layout{filled, countWords}
	}
	return layout{filled, orderWords}
}

// run is a layer of a sweep.
type run struct {
	layout
	*runs.Run
}

// run goes on from s.layer, or from the start without one, to the end. reached is called for each new layer, and
// checkpoint, which may be nil without a directory, returns the contents of the checkpoint.
func (s *sweep) run(ctx context.Context, reached func(), checkpoint func() ([]byte, error)) error {
	search := &runs.Search{
		Job: job.Job{Workers: s.workers}, Store: s.store, Abreast: runs.Abreast(s.room / 2), // cursors get half of the room
		Step: s.step,
		Reached: func(next *runs.Run) bool {
			filled := 0
			if s.layer != nil {
				filled = s.layer.filled + 1
				s.store.Drop(s.layer.Run) // the next checkpoint does not need it
			}
			s.layer = &run{s.layout(filled), next}
			reached()
			return !s.ended()
		},
		Checkpoint: checkpoint,
	}
	if s.layer != nil {
		return search.Run(ctx, s.layer.Run)
	}
	l := s.layout(0)
	row := make([]uint32, l.stride())
	if s.counting {
		setCount(row[l.key():], 1)
	}
	first, err := s.store.One(row)
	if err != nil {
		return err
	}
	return search.Start(ctx, first)
}

// ended reports whether no layer follows.
func (s *sweep) ended() bool { return s.layer.N == 0 || s.layer.filled == s.board.Cells() }

// step fills one more cell in all states of a layer.
func (s *sweep) step(from *runs.Run) (*runs.Step, error) {
	l := s.layout(s.layer.filled + 1)
	step := &runs.Step{
		From: from, Chunk: chunk, Group: 1,
		Expand: func(_ int, out *runs.Output) runs.Expander { return s.newExpander(s.layer.layout, l, out) },
		Words:  l.stride(), Key: l.key(),
		Prune: func(out *runs.Writer, _ bool) (runs.Pruner, error) { return s.newThinner(l, out), nil },
	}
	if s.counting {
		step.Combine = func(row, other []uint32) { addCount(row[l.key():], other[l.key():]) }
	}
	return step, nil
}

// thinner drops states as they are merged. It looks at batches of them.
type thinner struct {
	*sweep
	layout
	out  *runs.Writer
	most int // records of a batch, about
	rows [][]uint32
	arena
}

func (s *sweep) newThinner(l layout, out *runs.Writer) *thinner {
	t := &thinner{sweep: s, layout: l, out: out, most: max(1, int(s.room/4/l.rowBytes()))}
	if s.width > 0 {
		t.most = int(^uint(0) >> 2) // a whole layer at once
	}
	return t
}

// Take takes a record into the batch: up to the most, and then the rest of those with the same
// filled cells, as far as these are no more than as many again.
func (t *thinner) Take(ctx context.Context, next []uint32) error {
	if n := len(t.rows); n >= 2*t.most || n >= t.most && t.rows[n-1][0] != next[0] {
		if err := t.End(ctx); err != nil {
			return err
		}
	}
	row := t.arena.take(t.stride())
	copy(row, next)
	t.rows = append(t.rows, row)
	return nil
}

// End writes the records of the batch that are kept.
func (t *thinner) End(ctx context.Context) error {
	rows, err := t.thinned(ctx, t.rows, t.layout, t.workers)
	if err != nil {
		return err
	}
	for _, row := range t.selected(rows) {
		if err := t.out.Add(row); err != nil {
			return err
		}
	}
	t.rows = t.rows[:0]
	t.arena.reset()
	return nil
}

// thinned drops each of sorted records that another with the same filled cells exceeds, with the given
// number of workers. Only the maximum stays right, hence not when counting. The result is sorted.
func (s *sweep) thinned(ctx context.Context, rows [][]uint32, l layout, workers int) ([][]uint32, error) {
	if s.counting {
		return rows, nil
	}
	groups := bySet(rows)
	err := crew.Each(ctx, workers, len(groups), func(_, i int) error {
		groups[i] = dominant(groups[i], l.key())
		slices.SortFunc(groups[i], slices.Compare[[]uint32])
		return nil
	})
	if err != nil {
		return nil, err
	}
	kept := rows[:0]
	for _, g := range groups {
		kept = append(kept, g...)
	}
	return kept, nil
}

// selected returns the most promising records of a layer, sorted, if not all are wanted.
func (s *sweep) selected(rows [][]uint32) [][]uint32 {
	if s.width == 0 || len(rows) <= s.width {
		return rows
	}
	promise := make(map[*uint32]uint32, len(rows))
	for _, row := range rows {
		promise[&row[0]] = s.promise(row)
	}
	slices.SortFunc(rows, func(a, b []uint32) int {
		return cmp.Or(cmp.Compare(promise[&b[0]], promise[&a[0]]), slices.Compare(a, b))
	})
	rows = rows[:s.width]
	slices.SortFunc(rows, slices.Compare[[]uint32])
	return rows
}

// promise returns the largest number that can be written next. Of the measures tried, also sums
// of values with and without weights, it is the simplest that leads to the maximum of every
// board solved so far.
func (s *sweep) promise(row []uint32) uint32 {
	state := stateOf(s.board, row)
	best := uint32(0)
	for _, cell := range list(s.board.Full() &^ row[0]) {
		best = max(best, s.board.Value(&state, int(cell)))
	}
	return best
}

// frontier returns a number that no game through the states of the last complete layer exceeds.
func (s *sweep) frontier() (uint64, error) {
	c, err := s.store.Open(s.layer.Run)
	if err != nil {
		return 0, err
	}
	best := uint64(0)
	var look outlook
	for set := chemin.Cells(1 << 31); c.Row != nil; {
		if c.Row[0] != set {
			set = c.Row[0]
			look = s.bounds.outlook(s.board.Full() &^ set)
		}
		state := stateOf(s.board, c.Row)
		best = max(best, look.upper(&state.Values, noBound))
		if err := c.Next(); err != nil {
			return 0, err
		}
	}
	return best, nil
}
