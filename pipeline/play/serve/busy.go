package serve

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"grenier/io/crew"
	"grenier/layers/awari"
	"grenier/pipeline/play/search"
)

const (
	// engineBytes is the memory of an engine.
	engineBytes = 64 << 20
	// blocksBytes is the memory of the scores that all engines share.
	blocksBytes = 128 << 20
)

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

// give returns an engine after a search. Of more than are kept the one goes that was not used for longest. One that does
// not come back is replaced.
func (e *engines) give(engine *search.Engine, board awari.Board) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.idle = append(e.idle, seat{engine, board})
	if len(e.idle) > e.most {
		e.idle = slices.Delete(e.idle, 0, 1)
		e.made--
	}
}

// Processors returns the GOMAXPROCS that a process with this server needs: beside the processors there
// are, one for each goroutine that computes for long. With fewer, an answer that takes microseconds waits again and
// again, ten milliseconds each, until such a goroutine is interrupted; so the system shares the
// processors out, which is faster.
func (s *Server) Processors() int {
	return s.processors + s.searches.most + s.finder.turns.most + 1 // and the search for the hardest positions
}

// inTurn returns the result of f, which runs while it has a turn. The turn is given back before the answer is
// sent: who reads slowly must not keep it.
func (s *Server) inTurn(r *http.Request, q *turns, f func(context.Context) (any, error)) (found any, err error) {
	err = q.take(r.Context(), clientOf(r.RemoteAddr), s.limits.queue, func() (err error) {
		found, err = f(r.Context())
		return err
	})
	if errors.Is(err, errGreedy) {
		rest(r.Context(), s.limits.penalty)
	}
	return found, err
}

// search searches a board. It ends before its time when others wait.
func (s *Server) search(ctx context.Context, board awari.Board, limit time.Duration) (*search.Result, error) {
	within, end := context.WithCancel(ctx)
	defer end()
	yield := func() error {
		s.searches.yield(within)
		end()
		return nil
	}
	crew.Go(yield, func(bug error) {
		if bug != nil {
			s.note(bug)
		}
	})
	engine := s.engines.take(s.blocks, board)
	result, err := engine.Search(within, board, search.Limits{Time: limit, AllMoves: true})
	s.engines.give(engine, board)
	if err != nil && result != nil && ctx.Err() == nil {
		result.Reason, err = search.TimeLimit, nil
	}
	return result, err
}
