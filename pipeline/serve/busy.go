package serve

import (
	"context"
	"errors"
	"net/http"
	"runtime"

	"grenier/pipeline/search"
)

const (
	// maxTurns bounds the requests that compute at a time, whatever the machine
	// has: each may have an engine, and so much memory.
	maxTurns = 4
	// engineBytes is the transposition table of an engine.
	engineBytes = 64 << 20
)

// errBusy reports that too much is being computed for others.
var errBusy = badRequest{http.StatusServiceUnavailable, errors.New("the server is busy with others: try again")}

// turn lets one request compute. It keeps its engine for the requests that have
// the turn later.
type turn struct {
	engine *search.Engine // nil until the first search
}

// newTurns returns a queue with all turns in it.
func newTurns() chan *turn {
	n := min(runtime.GOMAXPROCS(0), maxTurns)
	turns := make(chan *turn, n)
	for range n {
		turns <- &turn{}
	}
	return turns
}

// await returns a turn, which belongs back into s.turns. It fails with errBusy when
// that takes too long or nobody waits any more.
func (s *Server) await(ctx context.Context) (*turn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.limits.queue)
	defer cancel()
	select {
	case t := <-s.turns:
		return t, nil
	case <-ctx.Done():
		return nil, errBusy
	}
}

// search searches a board with the engine of the turn, which is made anew after a
// search that did not return.
func (t *turn) search(ctx context.Context, scores search.Scores, board boardToSearch) (*search.Result, error) {
	engine := t.engine
	t.engine = nil
	if engine == nil {
		engine = search.New(scores, search.Options{TableBytes: engineBytes})
	}
	result, err := engine.Search(ctx, board.Board, search.Limits{Time: board.time, AllMoves: true})
	t.engine = engine
	return result, err
}
