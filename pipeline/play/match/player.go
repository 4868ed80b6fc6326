package match

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"grenier/layers/awari"
	"grenier/pipeline/play/line"
	"grenier/pipeline/play/search"
)

// Perfect is the highest level, the only one that always plays the best move.
const Perfect = 10

// ErrLevel reports a level that does not exist.
var ErrLevel = errors.New("level")

// Player finds moves. It is for one goroutine at a time.
type Player struct {
	scores line.Scores
	engine *search.Engine
	limits search.Limits
	level  int
	random *rand.Rand

	// Positions is the most that are kept to find moves that make progress, see
	// line.Options.
	Positions int
}

// NewPlayer returns a player who knows the scores and, above them, searches
// with the engine within the limits, whose AllMoves is ignored.
//
// A player of level k, 0 to Perfect, plays the best move, but in (10-k) of 10 cases a
// random one of those that are worth at most 10-k seeds less than the best; at level 0
// any legal one. It fails with ErrLevel.
func NewPlayer(scores line.Scores, engine *search.Engine, limits search.Limits, level int, random *rand.Rand) (*Player, error) {
	if level < 0 || level > Perfect {
		return nil, fmt.Errorf("%w %d: must be 0 to %d", ErrLevel, level, Perfect)
	}
	return &Player{scores: scores, engine: engine, limits: limits, level: level, random: random}, nil
}

// Advice is the knowledge of a player about a board.
type Advice struct {
	// Result holds the value of each move, exact where the board is solved. Best
	// is the pit to play; it makes progress if the board is solved, unless Stuck.
	search.Result
	// Solved says that the board and all that can follow is.
	Solved bool
	// Plies is the number of plies to the next capture or the end of the game in
	// the best line of a solved board whose score is not 0.
	Plies int
	// Stuck is not nil when no move that makes progress was found in reasonable
	// time: Best then only keeps the score.
	Stuck *line.LimitError
}

// Advise returns the player's advice for a board. When ctx is cancelled it
// fails; otherwise like search.Engine.Search and line.Next.
func (p *Player) Advise(ctx context.Context, b awari.Board) (*Advice, error) {
	return p.advise(ctx, b, true)
}

// advise is Advise, with the values of all moves or of the best one.
func (p *Player) advise(ctx context.Context, b awari.Board, all bool) (*Advice, error) {
	limits := p.limits
	limits.AllMoves = all
	r, err := p.engine.Search(ctx, b, limits)
	if err != nil {
		return nil, err
	}
	a := &Advice{Result: *r, Solved: r.Seeds <= p.scores.MaxSeeds()}
	if !a.Solved || a.Best < 0 {
		return a, nil
	}
	m, _, err := line.Next(ctx, p.scores, b, line.Options{Positions: p.Positions})
	if stuck, ok := errors.AsType[*line.LimitError](err); ok {
		a.Stuck = stuck
		return a, nil
	}
	a.Best, a.Plies = m.Pit, m.Plies
	return a, err
}

// Choose returns the pit that the player plays, -1 if there is none, and its
// advice. It fails like Advise.
func (p *Player) Choose(ctx context.Context, b awari.Board) (pit int, a *Advice, err error) {
	slack := Perfect - p.level
	if a, err = p.advise(ctx, b, slack > 0); err != nil {
		return -1, nil, err
	}
	if a.Best < 0 || p.random.IntN(Perfect) >= slack {
		return a.Best, a, nil
	}
	var pits []int
	for _, m := range a.Moves {
		if m.Legal && (p.level == 0 || m.Estimate >= a.Moves[a.Best].Estimate-slack) {
			pits = append(pits, m.Pit)
		}
	}
	return pits[p.random.IntN(len(pits))], a, nil
}

// AcceptsDraw reports whether the player agrees that play is endless: not if the
// board is proven to be worth more than 0 to it. own says that it is the
// player's turn.
func (a *Advice) AcceptsDraw(own bool) bool {
	if own {
		return a.Lower <= 0
	}
	return a.Upper >= 0
}
