package search

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"grenier/layers/awari"
	"grenier/layers/awari/packed"
)

// shared is common to the workers of a search.
type shared struct {
	game   awari.Game
	mover  *mover
	blocks *Blocks
	solved int // layers up to this one are solved
	stored *table
	stop   *atomic.Bool // asks all to end
	due    time.Time    // when the search must end; zero for no limit
	// ctx ends reads of scores, a while after the search was asked to end.
	ctx context.Context

	failed atomic.Bool // what follows from scores that were read is worth nothing
	mu     sync.Mutex
	err    error // of reading scores
}

// counter counts what a worker has done.
type counter struct {
	nodes      uint64 // positions visited
	tableHits  uint64 // of them solved ones
	storedHits uint64 // of them settled by the transposition table
	expanded   uint64 // nodes of the graph that got children
	swept      uint64 // nodes of the graph that were computed again
}

func (c *counter) add(d counter) {
	c.nodes += d.nodes
	c.tableHits += d.tableHits
	c.storedHits += d.storedHits
	c.expanded += d.expanded
	c.swept += d.swept
}

// score returns the score of a solved position with n seeds. If it cannot be read the search is
// asked to stop, and the score means nothing.
func (s *shared) score(p packed.Board, n int, c *counter) int {
	return s.scoreAt(n, s.mover.Rank(p), c)
}

// scoreAt is score for the position of layer n that has a rank.
func (s *shared) scoreAt(n int, rank uint64, c *counter) int {
	c.nodes++
	c.tableHits++
	if score := s.blocks.peek(n, rank); score != nil {
		return int(*score)
	}
	code := s.mover.first[n] + rank
	if e, ok := s.stored.find(code); ok {
		return int(e.estimate)
	}
	score, err := s.blocks.read(s.ctx, n, rank)
	if err != nil {
		s.fail(err)
		return 0
	}
	s.stored.put(code, entry{
		lower: score, upper: score, estimate: score, bound: equal, depth: lookUpDepth, pit: noPit,
	})
	return int(score)
}

// lookUpDepth is the depth of a search that takes about as long as to read a score.
const lookUpDepth = 6

// late reports whether the time is over.
func (s *shared) late() bool { return !s.due.IsZero() && !time.Now().Before(s.due) }

// watch asks all to end if the time is over. A search does so itself, every some hundred positions: the runtime may take ten milliseconds to
// run a timer while all that it has computes.
func (s *shared) watch() {
	if s.late() {
		s.stop.Store(true)
	}
}

// fail ends the search with an error, unless it says that a read was cut off.
func (s *shared) fail(err error) {
	if s.ctx.Err() == nil || !errors.Is(err, s.ctx.Err()) {
		s.mu.Lock()
		s.err = errors.Join(s.err, err)
		s.mu.Unlock()
	}
	s.failed.Store(true)
	s.stop.Store(true)
}

// begin forgets what belongs to the search before.
func (s *shared) begin(ctx context.Context, limit time.Duration) {
	s.ctx, s.stop, s.err, s.due = ctx, new(atomic.Bool), nil, time.Time{}
	if limit > 0 {
		s.due = time.Now().Add(limit)
	}
	s.stored.age()
}
