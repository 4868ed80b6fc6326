package verify

import (
	"math"
	"sync"

	"grenier/layers/awari"
)

// panel is the part of a layer that is compared at a time: for each number of seeds of the
// mover's half, the positions with the halves of a range of ranks. It holds the best
// that moves give to each position, as far as moves were looked at.
type panel struct {
	columns []columns // by the seeds of the mover's half
	best    []int8
	after   []uint8 // the plies after the best move, see distances.go; nil if nobody asks
	moves   uint64  // of these positions that leave the opponent a seed
	locks   [256]sync.Mutex
}

// columns are the mover's halves of a panel with a certain number of seeds.
type columns struct {
	from, to uint64 // their ranks
	width    uint64 // halves of the opponent
	start    uint64 // in best; a column for each half of the mover follows the other
}

// none stands for a position of which no move was looked at.
const none = math.MinInt8

// leastPanel is the size of the smallest panel in bytes.
const leastPanel = 4096

// panels returns into how many panels layer n is divided so that one takes the given bytes at
// most.
func (s *sowings) panels(n int, size, bytes uint64) int {
	rest := uint64(0) // a panel may have one column more than its share for each number of seeds
	for a := range n + 1 {
		rest += s.half.Size(n - a)
	}
	share := max(bytes-min(bytes, rest), leastPanel)
	return int((size + share - 1) / share)
}

// positions returns how many positions of layer n panel i has.
func (s *sowings) positions(n, i, panels int) (count uint64) {
	for a := range n + 1 {
		all := s.half.Size(a)
		count += (share(all, i+1, panels) - share(all, i, panels)) * s.half.Size(n-a)
	}
	return count
}

// newPanel returns panel i of layer n. Its memory is best, if
// there is enough.
func (s *sowings) newPanel(n, i, panels int, best []int8) *panel {
	p := &panel{columns: make([]columns, n+1)}
	at := uint64(0)
	for a := range p.columns {
		all, width := s.half.Size(a), s.half.Size(n-a)
		c := columns{from: share(all, i, panels), to: share(all, i+1, panels), width: width, start: at}
		p.columns[a] = c
		at += (c.to - c.from) * width
	}
	if uint64(cap(best)) < at {
		best = make([]int8, at)
	}
	p.best = best[:at]
	for n := copy(p.best, []int8{none}); 0 < n && n < len(p.best); n *= 2 {
		copy(p.best[n:], p.best[:n])
	}
	return p
}

// share returns where part i of all begins.
func share(all uint64, i, parts int) uint64 { return all * uint64(i) / uint64(parts) }

// count counts the moves of the panel, sown forward from each half of the mover.
func (s *sowings) count(p *panel, n int) error {
	q := s.game.Half()
	for a := range p.columns {
		c, b := &p.columns[a], n-a
		var pits [awari.MaxPits / 2]uint8
		halves, err := s.half.Iterate(a)
		if err != nil {
			return err
		}
		for rank, h := range halves {
			if !c.has(rank) {
				continue
			}
			copy(pits[:], h)
			for pit, seeds := range pits[:q] {
				if seeds > 0 {
					w := &s.byPit[pit][seeds-1]
					p.moves += c.width - s.effects[w.effect].starving[b]
				}
			}
		}
	}
	return nil
}

// has reports whether the half of a rank is in the panel.
func (c *columns) has(rank uint64) bool { return rank >= c.from && rank < c.to }

// column returns where in best the positions with a half of the mover, which must be in the
// panel, begin and end, and the mutex to be held while their values change.
func (p *panel) column(a int, rank uint64) (at, end uint64, lock *sync.Mutex) {
	c := &p.columns[a]
	at = c.start + (rank-c.from)*c.width
	return at, at + c.width, &p.locks[(rank+uint64(a))%uint64(len(p.locks))]
}

// raise raises the values of a column to the values of moves that capture the given seeds and
// lead to scores of a row.
func raise(column, row []int8, spans []span, captured int8) (moves uint64) {
	for _, r := range spans {
		n := r.n()
		moves += uint64(n)
		best, scores := column[r.from():][:n], row[r.to():][:n]
		for i, score := range scores {
			best[i] = max(best[i], captured-score)
		}
	}
	return moves
}
