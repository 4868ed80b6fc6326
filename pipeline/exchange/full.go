package exchange

import (
	"context"
	"math"
	"sync"

	"grenier/io/crew"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
	"grenier/pipeline/tables"
)

// filler works out the scores of full boards: the best of their moves, captured minus score of
// the child.
//
// It takes the halves of the mover one by one, each with all full halves of the opponent. A
// pit of such a half always leaves the same seeds to the mover, so that the children that
// captured nothing are in one row of the layer, and the others in one row of each layer
// below: what is read lies together.
type filler struct {
	game   awari.Game
	source *vuSource
	lower  *tables.Tables
}

// fill sets the full boards of the source.
func (f *filler) fill(ctx context.Context, workers int, progress func(done uint64)) error {
	s := f.source
	s.filled = make([]int8, s.full())
	if len(s.filled) == 0 {
		return nil
	}
	codes := s.halves.Half().First(s.n - s.q + 1) // halves of the mover
	columns := make([]*column, workers)
	var mu sync.Mutex
	total := uint64(0)
	return crew.Each(ctx, workers, int(codes), func(worker, i int) error {
		if columns[worker] == nil {
			columns[worker] = &column{filler: f}
		}
		done, err := columns[worker].fill(ctx, uint64(i))
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		total += done
		progress(total)
		return nil
	})
}

// column is the full boards with a given half of the mover. It belongs to one goroutine.
type column struct {
	*filler
	seeds int                       // of the mover
	board awari.Board               // the mover's half is set
	rows  [awari.MaxPits / 2][]int8 // scores of the rows that the pits lead to
	known [awari.MaxPits / 2]bool   // rows that were read
	less  [awari.MaxPits / 2]uint8  // the opponent's half without a seed of each pit
}

// fill works out the boards whose mover's half has the given code, and returns how many
// there are.
func (c *column) fill(ctx context.Context, code uint64) (uint64, error) {
	s := c.source
	c.board, c.known = awari.Board{}, [awari.MaxPits / 2]bool{}
	var err error
	if c.seeds, err = s.halves.Half().Decode(code, c.board[:s.q]); err != nil {
		return 0, err
	}
	rank := s.halves.Half().Rank(c.board[:s.q])
	left := s.n - s.q - c.seeds // seeds of the opponent beyond one in each pit
	less, half := c.less[:s.q], packed.Half(left)<<(8*(s.q-1))
	count := s.halves.Half().Size(left)
	for i := range count {
		if i > 0 {
			half = half.Next()
		}
		half.Unpack(less)
		for pit, seeds := range less {
			c.board[s.q+pit] = seeds + 1
		}
		score, err := c.score(ctx)
		if err != nil {
			return 0, err
		}
		s.filled[s.halves.RowStart(s.n-s.q, less)+rank] = score
	}
	return count, nil
}

// score returns the score of the board.
func (c *column) score(ctx context.Context) (int8, error) {
	best, plays := math.MinInt, c.game.Plays(c.board)
	for pit := range c.source.q {
		play := &plays[pit]
		if !play.Legal {
			continue
		}
		child, err := c.child(ctx, pit, play)
		if err != nil {
			return 0, err
		}
		best = max(best, play.Captured-int(child))
	}
	if best == math.MinInt {
		best = c.game.Terminal(c.board)
	}
	// The tables refuse scores of lower layers beyond their seeds, and the source its own:
	// what follows from them is in range.
	return int8(best), nil
}

// child returns the score of a child.
func (c *column) child(ctx context.Context, pit int, play *awari.Play) (int8, error) {
	if play.Captured > 0 {
		return c.lower.Score(ctx, play.Child)
	}
	s := c.source
	if !c.known[pit] {
		if err := c.read(pit, play.Child[s.q:2*s.q]); err != nil {
			return 0, err
		}
	}
	return c.rows[pit][s.halves.Half().Rank(play.Child[:s.q])], nil
}

// read reads the row that a pit leads to.
func (c *column) read(pit int, opponent []uint8) error {
	s, rest := c.source, c.source.n
	for _, seeds := range opponent {
		rest -= int(seeds)
	}
	size := int(s.halves.Half().Size(rest))
	if cap(c.rows[pit]) < size {
		c.rows[pit] = make([]int8, size)
	}
	c.rows[pit], c.known[pit] = c.rows[pit][:size], true
	return s.Read(s.halves.RowStart(s.n, opponent), c.rows[pit])
}
