package prove

import (
	"fmt"

	"grenier/kernels/colex"
	"grenier/layers/awari"
	"grenier/pipeline/check/internal/sowing"
)

// position is a board of the layer: the half of the mover and that of the opponent.
type position struct {
	mover, opponent sowing.Half
}

// moves plays quiet moves, and takes them back, with what the rules said of each sowing.
type moves struct {
	space *awari.Space
	seeds int
	byPit [][]sowing.Sowing // by pit and seeds-1
	terms []uint64          // of ranks: by pit and the seeds up to it
}

// newMoves returns the moves on boards with so many seeds.
func newMoves(space *awari.Space, seeds int) (*moves, error) {
	m := &moves{space: space, seeds: seeds, byPit: sowing.All(space.Game, seeds)}
	for pit := range space.Pits() - 1 {
		for c := range seeds + 1 {
			term, err := colex.Binomial(pit+c, pit+1)
			if err != nil {
				return nil, fmt.Errorf("ranking boards with %d seeds: %w", seeds, err)
			}
			m.terms = append(m.terms, term)
		}
	}
	return m, nil
}

// position returns the position with a rank.
func (m *moves) position(rank uint64) position {
	b, q := m.space.Unrank(m.seeds, rank), m.space.Half()
	return position{sowing.Pack(b[:q]), sowing.Pack(b[q : 2*q])}
}

// rank returns the rank of a position: the sum of document 000 without the last term, which is
// the same for all boards of a layer.
func (m *moves) rank(p position) (rank uint64) {
	q, terms := m.space.Half(), m.terms
	sum, each := 0, m.seeds+1
	for i := range q {
		sum += p.mover.Pit(i)
		rank += terms[sum]
		terms = terms[each:]
	}
	for i := range q - 1 {
		sum += p.opponent.Pit(i)
		rank += terms[sum]
		terms = terms[each:]
	}
	return rank
}

// quiet plays a pit; ok is false if that is not a move that takes no seeds. Such a move leaves
// the opponent a seed, so all rule sets allow it.
func (m *moves) quiet(p position, pit int) (child position, ok bool) {
	seeds := p.mover.Pit(pit)
	if seeds == 0 {
		return position{}, false
	}
	w := &m.byPit[pit][seeds-1]
	child = position{
		mover:    p.opponent + w.Given,
		opponent: p.mover - sowing.Half(seeds)<<(8*pit) + w.Own,
	}
	return child, child.mover != 0 && !takes(child.mover, w.Last)
}

// takes reports whether seeds are taken when the last one falls into a pit of the opponent, or
// into none if that is negative.
func takes(opponent sowing.Half, last int) bool {
	if last < 0 {
		return false
	}
	x := opponent.Pit(last)
	return x == 2 || x == 3
}

// before appends the positions from which a quiet move leads to p.
func (m *moves) before(dst []position, p position) []position {
	if p.mover == 0 {
		return dst
	}
	for pit, all := range m.byPit {
		if p.opponent.Pit(pit) != 0 {
			continue
		}
		for i := range all {
			w := &all[i]
			if !p.opponent.Holds(w.Own) || !p.mover.Holds(w.Given) {
				break // more seeds give no pit less
			}
			if !takes(p.mover, w.Last) {
				dst = append(dst, position{
					mover:    p.opponent - w.Own + sowing.Half(i+1)<<(8*pit),
					opponent: p.mover - w.Given,
				})
			}
		}
	}
	return dst
}
