package exchange

import (
	"fmt"

	"grenier/kernels/colex"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
)

// shape is how the rows of a layer lie: those whose opponent half is full, and the others.
type shape struct {
	n, q   int
	halves *colex.Halves
	// plies reads the distances from a rank on, for the formats that have a column for them; nil without any.
	plies func(first uint64, dst []int8) error
}

func newShape(game awari.Game, n int) (*shape, error) {
	if n < 0 || n > awari.MaxSeeds {
		return nil, fmt.Errorf("%w %d: must be 0 to %d", awari.ErrSeeds, n, awari.MaxSeeds)
	}
	halves, err := colex.NewHalves(game.Half(), n)
	if err != nil {
		return nil, err
	}
	return &shape{n: n, q: game.Half(), halves: halves}, nil
}

// Seeds returns the number of the layer.
func (s *shape) Seeds() int { return s.n }

// Positions returns the number of boards.
func (s *shape) Positions() uint64 { return s.halves.Board().Size(s.n) }

// full returns the number of boards whose opponent half has no empty pit.
func (s *shape) full() uint64 {
	if s.n < s.q {
		return 0
	}
	return s.halves.Board().Size(s.n - s.q)
}

// reachable returns the number of the other boards, those in a vu file.
func (s *shape) reachable() uint64 { return s.Positions() - s.full() }

// between returns how many scores of the boards from rank first to end-1 are in a file.
func (s *shape) between(f Format, first, end uint64) (uint64, error) {
	if f != Vu {
		return end - first, nil
	}
	before, err := s.fullBefore(first)
	if err != nil {
		return 0, err
	}
	after, err := s.fullBefore(end)
	return end - first - (after - before), err
}

// row is a run of boards with the same opponent half.
type row struct {
	tail     packed.Half // the seeds of the mover together, then the opponent's half
	from, to uint64      // ranks of its boards: from to to-1
}

// full reports whether none of the q pits of the opponent is empty.
func (r *row) full(q int) bool { return (r.tail >> 8).Full(q) }

// rowOf returns the row of the board with the given rank, which must be below Positions.
func (s *shape) rowOf(rank uint64) (*row, error) {
	board := make([]uint8, 2*s.q)
	if err := s.halves.Board().Unrank(s.n, rank, board); err != nil {
		return nil, err
	}
	mover := packed.Pack(board[:s.q]).Seeds()
	r := &row{tail: packed.Half(mover) | packed.Pack(board[s.q:])<<8, from: s.halves.RowStart(s.n, board[s.q:])}
	r.to = r.from + s.halves.Half().Size(mover)
	return r, nil
}

// next moves to the next row, which must exist.
func (s *shape) next(r *row) {
	r.tail = r.tail.Next()
	r.from, r.to = r.to, r.to+s.halves.Half().Size(r.tail.Pit(0))
}

// span is a run of boards, ranks from to to-1, that are all full, or all not.
type span struct {
	from, to uint64
	full     bool
}

// spans calls yield for the spans that the boards from rank from to to-1 consist of, in
// order.
func (s *shape) spans(from, to uint64, yield func(span)) error {
	if from >= to {
		return nil
	}
	r, err := s.rowOf(from)
	if err != nil {
		return err
	}
	current := span{from: from, to: from, full: r.full(s.q)}
	for {
		if full := r.full(s.q); full != current.full {
			yield(current)
			current = span{from: r.from, full: full}
		}
		current.to = min(r.to, to)
		if r.to >= to {
			yield(current)
			return nil
		}
		s.next(r)
	}
}

// fullBefore returns how many full boards come before rank, which may be Positions.
//
// A full board comes before a board b if it has more seeds in the last pit i where they
// differ. For each i in the opponent's half, as long as the pits behind it are not empty,
// these are the boards of pits 0..i with at least b[i]+1 seeds in pit i and at least one in
// each of Q..i-1: without these seeds, all boards of i+1 pits, binom(s+i, i) with s seeds.
func (s *shape) fullBefore(rank uint64) (uint64, error) {
	if rank == s.Positions() {
		return s.full(), nil
	}
	r, err := s.rowOf(rank)
	if err != nil {
		return 0, err
	}
	count, left := uint64(0), s.n
	for i := 2*s.q - 1; i >= s.q; i-- {
		b := r.tail.Pit(1 + i - s.q)
		if seeds := left - (b + 1) - (i - s.q); seeds >= 0 {
			more, err := colex.Binomial(seeds+i, i)
			if err != nil {
				return 0, err
			}
			count += more
		}
		if b == 0 {
			return count, nil
		}
		left -= b
	}
	return count + rank - r.from, nil
}
