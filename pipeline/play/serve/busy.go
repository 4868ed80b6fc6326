package serve

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"

	"grenier/layers/awari"
	"grenier/pipeline/play/search"
)

const (
	// maxShare bounds the requests of one client that compute at a time, whatever the
	// machine has: each may have an engine, and so much memory.
	maxShare = 4
	// maxWaiting bounds the requests of one client that compute or wait for it. A
	// page makes one or two.
	maxWaiting = 16
	// engineBytes is the memory of an engine.
	engineBytes = 64 << 20
	// blocksBytes is the memory of the scores that all engines share.
	blocksBytes = 128 << 20
)

var (
	// errBusy reports that too much is being computed for others.
	errBusy = badRequest{http.StatusServiceUnavailable, codeBusy, errors.New("the server is busy with others: try again")}
	// errGreedy reports that too much is being computed for the client itself.
	errGreedy = badRequest{http.StatusTooManyRequests, codeGreedy, errors.New("the server is busy with other requests of yours: wait for them")}
)

// turn lets one request compute.
type turn struct{ engines *engines }

// engines are those that no request uses. A search of a board goes on with the engine that
// searched the board last, if that is still there.
type engines struct {
	mu   sync.Mutex
	most int // engines to be made before one is used for another board
	made int
	idle []seat // the one that was used last at the end
}

// seat is an engine and the board that it searched.
type seat struct {
	engine *search.Engine
	board  awari.Board
}

// take returns the engine for a board.
func (e *engines) take(blocks *search.Blocks, board awari.Board) *search.Engine {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.idle, func(s seat) bool { return s.board == board })
	if i < 0 && (e.made < e.most || len(e.idle) == 0) {
		e.made++
		return search.New(blocks, search.Options{Bytes: engineBytes})
	}
	i = max(i, 0)
	engine := e.idle[i].engine
	e.idle = slices.Delete(e.idle, i, i+1)
	return engine
}

// give returns an engine after a search. One that does not come back is replaced.
func (e *engines) give(engine *search.Engine, board awari.Board) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.idle = append(e.idle, seat{engine, board})
}

// turns hands out turns. No client can have all of them: there is always one for
// another client, who waits for clients like itself only.
type turns struct {
	share int        // turns that one client may have
	free  chan *turn // those that no request has; whoever waits longest gets the next

	mu      sync.Mutex
	clients map[netip.Addr]*share // those with requests that compute or wait
}

// Processors returns the GOMAXPROCS that a process with this server needs: beside the processors there
// are, one for each goroutine that computes. With fewer, an answer that takes microseconds waits again and
// again, ten milliseconds each, until such a goroutine is interrupted; so the system shares the
// processors out, which is faster.
func (s *Server) Processors() int { return s.processors + cap(s.turns.free) + 1 } // and the search for the hardest positions

// share is what one client has.
type share struct {
	slots    chan struct{} // full when the client has as many turns as it may
	requests int
}

// newTurns returns as many turns for one client as there are CPUs, and one more.
func newTurns() *turns {
	n := min(runtime.GOMAXPROCS(0), maxShare)
	q := &turns{share: n, free: make(chan *turn, n+1), clients: map[netip.Addr]*share{}}
	all := &engines{most: n + 1}
	for range n + 1 {
		q.free <- &turn{all}
	}
	return q
}

// await returns a turn and what gives it back. It fails with errGreedy when other
// requests of the client are in the way for too long, with errBusy when those of
// others are, and with the cause of ctx when nobody waits any more.
func (q *turns) await(ctx context.Context, client netip.Addr, patience time.Duration) (*turn, func(), error) {
	own := q.enter(client)
	if own == nil {
		return nil, nil, errGreedy
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case own.slots <- struct{}{}:
	case <-late.C:
		q.leave(client)
		return nil, nil, errGreedy
	case <-ctx.Done():
		q.leave(client)
		return nil, nil, context.Cause(ctx)
	}
	back := func() {
		<-own.slots
		q.leave(client)
	}
	select {
	case t := <-q.free:
		return t, func() { q.free <- t; back() }, nil
	case <-late.C:
		back()
		return nil, nil, errBusy
	case <-ctx.Done():
		back()
		return nil, nil, context.Cause(ctx)
	}
}

// enter counts a request and returns the share of its client, nil if that has too
// many requests.
func (q *turns) enter(client netip.Addr) *share {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := q.clients[client]
	if own == nil {
		own = &share{slots: make(chan struct{}, q.share)}
		q.clients[client] = own
	}
	if own.requests == maxWaiting {
		return nil
	}
	own.requests++
	return own
}

// leave forgets a request, and its client with the last one.
func (q *turns) leave(client netip.Addr) {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := q.clients[client]
	if own.requests--; own.requests == 0 {
		delete(q.clients, client)
	}
}

// compute answers with what f finds out while it has a turn. The turn is given back
// before the answer is sent: who reads slowly must not keep it.
func (s *Server) compute(w http.ResponseWriter, r *http.Request, f func(context.Context, *turn) (any, error)) {
	found, err := s.inTurn(r, f)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	answer(w, r, http.StatusOK, found)
}

func (s *Server) inTurn(r *http.Request, f func(context.Context, *turn) (any, error)) (any, error) {
	t, back, err := s.turns.await(r.Context(), clientOf(r.RemoteAddr), s.limits.queue)
	if err != nil {
		return nil, err
	}
	defer back()
	return f(r.Context(), t)
}

// search searches a board.
func (t *turn) search(ctx context.Context, blocks *search.Blocks, board boardToSearch) (*search.Result, error) {
	engine := t.engines.take(blocks, board.Board)
	result, err := engine.Search(ctx, board.Board, search.Limits{Time: board.time, AllMoves: true})
	t.engines.give(engine, board.Board)
	return result, err
}
