package halfboard

import (
	"context"
	"errors"
	"math/bits"

	"grenier/io/crew"
	"grenier/kernels/compress"
	"grenier/kernels/window"
)

// captureAll computes all offers.
func (e *engine) captureAll(ctx context.Context, lower Lower) error {
	err := crew.Run(func() error { return e.captureGroups(ctx, lower) })
	if err = errors.Join(err, lower.Close()); err != nil {
		return err
	}
	if err := e.eachPanel(ctx, e.endPanel); err != nil {
		return err
	}
	e.tell(CaptureStage, 1)
	return nil
}

// captureGroups applies all captures.
func (e *engine) captureGroups(ctx context.Context, lower Lower) error {
	err := e.eachPanel(ctx, e.openPanel)
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
		e.capturePanel(m, class, panel, m.panelOffers(class, panel), wholeLayers{e.grid, layers})
		return nil
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
	return crew.Each(ctx, e.workers, len(parts), func(_, i int) error {
		p := parts[i]
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

// openPanel blocks all offers of one class of rows of a panel.
func (e *engine) openPanel(m *matrix, class rowClass, panel int) error {
	fill(m.panelOffers(class, panel), blocked)
	return nil
}

// endPanel ends games of one class of rows of a panel of a layer in one piece.
func (e *engine) endPanel(m *matrix, class rowClass, panel int) error {
	for chunk := range m.chunks[class] {
		e.endGames(m, class, panel, chunk, m.block(class, panel, chunk))
	}
	return nil
}

// wholeLayers are layers in memory, by seeds; nil where there is none.
type wholeLayers struct {
	grid   *grid
	layers [][]int8
}

// row returns the scores of the layer of n seeds whose opponent has a given half, in the
// order of the mover's; none for layers that there are not.
func (w wholeLayers) row(n int, code uint32) []int8 {
	if layer := w.layers[n]; layer != nil {
		return layer[w.grid.rowStart(n, code):]
	}
	return nil
}

// rowStart returns the rank of the first board of n seeds whose opponent has the given
// half.
func (g *grid) rowStart(n int, code uint32) uint64 {
	return g.halves.RowStart(n, g.pits[code][:g.q])
}

// capturePanel applies to offers, those of one class of rows of a panel, the captures
// that lead to the layers that lower has.
func (e *engine) capturePanel(m *matrix, class rowClass, panel int, offers []int8, lower wholeLayers) {
	p := &m.programs[panel]
	for _, group := range p.Groups {
		r := &m.routes[group.Route]
		codes := e.grid.rows[m.sum-r.seeds][openRows]
		captures := r.pattern.captures[class]
		rows := p.Rows[group.First:]
		for i, left := 0, group.Columns; left != 0; i, left = i+1, left&(left-1) {
			column := columnOf(offers, bits.TrailingZeros64(left))
			for k := range captures {
				if row := lower.row(e.grid.n-captures[k].seeds, codes[rows[i]]); row != nil {
					captures[k].apply(column, row)
				}
			}
		}
	}
}

// apply lowers the negated scores of a column of blocks to what the captures of c give, which
// lead to a row of a lower layer.
func (c *capture) apply(column, row []int8) {
	gain := int8(c.seeds)
	for _, p := range c.pairs {
		column[p.at] = min(column[p.at], row[p.child]-gain)
	}
}

// applyRows is apply for a column of rows that follow each other.
func (c *capture) applyRows(column, row []int8) {
	gain := int8(c.seeds)
	for _, p := range c.pairs {
		at := rowOf(p.at)
		column[at] = min(column[at], row[p.child]-gain)
	}
}

// endGames sets the offers of a block for positions without an ordinary move: neither a
// capture nor a quiet move; moves that leave the opponent without seeds are not
// ordinary.
func (e *engine) endGames(m *matrix, class rowClass, panel, chunk int, offers *compress.Block) {
	p := &m.programs[panel]
	var quiet [side]uint64 // by column
	for _, group := range p.Groups {
		rows := m.routes[group.Route].pattern.quiet[class][chunk]
		for left := group.Columns; left != 0; left &= left - 1 {
			quiet[bits.TrailingZeros64(left)] |= rows
		}
	}
	all := ^uint64(0) >> (side - m.depth(class, chunk))
	codes := e.grid.rows[e.grid.n-m.sum][class][chunk*side:]
	for c := range m.width(panel) {
		e.endColumn(m.first+uint32(panel*side+c), codes, offers[c*side:][:side], all&^quiet[c])
	}
}

// endColumn sets those of offers whose positions have no ordinary move: rows are those without
// a quiet one. Where scores are codes, it marks bad offers of positions that have only
// captures (window.OnlyCaptures).
func (e *engine) endColumn(mover uint32, opponents []uint32, offers []int8, rows uint64) {
	for left := rows; left != 0; left &= left - 1 {
		row := bits.TrailingZeros64(left)
		offer := &offers[row]
		if *offer == blocked {
			*offer = -e.endScore(mover, opponents[row])
		}
		if e.windows != nil && *offer > 0 {
			*offer -= window.OnlyCaptures
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

// fill sets all of dst to x.
func fill(dst []int8, x int8) {
	head := dst[:min(len(dst), 1<<12)]
	for i := range head {
		head[i] = x
	}
	for n := len(head); n < len(dst); n += len(head) {
		copy(dst[n:], head)
	}
}
