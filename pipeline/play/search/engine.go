package search

import (
	"context"
	"fmt"
	"math"
	"time"

	"grenier/layers/awari"
	"grenier/pipeline/job"
)

// Engine searches. Its transposition table and its graph are kept from one search to the next, so
// that a second search of a board continues where the first one ended.
// It is for one goroutine at a time.
type Engine struct {
	shared
	job     job.Job
	graph   *graph
	workers []*worker
	alone   bool // the graph and the only worker take turns
}

// New returns an engine that reads the scores in blocks.
func New(blocks *Blocks, o Options) *Engine {
	if o.Bytes == 0 {
		o.Bytes = DefaultBytes
	}
	forTable := o.Bytes / 4
	e := &Engine{job: o.Job, shared: shared{
		game: blocks.mover.Game(), mover: blocks.mover, blocks: blocks, solved: blocks.solved,
		stored: newTable(forTable, blocks.mover.first[awari.MaxSeeds+1]),
	}}
	e.graph = newGraph(&e.shared, o.Bytes-forTable)
	for range max(1, o.Workers-1) {
		e.workers = append(e.workers, &worker{shared: &e.shared, most: math.MaxUint64})
	}
	e.alone = o.Workers <= 1
	return e
}

// lastReads is how long the reads of a search that was asked to end may take. When those are cut off, the search forgets what it
// knows: tables on a disk are read in time.
const lastReads = 50 * time.Millisecond

// Search searches a board until the score is known or a limit is reached. Solved
// boards are answered from the tables; package line has the moves that make
// progress there. When ctx is cancelled Search returns what is known so far with
// the error of ctx. Other errors come from Scores.Read, from scores that contradict
// each other (corrupt.ErrCorrupt), or from a board that the
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
	reading, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	if e.failed.Swap(false) {
		e.stored.clear()
		e.graph.clear()
	}
	e.begin(reading, l.Time)
	stop := e.stop
	stop.Store(limited.Err() != nil)
	defer context.AfterFunc(limited, func() {
		stop.Store(true)
		select {
		case <-time.After(lastReads):
			cut()
		case <-reading.Done():
		}
	})()
	r := newRoot(e, b, l)
	err := r.run()
	if err != nil {
		return nil, err
	}
	switch {
	case r.closed():
		r.result.Reason = Exact
	case ctx.Err() != nil:
		r.result.Reason = Interrupted
		return &r.result, ctx.Err()
	case limited.Err() != nil || e.late():
		r.result.Reason = TimeLimit
	case l.Nodes > 0 && r.result.Depth < r.limits.Depth:
		r.result.Reason = NodeLimit
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
