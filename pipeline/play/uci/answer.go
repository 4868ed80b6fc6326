package uci

import (
	"context"
	"errors"
	"fmt"
	"time"

	"grenier/pipeline/play/line"
	"grenier/pipeline/play/search"
)

// answer looks for the move in one position.
type answer struct {
	*Session
	engine *search.Engine
	at     position
	begun  time.Time // when the move was asked for
	told   string    // the last line about the search
}

// find looks for a move and tells how far it is. Once held is closed or ctx has ended, it returns
// the move, as bestmove tells it.
func (a *answer) find(ctx context.Context, limits search.Limits, held <-chan struct{}) (string, error) {
	limit := limits.Time
	if limits.Time = a.rest(limit); a.solved() {
		limits.Time = 0 // the tables are asked in any case: without them the move may lose
	}
	r, err := a.engine.Search(ctx, a.at.board, limits)
	if r == nil || err != nil && ctx.Err() == nil {
		return noMove, err
	}
	pit := r.Best
	if a.solved() && pit >= 0 {
		if pit, err = a.progress(ctx, a.rest(limit), r); err != nil {
			return noMove, err
		}
	}
	a.tell(r)
	select {
	case <-held:
	case <-ctx.Done():
	}
	if pit < 0 {
		return noMove, nil
	}
	if len(r.Line) > 1 && r.Line[0] == pit {
		return a.at.turn.PitName(pit) + " ponder " + a.at.turn.Other().PitName(r.Line[1]), nil
	}
	return a.at.turn.PitName(pit), nil
}

// rest returns what is left of a time for the move, a moment at least; 0 stands for no limit.
func (a *answer) rest(limit time.Duration) time.Duration {
	if limit == 0 {
		return 0
	}
	return max(atOnce, limit-time.Since(a.begun))
}

// noMove stands for a missing move in bestmove.
const noMove = "0000"

// solved reports whether the tables have the position.
func (a *answer) solved() bool { return a.at.board.Seeds() <= a.options.Scores.MaxSeeds() }

// progress returns a move that keeps the value of a solved position and makes progress, or
// merely keeps the value if there is no time, or no memory, to find one.
func (a *answer) progress(ctx context.Context, limit time.Duration, r *search.Result) (pit int, err error) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	m, ok, err := line.Next(ctx, a.options.Scores, a.at.board, line.Options{Positions: a.options.Positions})
	stuck, full := errors.AsType[*line.LimitError](err)
	switch {
	case full:
		a.say("info string the move keeps the value, but may not make progress: %v", stuck)
		return r.Best, nil
	case err != nil && ctx.Err() != nil:
		return r.Best, nil
	case err != nil || !ok:
		return r.Best, err
	}
	if m.Pit != r.Best {
		r.Best, r.Line = m.Pit, []int{m.Pit}
	}
	return m.Pit, nil
}

// tell reports the result: the score of the game, in hundredths of a seed, for the
// player whose turn it is.
func (a *answer) tell(r *search.Result) {
	taken := a.at.taken[a.at.turn] - a.at.taken[a.at.turn.Other()]
	text := fmt.Sprintf("info depth %d score cp %d time %d nodes %d nps %.0f tbhits %d", max(1, r.Depth), 100*(taken+r.Estimate),
		r.Elapsed.Milliseconds(), r.Nodes, r.NodesPerSecond, r.TableHits)
	if len(r.Line) > 0 && r.Best >= 0 {
		text += " pv " + Names(a.at.turn, r.Line)
	}
	bounds := fmt.Sprintf("info string proven: %d to %d", taken+r.Lower, taken+r.Upper)
	if r.Exact() {
		bounds = fmt.Sprintf("info string exact: %d", taken+r.Lower)
	}
	if text != a.told {
		a.told = text
		a.say("%s\n%s", text, bounds)
	}
}
