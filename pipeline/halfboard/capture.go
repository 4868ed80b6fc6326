package halfboard

import (
	"context"
	"errors"
	"math/bits"

	"grenier/io/crew"
)

// captureAll computes all offers.
func (e *engine) captureAll(ctx context.Context, lower Lower) error {
	err := crew.Run(func() error { return e.captureGroups(ctx, lower) })
	if err = errors.Join(err, lower.Close()); err != nil {
		return err
	}
	if err := e.eachPanel(ctx, e.endGames); err != nil {
		return err
	}
	e.tell(CaptureStage, 1)
	return nil
}

// captureGroups applies all captures.
func (e *engine) captureGroups(ctx context.Context, lower Lower) error {
	err := e.eachPanel(ctx, e.openOffers)
	groups := e.lowerGroups()
	for i := 0; i < len(groups) && err == nil; i++ {
		e.tell(CaptureStage, float64(i)/float64(len(groups)+1))
		err = e.captureGroup(ctx, lower, groups[i])
	}
	return err
}

// lowerGroups returns the numbers of seeds that captures can leave, in groups to be
// read together: as many layers as fit in half the place of the scores, since the files
// that they come from are in memory as well. A capture takes 2 seeds at least and 3
// from every pit at most.
func (e *engine) lowerGroups() [][]int {
	var groups [][]int
	room := uint64(0)
	for n := e.grid.n - 2; n >= max(0, e.grid.n-3*e.grid.q); n-- {
		size := e.grid.halves.Board().Size(n)
		if size > room {
			groups = append(groups, nil)
			room = max(uint64(len(e.below))/2, size)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], n)
		room -= size
	}
	return groups
}

// captureGroup applies the captures that lead to the layers of group.
func (e *engine) captureGroup(ctx context.Context, lower Lower, group []int) error {
	layers, err := e.readLower(ctx, lower, group)
	if err != nil {
		return err
	}
	return e.eachPanel(ctx, func(m *matrix, class rowClass, panel int) error {
		return e.capturePanel(m, class, panel, wholeLayers{e.grid, layers})
	})
}

// eachPanel runs do for both classes of rows of all panels.
func (e *engine) eachPanel(ctx context.Context, do func(m *matrix, class rowClass, panel int) error) error {
	type part struct {
		m     *matrix
		panel int
	}
	var parts []part
	for _, m := range e.grid.matrices {
		for panel := range m.panels {
			parts = append(parts, part{m, panel})
		}
	}
	return forEach(ctx, e.workers, parts, func(_, _ int, p part) error {
		for class := range classes {
			if p.m.rows[class] == 0 {
				continue
			}
			if err := do(p.m, class, p.panel); err != nil {
				return err
			}
		}
		return nil
	})
}

// openOffers blocks all offers of one class of rows of a panel.
func (e *engine) openOffers(m *matrix, class rowClass, panel int) error {
	for chunk := range m.chunks[class] {
		fill(m.block(class, panel, chunk)[:], blocked)
	}
	return nil
}

// A rowReader gives the scores of lower layers whose opponent has a given half, in the
// order of the mover's; none for layers that it does not have.
type rowReader interface {
	row(n int, code uint32) ([]int8, error)
}

// wholeLayers are layers in memory, by seeds; nil where there is none.
type wholeLayers struct {
	grid   *grid
	layers [][]int8
}

func (w wholeLayers) row(n int, code uint32) ([]int8, error) {
	if layer := w.layers[n]; layer != nil {
		return layer[w.grid.rowStart(n, code):], nil
	}
	return nil, nil
}

// rowStart returns the rank of the first board of n seeds whose opponent has the given
// half.
func (g *grid) rowStart(n int, code uint32) uint64 {
	return g.halves.RowStart(n, g.pits[code][:g.q])
}

// capturePanel applies to the offers of one class of rows of a panel the captures
// that lead to the layers that lower has.
func (e *engine) capturePanel(m *matrix, class rowClass, panel int, lower rowReader) error {
	p := &m.programs[panel]
	for _, group := range p.Groups {
		r := &m.routes[group.Route]
		codes := e.grid.rows[m.sum-r.seeds][openRows]
		captures := r.pattern.captures[class]
		rows := p.Rows[group.First:]
		for i, left := 0, group.Columns; left != 0; i, left = i+1, left&(left-1) {
			column := m.column(class, panel, bits.TrailingZeros64(left))
			for k := range captures {
				row, err := lower.row(e.grid.n-captures[k].seeds, codes[rows[i]])
				if err != nil {
					return err
				}
				if row != nil {
					captures[k].apply(column, row)
				}
			}
		}
	}
	return nil
}

// apply lowers the negated scores of a column to what the captures of c give, which
// lead to a row of a lower layer.
func (c *capture) apply(column, row []int8) {
	gain := int8(c.seeds)
	for _, p := range c.pairs {
		column[p.at] = min(column[p.at], row[p.child]-gain)
	}
}

// endGames sets the offers of the positions of a panel that have no ordinary
// move: neither a capture nor a quiet move, nor one that leaves the opponent
// without seeds.
func (e *engine) endGames(m *matrix, class rowClass, panel int) error {
	p := &m.programs[panel]
	quiet := make([]uint64, m.chunks[class])
	for c := range m.width(panel) {
		clear(quiet)
		for _, group := range p.Groups {
			if group.Columns>>c&1 != 0 {
				union(quiet, m.routes[group.Route].pattern.quiet[class])
			}
		}
		e.endColumn(m, class, panel, c, quiet)
	}
	return nil
}

func union(dst, a []uint64) {
	for i, x := range a[:len(dst)] {
		dst[i] |= x
	}
}

// endColumn sets the offers of the positions of a column without an ordinary
// move: neither a capture nor, by the bits of quiet, a quiet move.
func (e *engine) endColumn(m *matrix, class rowClass, panel, c int, quiet []uint64) {
	codes := e.grid.rows[e.grid.n-m.sum][class]
	column := m.column(class, panel, c)
	for chunk, word := range quiet {
		for left := ^word; left != 0; left &= left - 1 {
			row := chunk*side + bits.TrailingZeros64(left)
			if row >= len(codes) {
				break
			}
			if offer := &column[offerOf(uint32(row))]; *offer == blocked {
				*offer = -e.endScore(m.first+uint32(panel*side+c), codes[row])
			}
		}
	}
}

// endScore is the score of a position without an ordinary move. There are few
// of them, so the rules themselves are asked: what is legal then, if anything
// is, takes seeds and ends the game.
func (e *engine) endScore(mover, opponent uint32) int8 {
	board := e.grid.board(mover, opponent)
	score := e.game.Terminal(board)
	for _, play := range e.game.Plays(board) {
		if play.Legal {
			score = max(score, play.Captured)
		}
	}
	return int8(score)
}

func fill(dst []int8, x int8) {
	for i := range dst {
		dst[i] = x
	}
}
