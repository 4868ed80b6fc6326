package verify

import (
	"context"
	"fmt"
	"math"
	"sync"

	"grenier/layers/awari"
)

// part is the comparison of one panel of a layer.
type part struct {
	*panel
	run    *run
	seeds  int
	meter  *panelMeter
	mark   func(bits []byte, at int64) error // takes what visitors mark; may be nil
	traces *panelTraces                      // nil if nobody asks
	slow   sync.Mutex                        // held to ask the plain rules, which read scores one by one
}

// compare compares all positions of the panel.
func (p *part) compare(ctx context.Context) (f found, err error) {
	if err := p.run.sowings.count(p.panel, p.seeds); err != nil {
		return f, err
	}
	moves := uint64(0)
	look := func(m int) error {
		all, err := p.walk(ctx, m, (*visitor).raise)
		for _, v := range all {
			moves += v.moves
		}
		return err
	}
	for _, m := range p.run.below(p.seeds) {
		if err := look(m); err != nil {
			return f, err
		}
	}
	if p.mark != nil {
		if _, err := p.walkLines(ctx, (*visitor).back); err != nil {
			return f, err
		}
	}
	if err := look(p.seeds); err != nil {
		return f, err
	}
	if moves != p.moves {
		return f, fmt.Errorf("internal error: layer %d: %d moves were looked at, not %d", p.seeds, moves, p.moves)
	}
	all, err := p.walkLines(ctx, (*visitor).compare)
	for _, v := range all {
		f.add(&v.found)
	}
	return f, err
}

// below returns the layers that captures from layer n lead to, the lowest first.
func (r *run) below(n int) (all []int) {
	captures := r.sowings.captures(n)
	for c := n; c > 0; c-- {
		if captures[c] {
			all = append(all, n-c)
		}
	}
	return all
}

// reached finds the moves that lead to a row, and reads it, if there are any.
func (v *visitor) reached(rs *rows) (row []int8, err error) {
	if v.collect(rs); len(v.steps) > 0 {
		row, err = v.read(rs.start, rs.width())
	}
	return row, err
}

// raise raises the values of all positions from which moves lead to a row. The moves are
// found by taking seeds back; that none is missing is seen from their number.
func (v *visitor) raise(rs *rows) error {
	row, err := v.reached(rs)
	if err != nil || len(v.steps) == 0 {
		return err
	}
	captured := int8(v.seeds - rs.seeds)
	var plies []int8
	if v.after != nil && captured == 0 {
		if plies, err = v.readPlies(rs.start, rs.width()); err != nil {
			return err
		}
	}
	for _, s := range v.steps {
		at, end, lock := v.column(s.column, s.rank)
		column := v.best[at:end]
		lock.Lock()
		if plies != nil {
			v.moves += raisePlies(column, v.after[at:end], row, plies, s.spans)
		} else {
			v.moves += raise(column, row, s.spans, captured)
		}
		lock.Unlock()
	}
	return nil
}

// collect finds the columns of the panel from which moves lead to a row: the pit that was
// played is empty, and the pits of the mover, who is the opponent now, have at least what they
// got.
func (v *visitor) collect(rs *rows) {
	v.steps = v.steps[:0]
	after, kept := rs.opponent, rs.seeds-rs.mover
	captured := v.seeds - rs.seeds
	for pit, all := range v.run.sowings.byPit {
		if after.pit(pit) != 0 {
			continue
		}
		for i := range all {
			w := &all[i]
			seeds := i + 1
			mover := kept - w.kept + seeds
			if !after.holds(w.own) {
				break // more seeds go further
			}
			if mover > v.seeds {
				continue
			}
			spans := v.run.sowings.spans(w, v.seeds-mover, captured)
			if spans == nil {
				continue
			}
			before := after - w.own + half(seeds)<<(8*pit)
			if rank := v.run.sowings.rank(before); v.columns[mover].has(rank) {
				v.steps = append(v.steps, step{column: mover, rank: rank, pit: pit, spans: spans})
			}
		}
	}
}

// back tells of the scores of a line that are positive and what a move that takes seeds
// gives, when only these were looked at.
func (v *visitor) back(l line) error {
	word := uint64(0)
	for i, score := range l.scores {
		differs := uint64(uint8(score ^ v.best[l.at]))
		word |= (differs - 1) >> 63 & (-uint64(int64(score)) >> 63) << (i % 64)
		l.at += l.width
		if i%64 == 63 || i == len(l.scores)-1 {
			v.fresh.add(l.rank+uint64(i&^63), word)
			word = 0
		}
	}
	return nil
}

// compare compares the scores of a line with the values of its positions.
func (v *visitor) compare(l line) error {
	if v.after != nil {
		if err := v.comparePlies(l); err != nil {
			return err
		}
	}
	for i, score := range l.scores {
		if best := v.best[l.at]; score != best {
			if err := v.differs(l.rank+uint64(i), score, best); err != nil {
				return err
			}
		}
		l.at += l.width
	}
	v.found.checked += uint64(len(l.scores))
	return nil
}

// differs looks at a position whose score is not the best value found. The plain rules judge
// those without a move that leaves the opponent a seed.
func (v *visitor) differs(rank uint64, score, best int8) error {
	board, expected := v.run.space.Unrank(v.seeds, rank), int(best)
	if best == none {
		v.slow.Lock()
		defer v.slow.Unlock()
		value, taken, err := v.run.expected(v.ctx, board, v.seeds)
		if err != nil {
			return err
		}
		if value == int(score) {
			if taken && value > 0 && v.mark != nil {
				v.fresh.mark(rank)
			}
			return nil
		}
		expected = value
	}
	v.found.differs(Difference{Rank: rank, Board: v.run.space.Text(board), Stored: int(score), Expected: expected})
	return nil
}

// expected returns the score that follows from the moves of a board with n seeds, one by one:
// the best of captured minus score of the child, or what the rules say if there
// is no move; and whether a move that takes seeds gives that score.
func (r *run) expected(ctx context.Context, b awari.Board, n int) (best int, taken bool, err error) {
	best, most := math.MinInt, math.MinInt // of all moves, of those that take seeds
	for _, play := range r.space.Plays(b) {
		if !play.Legal {
			continue
		}
		score, err := r.tables.Score(ctx, play.Child)
		if err != nil {
			return 0, false, err
		}
		value := play.Captured - int(score)
		best = max(best, value)
		if play.Captured > 0 {
			most = max(most, value)
		}
	}
	if best == math.MinInt {
		return r.space.Terminal(b), false, nil
	}
	return best, most == best, nil
}
