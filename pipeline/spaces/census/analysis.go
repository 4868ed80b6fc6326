package census

import (
	"context"
	"fmt"

	"grenier/io/memory"
	"grenier/layers"
	"grenier/layers/awari"
	"grenier/pipeline/spaces/retro"
)

// Analysis is the outcome of the retrograde analysis of document 001, repaired, in a layer.
type Analysis struct {
	Accesses retro.Accesses `json:"accesses"`
	// Deepest is the largest number of moves of best play until seeds leave the board: of
	// all boards the length of the chain that the proof of document 001 calls @u, the
	// shortest one if best play may choose. A board without a move has 0, one on which a
	// best move takes seeds 1.
	Deepest int `json:"deepest_chain"`
	// Endless is the number of boards without such a chain: best play never takes a seed
	// again.
	Endless uint64 `json:"endless"`
}

// analyse analyses layer n, after those below it.
func (c *Census) analyse(ctx context.Context, n int) (*Analysis, error) {
	data := c.space.Size(n) * retro.BytesPerState // the chains afterwards take less
	for _, scores := range c.table {
		data += uint64(len(scores))
	}
	if err := memory.Check(fmt.Sprintf("the analysis of layer %d", n), data, c.options.Memory); err != nil {
		return nil, err
	}
	scores, accesses, err := retro.SolveLayer(ctx, c.space, c.table, n, nil)
	if err != nil {
		return nil, err
	}
	c.table = append(c.table, scores)
	x := &chains{space: c.space, table: c.table, n: n, length: make([]uint16, len(scores))}
	err = x.find(ctx)
	return &Analysis{Accesses: accesses, Deepest: x.deepest, Endless: x.endless}, err
}

// chains finds how many moves of best play it takes until seeds leave the board.
type chains struct {
	space   *awari.Space
	table   [][]int8 // with layer n
	n       int
	length  []uint16 // by rank: that number plus one, 0 if it is not known
	deepest int
	endless uint64

	moves []layers.Move[awari.Board]
	prior []awari.Board
}

// find goes breadth first from the boards on which a best move takes seeds, or without a
// move, along the quiet moves that lead to them and are best.
func (c *chains) find(ctx context.Context) error {
	var ends [2][]uint64
	for rank := range c.table[c.n] {
		if rank%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if length, ok := c.end(uint64(rank)); ok {
			c.length[rank] = uint16(length) + 1
			ends[length] = append(ends[length], uint64(rank))
		}
	}
	now := ends[0]
	for length := 0; len(now) > 0 || length == 0; length++ {
		if len(now) > 0 {
			c.deepest = length
		}
		var next []uint64
		if length == 0 {
			next = ends[1]
		}
		for i, rank := range now {
			if i%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			next = c.before(next, rank, length)
		}
		now = next
	}
	for _, length := range c.length {
		if length == 0 {
			c.endless++
		}
	}
	return nil
}

// end returns 0 for a board without a move, 1 for one on which a best move takes seeds.
func (c *chains) end(rank uint64) (length int, ok bool) {
	score := int(c.table[c.n][rank])
	c.moves = c.space.Successors(c.moves[:0], c.space.Unrank(c.n, rank))
	if len(c.moves) == 0 {
		return 0, true
	}
	for _, m := range c.moves {
		layer, child := c.space.Rank(m.To)
		if layer < c.n && m.Reward-int(c.table[layer][child]) == score {
			return 1, true
		}
	}
	return 0, false
}

// before appends the boards from which the best move, or one of them, leads quietly to the
// board of the given rank and length, if their length is not known.
func (c *chains) before(dst []uint64, rank uint64, length int) []uint64 {
	scores := c.table[c.n]
	c.prior = c.space.Predecessors(c.prior[:0], c.space.Unrank(c.n, rank))
	for _, b := range c.prior {
		if _, v := c.space.Rank(b); c.length[v] == 0 && scores[v] == -scores[rank] {
			c.length[v] = uint16(length) + 2
			dst = append(dst, v)
		}
	}
	return dst
}
