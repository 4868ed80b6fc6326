package census

import (
	"context"

	"grenier/kernels/boards"
	"grenier/kernels/colex"
	"grenier/layers/awari"
	"grenier/pipeline/internal/parts"
)

// Moves counts the moves on the boards of a layer.
type Moves struct {
	// Quiet is the number of legal moves that take no seed.
	Quiet uint64 `json:"quiet"`
	// Captures is the number of legal moves that capture by sowing.
	Captures uint64 `json:"captures"`
	// TakesAll is the number of legal moves that capture nothing by sowing and still take
	// all seeds, because they leave the opponent without any (not by the rules strict).
	TakesAll uint64 `json:"takes_all"`
	// WithCapture is the number of boards with a move of the last two kinds.
	WithCapture uint64 `json:"with_capture"`
	// MostMoves is the largest number of legal moves on a board.
	MostMoves int `json:"most_moves"`
	// MostPredecessors is the largest number of boards from which a quiet move leads to
	// the same one: the K that document 001 takes to be 12. All predecessors together are
	// the quiet moves.
	MostPredecessors int `json:"most_predecessors"`
	// Predecessors is the number of quiet moves again, counted at their ends.
	Predecessors uint64 `json:"predecessors"`
}

// CountMoves counts the moves of the layer of n seeds. It fails with the
// errors of package colex or of ctx.
func CountMoves(ctx context.Context, game awari.Game, n, workers int) (Moves, error) {
	layer, err := boards.New(game.Pits(), n)
	if err != nil {
		return Moves{}, err
	}
	counts := make([]counter, max(1, workers))
	err = parts.Each(ctx, workers, layer.Size(), func(worker int, from, to uint64) error {
		return counts[worker].part(ctx, game, layer, from, to)
	})
	var all Moves
	for i := range counts {
		all.add(&counts[i].moves)
	}
	return all, err
}

// add adds the counts of other boards.
func (m *Moves) add(o *Moves) {
	m.Quiet += o.Quiet
	m.Captures += o.Captures
	m.TakesAll += o.TakesAll
	m.WithCapture += o.WithCapture
	m.Predecessors += o.Predecessors
	m.MostMoves = max(m.MostMoves, o.MostMoves)
	m.MostPredecessors = max(m.MostPredecessors, o.MostPredecessors)
}

// counter counts the moves of the boards of a worker.
type counter struct {
	moves Moves
	block []uint8
	prior []awari.Board
}

// blockSize is the number of boards that a counter lists at a time.
const blockSize = 1024

// part counts the moves of the boards with ranks from to to-1.
func (c *counter) part(ctx context.Context, game awari.Game, layer *boards.Layer, from, to uint64) error {
	pits := game.Pits()
	if c.block == nil {
		c.block = make([]uint8, blockSize*pits)
	}
	first := c.block[:pits]
	if err := layer.Unrank(first, []uint64{from}); err != nil {
		return err
	}
	next := colex.ListToBV(first)
	for ; from < to; from += blockSize {
		if err := ctx.Err(); err != nil {
			return err
		}
		block := c.block[:int(min(blockSize, to-from))*pits]
		next = layer.Iterate(block, next)
		for ; len(block) > 0; block = block[pits:] {
			var b awari.Board
			copy(b[:], block[:pits])
			c.board(game, b)
		}
	}
	return nil
}

// board counts the moves of a board, and those that lead to it.
func (c *counter) board(game awari.Game, b awari.Board) {
	m := &c.moves
	plays := game.Plays(b)
	legal, takes := 0, false
	for pit := range game.Half() {
		play := &plays[pit]
		if !play.Legal {
			continue
		}
		legal++
		switch {
		case play.Captured == 0:
			m.Quiet++
			continue
		case play.Starves && game.Sow(b, pit).Captured == 0:
			m.TakesAll++
		default:
			m.Captures++
		}
		takes = true
	}
	if takes {
		m.WithCapture++
	}
	m.MostMoves = max(m.MostMoves, legal)
	c.prior = game.Predecessors(c.prior[:0], b)
	m.Predecessors += uint64(len(c.prior))
	m.MostPredecessors = max(m.MostPredecessors, len(c.prior))
}
