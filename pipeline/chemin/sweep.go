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
)

// sweep is one search through the layers, from the empty board on.
type sweep struct {
	board   *chemin.Board
	bounds  *bounds
	best    *incumbent
	threads int
	store   *runs.Store
	room    int64 // bytes for records at work

	// counting keeps all states that reach target and counts the orders to them; otherwise
	// the sweep looks for more than best, and keeps states that may get there and that no
	// other exceeds.
	counting bool
	target   uint32
	optimal  atomic.Uint64 // orders that reach target, if counting

	// width, if not 0, keeps only so many states of a layer, the most promising: what is
	// found is then no proof.
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
	grid, err := b.Play(order)
	if err != nil {
		panic(err) // orders of states fill every cell once
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if score := slices.Max(grid); score > i.score.Load() {
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

// root returns layer 0.
func (s *sweep) root() (*run, error) {
	l := s.layout(0)
	row := make([]uint32, l.stride())
	if s.counting {
		setCount(row[l.key():], 1)
	}
	w := newWriter(s.store, l)
	if err := w.Add(row); err != nil {
		return nil, err
	}
	return w.finish()
}

// advance works out the layer after that of from.
func (s *sweep) advance(ctx context.Context, from *run) (*run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	parts, err := s.expand(ctx, from)
	if err != nil {
		return nil, err
	}
	l := s.layout(from.filled + 1)
	parts, err = runs.Reduce(s.store, parts, s.abreast(), func(list []*run) (*run, error) { return s.merge(ctx, list, l) })
	if err != nil {
		return nil, err
	}
	return s.merge(ctx, parts, l)
}

// abreast returns the most runs that are merged at a time: cursors get half of the room.
func (s *sweep) abreast() int { return runs.Abreast(s.room / 2) }

// merge makes one run, or a layer, of several runs, and drops these.
func (s *sweep) merge(ctx context.Context, list []*run, l layout) (*run, error) {
	w := newWriter(s.store, l)
	m, err := openAll(s.store, list)
	if err != nil {
		return nil, err
	}
	b := batch{most: max(1, int(s.room/4/l.rowBytes()))}
	if s.width > 0 {
		b.most = int(^uint(0) >> 2) // a whole layer at once
	}
	for m.Len() > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := b.take(m, l, s.counting); err != nil {
			return nil, err
		}
		rows, err := s.thinned(ctx, b.rows, l, s.threads)
		if err != nil {
			return nil, err
		}
		for _, row := range s.selected(rows, l) {
			if err := w.Add(row); err != nil {
				return nil, err
			}
		}
	}
	for _, r := range list {
		s.store.Drop(&r.Run)
	}
	return w.finish()
}

// batch is records of several runs.
type batch struct {
	most int // records, about
	rows [][]uint32
	arena
}

// take takes records off the runs: up to the most, and then the rest of those with the same filled
// cells, as far as these are no more than as many again. Of records with the same key it makes
// one.
func (b *batch) take(m *runs.Merge, l layout, counting bool) error {
	b.reset()
	b.rows = b.rows[:0]
	for m.Len() > 0 {
		next := m.Row()
		n := len(b.rows)
		switch {
		case n > 0 && slices.Equal(b.rows[n-1][:l.key()], next[:l.key()]):
			if last := b.rows[n-1][l.key():]; counting {
				setCount(last, count(last)+count(next[l.key():]))
			}
		case n >= 2*b.most || n >= b.most && b.rows[n-1][0] != next[0]:
			return nil
		default:
			row := b.arena.take(l.stride())
			copy(row, next)
			b.rows = append(b.rows, row)
		}
		if err := m.Next(); err != nil {
			return err
		}
	}
	return nil
}

// thinned drops, of sorted records, those that another with the same filled cells exceeds, by so
// many workers. Only the maximum stays right, hence not when counting. The result is sorted.
func (s *sweep) thinned(ctx context.Context, rows [][]uint32, l layout, threads int) ([][]uint32, error) {
	if s.counting {
		return rows, nil
	}
	groups := bySet(rows)
	err := crew.Each(ctx, threads, len(groups), func(_, i int) error {
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
func (s *sweep) selected(rows [][]uint32, l layout) [][]uint32 {
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

// frontier returns a number that no game through the states of a layer exceeds.
func (s *sweep) frontier(from *run) (uint64, error) {
	c, err := s.store.Open(&from.Run)
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
