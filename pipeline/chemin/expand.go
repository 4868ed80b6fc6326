package chemin

import (
	"context"
	"math/bits"
	"slices"

	"grenier/layers/chemin"
	"grenier/pipeline/internal/runs"
)

// chunk is the most records of one set that a worker takes at once.
const chunk = 256

// expander is a worker.
type expander struct {
	*sweep
	from, to layout
	most     int // records at a time
	rows     [][]uint32
	arena    arena
	out      *runs.Output
}

func (s *sweep) newExpander(from, to layout, out *runs.Output) *expander {
	room := s.room/int64(s.workers) - runs.WriterBytes
	return &expander{sweep: s, from: from, to: to, out: out, most: int(max(room/to.rowBytes(), 1))}
}

// step is a cell that may be filled next in all states with the same filled cells.
type step struct {
	cell int
	look outlook
	ways []*chemin.Symmetry
	last bool
}

// steps returns the cells that may be filled next.
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

// Expand takes states with the same filled cells.
func (e *expander) Expand(ctx context.Context, words []uint32) error {
	steps := e.steps(words[0])
	for row := range slices.Chunk(words, e.from.stride()) {
		s := stateOf(e.board, row)
		for i := range steps {
			if len(e.rows) >= e.most {
				if err := e.Flush(ctx); err != nil {
					return err
				}
			}
			e.fill(&s, &steps[i], row[e.from.key():])
		}
	}
	return nil
}

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
	record := e.arena.take(e.to.stride())
	e.rows = append(e.rows, record)
	clear(record)
	putState(e.board, record, &least)
	if e.counting {
		copy(record[e.to.key():], tail)
		return
	}
	moved := carry(tail, e.from.filled, way)
	appendOrder(moved[:], e.from.filled, int(way[st.cell]))
	copy(record[e.to.key():], moved[:])
}

// order returns an order that begins with the order in a tail and the given cell.
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

// Flush makes a run of the collected records.
func (e *expander) Flush(ctx context.Context) error {
	slices.SortFunc(e.rows, slices.Compare[[]uint32])
	rows, err := e.thinned(ctx, combine(e.rows, e.to, e.counting), e.to, 1)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := e.out.Add(row); err != nil {
			return err
		}
	}
	e.rows = e.rows[:0]
	e.arena.reset()
	return e.out.End()
}
