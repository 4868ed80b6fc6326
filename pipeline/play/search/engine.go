package search

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"grenier/layers/awari"
)

// Engine searches. Its transposition table is kept from one search to the next.
// It is for one goroutine at a time.
type Engine struct {
	scores Scores
	game   awari.Game
	solved int // layers up to this one are solved

	stored table
	order  order
	path   [maxPly + 1]awari.Board
	lines  variations
	proofs [awari.MaxSeeds + 1]*proof // by seeds
	budget int                        // nodes that the proof at hand may still take
	// attempt is the number of proofs that were tried in vain before.
	attempt int
	// mostNodes is the largest budget that there is memory for.
	mostNodes int

	stop                         *atomic.Bool // asks the search to end
	err                          error        // of scores
	nodes, tableHits, storedHits uint64
	reads                        uint64 // table hits that the transposition table did not have
}

// maxPly bounds the length of a path: after the last ply of depth every move
// captures two seeds or more, and one ply may stay for a board without moves.
const maxPly = MaxDepth + awari.MaxSeeds/2 + 1

// New returns an engine that knows the given scores.
func New(scores Scores, o Options) *Engine {
	if o.TableBytes == 0 {
		o.TableBytes = DefaultTableBytes
	}
	forProofs := o.TableBytes / 4
	return &Engine{
		scores: scores, game: scores.Game(), solved: scores.MaxSeeds(),
		stored: newTable(o.TableBytes - forProofs), mostNodes: int(min(forProofs/proofBytes, math.MaxInt32)),
	}
}

// Search searches a board until the score is known or a limit is reached. Solved
// boards are answered from the tables; package line has the moves that make
// progress there. When ctx is cancelled Search returns what is known so far with
// the error of ctx. Other errors come from Scores.Score, or from a board that the
// game does not have (awari.ErrBoard, awari.ErrSeeds).
func (e *Engine) Search(ctx context.Context, b awari.Board, l Limits) (*Result, error) {
	if err := e.check(b); err != nil {
		return nil, err
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if l.Time > 0 {
		limited, cancel = context.WithTimeout(ctx, l.Time)
	}
	defer cancel()
	stop := e.begin()
	stop.Store(limited.Err() != nil)
	defer context.AfterFunc(limited, func() { stop.Store(true) })()
	r := newRoot(e, b, l)
	r.run()
	if e.err != nil {
		return nil, e.err
	}
	switch {
	case r.closed():
		r.result.Reason = Exact
	case ctx.Err() != nil:
		r.result.Reason = Interrupted
		return &r.result, ctx.Err()
	case stop.Load():
		r.result.Reason = TimeLimit
	default:
		r.result.Reason = DepthLimit
	}
	return &r.result, nil
}

// check refuses boards that the game does not have.
func (e *Engine) check(b awari.Board) error {
	for _, x := range b[e.game.Pits():] {
		if x != 0 {
			return fmt.Errorf("%w: %v has seeds beyond pit %d", awari.ErrBoard, b, e.game.Pits()-1)
		}
	}
	if n := b.Seeds(); n > awari.MaxSeeds {
		return fmt.Errorf("%w: %d on the board (at most %d fit)", awari.ErrSeeds, n, awari.MaxSeeds)
	}
	return nil
}

// begin forgets what belongs to the search before, and returns what stops this
// one.
func (e *Engine) begin() *atomic.Bool {
	e.stop = new(atomic.Bool)
	e.err = nil
	e.nodes, e.tableHits, e.storedHits, e.reads = 0, 0, 0, 0
	e.order = order{}
	e.stored.age()
	return e.stop
}
