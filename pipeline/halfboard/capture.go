package halfboard

import (
	"context"
	"errors"
	"math/bits"

	"grenier/kernels/compress"
)

// captureAll computes all offers. The layers that captures lead to are read in
// groups that take at most half as much memory as the offers, so that the scores
// of the layer, which are not there yet, need more.
func (e *engine) captureAll(ctx context.Context, lower Lower) error {
	err := e.eachStrip(ctx, e.openOffers)
	groups := e.lowerGroups()
	for i := 0; i < len(groups) && err == nil; i++ {
		err = e.captureGroup(ctx, lower, groups[i], float64(i+1)/float64(len(groups)))
	}
	if err = errors.Join(err, lower.Close()); err != nil {
		return err
	}
	return e.eachStrip(ctx, e.endGames)
}

// lowerGroups returns the numbers of seeds that captures can leave, in groups
// to be read together. A capture takes 2 seeds at least and 3 from every pit at
// most.
func (e *engine) lowerGroups() [][]int {
	ranking := e.grid.halves.Board()
	var groups [][]int
	room := uint64(0)
	for n := e.grid.n - 2; n >= max(0, e.grid.n-3*e.grid.q); n-- {
		if size := ranking.Size(n); size > room {
			groups = append(groups, nil)
			room = max(ranking.Size(e.grid.n)/2, size)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], n)
		room -= ranking.Size(n)
	}
	return groups
}

// captureGroup applies the captures that lead to the layers of group; share is
// the share of the stage that is done then.
func (e *engine) captureGroup(ctx context.Context, lower Lower, group []int, share float64) error {
	var below arena
	layers, err := e.readLower(ctx, &below, lower, group)
	if err == nil {
		err = e.eachStrip(ctx, func(s *strip, class rowClass) error {
			e.captureStrip(s, class, layers)
			return nil
		})
	}
	e.done.Store(uint64(share * float64(e.grid.halves.Board().Size(e.grid.n))))
	e.tell(CaptureStage)
	return errors.Join(err, below.close())
}

// eachStrip runs do for both classes of rows of all strips.
func (e *engine) eachStrip(ctx context.Context, do func(s *strip, class rowClass) error) error {
	return forEach(ctx, e.workers, e.strips, func(_ int, s *strip) error {
		return errors.Join(do(s, openRows), do(s, fullRows))
	})
}

// openOffers makes room for the offers of one class of rows of a strip.
func (e *engine) openOffers(s *strip, class rowClass) (err error) {
	rows := len(e.grid.rows[e.grid.n-s.sum][class])
	s.offers[class], err = e.arena.keep(rows * e.grid.columns(s).size)
	fill(s.offers[class], compress.Blocked)
	return err
}

// captureStrip applies to the offers of one class of rows of a strip the
// captures that lead to layers, which holds scores in colex order by seeds, nil for layers of other groups.
func (e *engine) captureStrip(s *strip, class rowClass, layers [][]int8) {
	sum := e.grid.n - s.sum
	rows := len(e.grid.rows[sum][class])
	if rows == 0 {
		return
	}
	patterns := e.patternsOf(s)
	for c := range e.grid.columns(s).size {
		column := s.offers[class][c*rows:][:rows]
		for _, edge := range s.moves(c) {
			captures := patterns[edge.route].captures[class]
			for i := range captures {
				if layer := layers[e.grid.n-captures[i].seeds]; layer != nil {
					captures[i].apply(column, e.grid, layer, edge.code)
				}
			}
		}
	}
}

// patternsOf returns the pattern of each route of a strip.
func (e *engine) patternsOf(s *strip) []*pattern {
	patterns := make([]*pattern, len(s.routes))
	for i := range s.routes {
		patterns[i] = e.patterns.get(e.grid.geometry, e.grid.n-s.sum, s.routes[i].move)
	}
	return patterns
}

// apply lowers the negated scores of a column to what the captures of c give.
// layer holds the scores of the layer they lead to, code names the opponent's
// half there.
func (c *capture) apply(column []int8, g *grid, layer []int8, code uint32) {
	row := layer[g.halves.RowStart(g.n-c.seeds, g.pits[code][:g.q]):]
	gain := int8(c.seeds)
	for _, p := range c.pairs {
		column[p.row] = min(column[p.row], row[p.child]-gain)
	}
}

// endGames sets the offers of the positions of a strip that have no ordinary
// move: neither a capture nor a quiet move, nor one that leaves the opponent
// without seeds.
func (e *engine) endGames(s *strip, class rowClass) error {
	sum := e.grid.n - s.sum
	patterns := e.patternsOf(s)
	quiet := make([]uint64, (len(e.grid.rows[sum][class])+63)/64)
	for c := range e.grid.columns(s).size {
		clear(quiet)
		for _, edge := range s.moves(c) {
			if sum+s.routes[edge.route].seeds > 0 {
				union(quiet, patterns[edge.route].quiet[class])
			}
		}
		e.endColumn(s, class, c, quiet)
	}
	return nil
}

func union(dst, a []uint64) {
	for i, x := range a[:len(dst)] {
		dst[i] |= x
	}
}

// endColumn sets the offers of the positions of column c without an ordinary
// move: neither a capture nor, by the bits of quiet, a quiet move.
func (e *engine) endColumn(s *strip, class rowClass, c int, quiet []uint64) {
	codes := e.grid.rows[e.grid.n-s.sum][class]
	column := s.offers[class][c*len(codes):][:len(codes)]
	for w, word := range quiet {
		for left := ^word; left != 0; left &= left - 1 {
			row := 64*w + bits.TrailingZeros64(left)
			if row < len(column) && column[row] == compress.Blocked {
				column[row] = -e.endScore(e.grid.columns(s).code(c), codes[row])
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
