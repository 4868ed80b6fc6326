package chemin

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"grenier/layers/chemin"
)

// errMemory says that a search in memory needs more than it is given.
var errMemory = errors.New("out of the memory given")

// sweep is one search through the layers, from the empty board on.
type sweep struct {
	board   *chemin.Board
	bounds  *bounds
	best    *incumbent
	threads int
	memory  int64
	dir     string // for runs and layers; "" to stay in memory
	name    string // begins the names of files

	// counting keeps all states that reach target and counts the orders to them; otherwise
	// the sweep looks for more than best, and keeps states that may get there and that no
	// other exceeds.
	counting bool
	target   uint32
	optimal  atomic.Uint64 // orders that reach target, if counting

	// width, if not 0, keeps only so many states of a layer, the most promising: what is
	// found is then no proof.
	width int

	abreast int // most runs to merge at a time
	runs    int // files made so far
	added   atomic.Int64
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

func (s *sweep) layout(filled int) layout {
	if s.counting {
		return layout{filled, countWords}
	}
	return layout{filled, orderWords}
}

// root returns layer 0.
func (s *sweep) root() *run {
	l := s.layout(0)
	r := &run{layout: l, words: make([]uint32, l.stride()), n: 1}
	if s.counting {
		r.words[l.key()] = 1
	}
	return r
}

// path returns the name of a new file, "" in memory.
func (s *sweep) path(kind string) string {
	if s.dir == "" {
		return ""
	}
	s.runs++
	return filepath.Join(s.dir, fmt.Sprintf("%s-%s-%06d.lz4", s.name, kind, s.runs))
}

// advance works out the layer after that of from.
func (s *sweep) advance(ctx context.Context, from *run) (_ *run, err error) {
	runs, err := s.expand(ctx, from)
	defer func() {
		for _, r := range runs {
			err = errors.Join(err, r.remove())
		}
	}()
	if err != nil {
		return nil, err
	}
	l := s.layout(from.filled + 1)
	for s.dir != "" && len(runs) > s.abreast {
		if runs, err = s.fewer(ctx, runs, l); err != nil {
			return nil, err
		}
	}
	return s.merge(ctx, runs, l, "layer")
}

// mostAbreast is the most runs that are open at a time.
const mostAbreast = 256

// fewer merges some runs into one and returns that and the others.
func (s *sweep) fewer(ctx context.Context, runs []*run, l layout) ([]*run, error) {
	merged, err := s.merge(ctx, runs[:s.abreast], l, "run")
	if err != nil {
		return runs, err
	}
	for _, r := range runs[:s.abreast] {
		err = errors.Join(err, r.remove())
	}
	return append(runs[s.abreast:], merged), err
}

// chunk is the most records of one set that a worker takes at once.
const chunk = 1024

// expand fills one more cell in all states of a layer and returns sorted runs of the states
// that are worth keeping.
func (s *sweep) expand(ctx context.Context, from *run) ([]*run, error) {
	s.added.Store(0)
	group, ctx := errgroup.WithContext(ctx)
	work := make(chan [][]uint32)
	group.Go(func() error {
		defer close(work)
		return chunks(ctx, from, work)
	})
	var mu sync.Mutex
	var runs []*run
	for range s.threads {
		group.Go(func() error {
			e := &expander{sweep: s, from: from.layout, to: s.layout(from.filled + 1)}
			e.keep = func(rows [][]uint32) error {
				mu.Lock()
				path := s.path("run")
				mu.Unlock()
				r, err := store(rows, e.to, path)
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					runs = append(runs, r)
				}
				return err
			}
			for rows := range work {
				if err := e.expand(rows); err != nil {
					return err
				}
			}
			return e.flush()
		})
	}
	err := group.Wait()
	return runs, err
}

// chunks sends the records of a layer in lists with the same filled cells.
func chunks(ctx context.Context, from *run, work chan<- [][]uint32) (err error) {
	c, err := from.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	for c.row != nil {
		rows := [][]uint32{}
		for set := c.row[0]; c.row != nil && c.row[0] == set && len(rows) < chunk; {
			rows = append(rows, c.row)
			if err := c.next(); err != nil {
				return err
			}
		}
		select {
		case work <- rows:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func store(rows [][]uint32, l layout, path string) (*run, error) {
	w, err := newWriter(l, path)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		w.add(row)
	}
	return w.finish()
}

// expander is a worker.
type expander struct {
	*sweep
	from, to layout
	words    []uint32
	keep     func(rows [][]uint32) error
}

// step is a cell that may be filled next in all states with the same filled cells.
type step struct {
	cell int
	look outlook
	ways []*chemin.Symmetry
	last bool
}

// steps returns what may be filled next.
func (e *expander) steps(filled chemin.Cells) []step {
	empty := e.board.Full() &^ filled
	var steps []step
	for rest := empty; rest != 0; rest &= rest - 1 {
		cell := bits.TrailingZeros32(rest)
		left := empty &^ (1 << cell)
		if !e.counting && left != 0 && (e.board.Component(left) != left || e.board.Near(cell)&left == 0) {
			continue // as good orders end elsewhere (package comment, "One sink")
		}
		st := step{cell: cell, last: left == 0}
		if !st.last {
			_, st.ways = e.board.CanonicalSet(nil, filled|1<<cell)
			st.look = e.bounds.outlook(left)
		}
		steps = append(steps, st)
	}
	return steps
}

// expand takes states with the same filled cells.
func (e *expander) expand(rows [][]uint32) error {
	filled := rows[0][0]
	alive := list(e.board.Touching(filled, e.board.Full()&^filled))
	steps := e.steps(filled)
	for _, row := range rows {
		s := chemin.State{Filled: filled}
		for i, cell := range alive {
			s.Values[cell] = row[1+i]
		}
		for i := range steps {
			e.fill(&s, &steps[i], row[e.from.key():])
		}
	}
	if int64(len(e.words))*rowCost >= e.memory/int64(2*e.threads) {
		return e.flush()
	}
	return nil
}

// rowCost is about the bytes that a word of a record takes while records are sorted.
const rowCost = 6

// fill makes one step from one state.
func (e *expander) fill(s *chemin.State, st *step, tail []uint32) {
	next, value := e.board.Fill(s, st.cell)
	if e.counting {
		if value == e.target {
			e.optimal.Add(count(tail) * factorial(e.board.Cells()-e.from.filled-1))
			return
		}
		if st.last || st.look.upper(&next.Values, uint64(e.target)-1) < uint64(e.target) {
			return
		}
	} else {
		score := e.best.score.Load()
		if value > score {
			e.best.offer(e.board, e.order(tail, st.cell))
		}
		if st.last || st.look.upper(&next.Values, uint64(score)) <= uint64(score) {
			return
		}
	}
	least, way := chemin.Least(&next, st.ways)
	e.words = append(e.words, least.Filled)
	n := 1
	alive := e.board.Touching(least.Filled, e.board.Full()&^least.Filled)
	for ; alive != 0; alive &= alive - 1 {
		e.words = append(e.words, least.Values[bits.TrailingZeros32(alive)])
		n++
	}
	for ; n < e.to.key(); n++ {
		e.words = append(e.words, 0)
	}
	if e.counting {
		e.words = append(e.words, tail...)
		return
	}
	moved := carry(tail, e.from.filled, way)
	appendOrder(moved[:], e.from.filled, int(way[st.cell]))
	e.words = append(e.words, moved[:]...)
}

// order returns an order that begins with that of a tail and the given cell.
func (e *expander) order(tail []uint32, cell int) []int {
	order := make([]int, 0, e.board.Cells())
	left := e.board.Full()
	for step := range e.from.filled {
		order = append(order, cellAt(tail, step))
		left &^= 1 << order[step]
	}
	order = append(order, cell)
	for _, cell := range list(left &^ (1 << cell)) {
		order = append(order, int(cell))
	}
	return order
}

func count(tail []uint32) uint64 { return uint64(tail[0]) | uint64(tail[1])<<32 }

func setCount(tail []uint32, n uint64) { tail[0], tail[1] = uint32(n), uint32(n>>32) }

func factorial(n int) uint64 {
	f := uint64(1)
	for i := 2; i <= n; i++ {
		f *= uint64(i)
	}
	return f
}

// flush makes a run of what was collected.
func (e *expander) flush() error {
	if len(e.words) == 0 {
		return nil
	}
	rows := e.combine(sortRows(e.words, e.to), e.to)
	rows = e.thinned(rows, e.to)
	if e.dir == "" && e.added.Add(int64(len(rows)*e.to.stride())*4) > e.memory {
		return errMemory
	}
	err := e.keep(rows)
	e.words = e.words[:0]
	return err
}

// combine makes one record of sorted records with the same key.
func (s *sweep) combine(rows [][]uint32, l layout) [][]uint32 {
	kept := rows[:0]
	for _, row := range rows {
		if n := len(kept); n > 0 && slices.Equal(kept[n-1][:l.key()], row[:l.key()]) {
			if s.counting {
				setCount(kept[n-1][l.key():], count(kept[n-1][l.key():])+count(row[l.key():]))
			}
			continue
		}
		kept = append(kept, row)
	}
	return kept
}

// thinned drops, of sorted records, those that another with the same filled cells exceeds.
// Only the maximum stays right, hence not when counting. The result is sorted.
func (s *sweep) thinned(rows [][]uint32, l layout) [][]uint32 {
	if s.counting {
		return rows
	}
	groups := bySet(rows)
	var group errgroup.Group
	group.SetLimit(s.threads)
	for i := range groups {
		group.Go(func() error {
			groups[i] = dominant(groups[i], l.key())
			slices.SortFunc(groups[i], slices.Compare[[]uint32])
			return nil
		})
	}
	_ = group.Wait() // no error is possible
	return slices.Concat(groups...)
}

// bySet cuts sorted records where the filled cells change.
func bySet(rows [][]uint32) [][][]uint32 {
	var groups [][][]uint32
	for start, i := 0, 1; i <= len(rows); i++ {
		if i == len(rows) || rows[i][0] != rows[start][0] {
			groups = append(groups, rows[start:i:i])
			start = i
		}
	}
	return groups
}

// merge makes one run, or a layer, of several runs.
func (s *sweep) merge(ctx context.Context, runs []*run, l layout, kind string) (_ *run, err error) {
	w, err := newWriter(l, s.path(kind))
	if err != nil {
		return nil, err
	}
	m, err := openAll(runs)
	defer func() { err = errors.Join(err, m.close()) }()
	for err == nil && len(m) > 0 {
		if err = ctx.Err(); err != nil {
			break
		}
		var rows [][]uint32
		if rows, err = s.batch(&m, l); err != nil {
			break
		}
		for _, row := range s.selected(s.thinned(rows, l), l) {
			w.add(row)
		}
		if s.dir == "" && int64(len(w.words))*4 > s.memory {
			err = errMemory
		}
	}
	if err != nil {
		return nil, errors.Join(err, w.drop())
	}
	return w.finish()
}

// batch takes records off the runs: up to a share of the memory, and then the rest of those
// with the same filled cells, as far as that takes no more than as much again. Records with
// the same key stay together.
func (s *sweep) batch(m *merging, l layout) ([][]uint32, error) {
	most := max(1, int(s.memory/int64(4*l.stride()*rowCost)))
	if s.width > 0 {
		most = int(^uint(0) >> 2)
	}
	var rows [][]uint32
	for len(*m) > 0 {
		next := (*m)[0].row
		if n := len(rows); n > 0 {
			last := rows[n-1]
			if slices.Equal(last[:l.key()], next[:l.key()]) {
				if s.counting {
					setCount(last[l.key():], count(last[l.key():])+count(next[l.key():]))
				}
				if err := m.next(); err != nil {
					return nil, err
				}
				continue
			}
			if n >= 2*most || n >= most && last[0] != next[0] {
				break
			}
		}
		rows = append(rows, next)
		if err := m.next(); err != nil {
			return nil, err
		}
	}
	return rows, nil
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
	state := chemin.State{Filled: row[0]}
	for i, cell := range list(s.board.Touching(row[0], s.board.Full()&^row[0])) {
		state.Values[cell] = row[1+i]
	}
	best := uint32(0)
	for _, cell := range list(s.board.Full() &^ row[0]) {
		best = max(best, s.board.Value(&state, int(cell)))
	}
	return best
}

// merging is a heap of cursors, the least record first.
type merging []*cursor

func openAll(runs []*run) (merging, error) {
	var m merging
	for _, r := range runs {
		c, err := r.open()
		if err != nil {
			return m, err
		}
		if c.row != nil {
			m = append(m, c)
		} else if err := c.close(); err != nil {
			return m, err
		}
	}
	heap.Init(&m)
	return m, nil
}

// next drops the least record.
func (m *merging) next() error {
	c := (*m)[0]
	if err := c.next(); err != nil {
		return err
	}
	if c.row != nil {
		heap.Fix(m, 0)
		return nil
	}
	heap.Pop(m)
	return c.close()
}

func (m merging) close() error {
	var err error
	for _, c := range m {
		err = errors.Join(err, c.close())
	}
	return err
}

func (m merging) Len() int           { return len(m) }
func (m merging) Less(i, j int) bool { return slices.Compare(m[i].row, m[j].row) < 0 }
func (m merging) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merging) Push(x any)        { *m = append(*m, x.(*cursor)) }

func (m *merging) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

// frontier returns a number that no game through the states of a layer exceeds.
func (s *sweep) frontier(from *run) (_ uint64, err error) {
	c, err := from.open()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	best := uint64(0)
	var look outlook
	var alive []uint8
	for set := chemin.Cells(1 << 31); c.row != nil; {
		if c.row[0] != set {
			set = c.row[0]
			look = s.bounds.outlook(s.board.Full() &^ set)
			alive = list(s.board.Touching(set, s.board.Full()&^set))
		}
		var values [chemin.MaxCells]uint32
		for i, cell := range alive {
			values[cell] = c.row[1+i]
		}
		best = max(best, look.upper(&values, noBound))
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	return best, nil
}
