// Package line plays solved positions to the end: it finds best lines, lines in
// which both players keep the score and which make progress.
//
//	l, err := line.Best(ctx, tables, board, line.Options{})
//	move, err := line.Next(ctx, tables, board, line.Options{})
//
// # Why the scores alone are not enough
//
// A move keeps the score if it captures c and leads to a position worth c minus
// the score. A winner who plays any such move may play in cycles for ever:
// the position he comes back to has the same score, but endless play is worth 0. So among the moves that keep the score he needs
// one that makes progress.
//
// # Distance
//
// Take a position of layer n whose score is not 0. The winner is the player for
// whom it is positive, the other one the loser; a quiet move that keeps the
// score changes neither. The distance of a position is the number of plies to
// the next capture, or to the end of the game, when both only play moves that
// keep the score, the winner hurries and the loser delays:
//
//	winner to move: 1 if a capture keeps the score, otherwise
//	                1 + the least distance after a quiet move that keeps it
//	loser to move:  1 if no quiet move keeps the score, otherwise
//	                1 + the greatest distance after a quiet move that keeps it
//
// A loser without a move has the distance 1 too: the end of the game counts as a
// ply.
//
// Best plays the least distance for the winner and the greatest for the loser, so
// the distance falls by one with every ply, and a layer is left after as many
// plies as the first distance says. A loser who does not keep the score only
// helps: it only raises the score of the winner, who continues from there.
//
// # Why the distance is always finite
//
// Scores are grounded: a score v > 0 is the most that the winner can enforce
// after finitely many plies, since endless play is worth less. Give rank 1 to the
// positions of the layer from which the winner can capture and be worth v or
// more, or in which every move of the loser captures and leaves the winner v or
// more (none is also every). Give rank k+1 to those without a rank from which one
// move of the winner, or every quiet move of the loser, leads to ranks up to k.
// The positions that get a rank are exactly those worth v or more to the winner:
// elsewhere the loser can avoid all ranked positions for ever, or leave the layer
// for less than v. Now take a position worth v exactly. The winner's move to a
// lower rank keeps the score: it is worth v or more, and none is worth more than
// v. A move of the loser that keeps the score leads to a position worth v exactly,
// of lower rank. So by induction the distance is at most the rank.
//
// Scores that are locally right but not grounded, positions that only vouch for
// each other, have no distance. Best finds that out and reports damage.
//
// # Finding it
//
// If the scores know distances (Distances; package distance computes them) these are taken (stored.go). Otherwise they
// are searched. "At most d plies" is a question about a tree of depth
// d: it does not depend on how a position was reached, so answers are kept, and d
// grows by one until the answer is yes (within.go). Only what the answer needs is
// looked up. The positions kept are bounded; what needs more is a *LimitError.
//
// # Score 0
//
// Nobody can force anything: every move that keeps the score is as good as any
// other, and endless play is worth 0. Best captures if that keeps the score, and
// stops when the same player has the same board again: from there play may be
// endless, and neither can do better.
package line

import (
	"context"
	"fmt"

	"grenier/io/corrupt"
	"grenier/layers/awari"
)

// DefaultPositions is the number of positions kept unless Options say otherwise.
const DefaultPositions = 1 << 20

// PositionBytes is about the memory that a position takes while it is kept.
const PositionBytes = 160

// Scores are solved layers. *tables.Tables is one.
type Scores interface {
	// Game returns the game that the scores are of.
	Game() awari.Game
	// MaxSeeds returns the number of seeds up to which all layers are solved,
	// -1 if none is.
	MaxSeeds() int
	// Score returns the score of a board. It fails for boards with more than
	// MaxSeeds seeds, and with the error of ctx if that ends first.
	Score(ctx context.Context, b awari.Board) (int8, error)
}

// Options bound the work. They never change a line, only whether it is found.
type Options struct {
	// Positions is the largest number of positions kept at a time; 0 stands for
	// DefaultPositions.
	Positions int
}

// LimitError says that a distance was not found within Options.Positions.
type LimitError struct {
	Board awari.Board
	// Positions is the number of positions searched.
	Positions int
	// Plies is a distance that the board is known to exceed.
	Plies int
}

// Error says what was searched, how far, and what is known.
func (e *LimitError) Error() string {
	return fmt.Sprintf("board %v: the next capture is more than %d plies away, and %d positions do not suffice to find it",
		e.Board, e.Plies, e.Positions)
}

// Move is a move of a best line.
type Move struct {
	// Pit is the pit played, of the player whose turn it is.
	Pit int
	// Board is the board before the move, seen by the player who makes it.
	Board awari.Board
	// Child is the board after the move, seen by the other player.
	Child awari.Board
	// Captured is the number of seeds taken.
	Captured int
	// Value is the score of Board.
	Value int
	// Plies is the distance: the plies from Board to the next capture or to the
	// end of the game, this move and that end included. It is 0 when Value is 0
	// and nothing can be forced.
	Plies int
}

// End says why a line ends.
type End uint8

const (
	// Finished: the player to move has no move and loses the seeds on the board.
	Finished End = iota
	// Repetition: the player to move had this board before, and its score is 0.
	// From here it is a draw: the seeds on the board count for nobody.
	Repetition
)

// String returns "finished" or "repetition", as programs read it.
func (e End) String() string {
	if e == Repetition {
		return "repetition"
	}
	return "finished"
}

// Line is a best line.
type Line struct {
	// Value is the score of the first board.
	Value int
	// Moves are the moves, the first player's at even indices.
	Moves []Move
	// Last is the board after them, seen by the player whose turn it is.
	Last awari.Board
	// End says why there are no more.
	End End
}

// Running returns the seeds that the first player has taken minus the
// other one's, after each move. What the loser leaves on the board in the end is
// not in it.
func (l *Line) Running() []int {
	scores := make([]int, len(l.Moves))
	score := 0
	for i, m := range l.Moves {
		if score += m.Captured; i%2 == 1 {
			score -= 2 * m.Captured
		}
		scores[i] = score
	}
	return scores
}

// Next returns the move of the best line from a board. ok is false when the
// player to move cannot move. It fails with *LimitError, with an error that matches
// corrupt.ErrCorrupt when scores contradict each other, with the error of ctx, or
// like Scores.Score.
func Next(ctx context.Context, scores Scores, b awari.Board, o Options) (m Move, ok bool, err error) {
	p := player{ctx: ctx, scores: scores, options: o}
	return p.next(b)
}

// Best returns a best line from a board to the end of the game or to the first
// repetition. It fails like Next.
func Best(ctx context.Context, scores Scores, b awari.Board, o Options) (*Line, error) {
	p := player{ctx: ctx, scores: scores, options: o}
	l := &Line{Last: b}
	seen := map[turn]bool{}
	for i := 0; ; i++ {
		t := turn{l.Last, i%2 == 1}
		if seen[t] {
			l.End = Repetition
			return l, nil
		}
		seen[t] = true
		m, ok, err := p.next(l.Last)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			l.Value = p.value
		}
		if !ok {
			return l, nil
		}
		if m.Value != 0 || m.Captured > 0 {
			clear(seen)
		}
		l.Moves = append(l.Moves, m)
		l.Last = m.Child
	}
}

// turn is a board and which of the players has it.
type turn struct {
	board  awari.Board
	second bool
}

// player makes the moves of one line.
type player struct {
	ctx     context.Context
	scores  Scores
	options Options
	value   int     // of the board that next was called with
	finder  *finder // distances in the layer and for the score at hand
}

// next returns the best move on a board.
func (p *player) next(b awari.Board) (Move, bool, error) {
	if err := p.ctx.Err(); err != nil {
		return Move{}, false, err
	}
	score, err := p.scores.Score(p.ctx, b)
	if err != nil {
		return Move{}, false, err
	}
	p.value = int(score)
	if score == 0 {
		return p.keep(b)
	}
	return p.progress(b)
}

// keep returns a move that keeps the score 0: the largest capture if one does.
func (p *player) keep(b awari.Board) (m Move, ok bool, err error) {
	game := p.scores.Game()
	plays := game.Plays(b)
	none := true
	for pit, play := range plays[:game.Half()] {
		if !play.Legal {
			continue
		}
		none = false
		if ok && play.Captured <= m.Captured {
			continue
		}
		score, err := p.scores.Score(p.ctx, play.Child)
		if err != nil {
			return Move{}, false, err
		}
		if play.Captured == int(score) {
			m, ok = Move{Pit: pit, Board: b, Child: play.Child, Captured: play.Captured}, true
		}
	}
	if !ok && (!none || game.Terminal(b) != 0) {
		return Move{}, false, contradiction(game, b, 0, "none of its moves keeps")
	}
	return m, ok, nil
}

// progress returns the move of least distance for the winner, of greatest for
// the loser.
func (p *player) progress(b awari.Board) (Move, bool, error) {
	if d, ok := p.scores.(Distances); ok {
		if m, ok, known, err := p.stored(d, b); known || err != nil {
			return m, ok, err
		}
	}
	if f := p.finder; f == nil || f.seeds != b.Seeds() || f.value != max(p.value, -p.value) {
		p.finder = newFinder(p.ctx, p.scores, b.Seeds(), p.value, p.options.Positions)
	}
	plies, err := p.finder.distance(b, p.value)
	if err != nil {
		return Move{}, false, err
	}
	plays := p.scores.Game().Plays(b)
	if !anyLegal(&plays) {
		return Move{}, false, nil
	}
	pit, err := p.finder.choose(b, p.value, plies)
	if err != nil {
		return Move{}, false, err
	}
	play := plays[pit]
	return Move{
		Pit: pit, Board: b, Child: play.Child, Captured: play.Captured, Value: p.value, Plies: plies,
	}, true, nil
}

func anyLegal(plays *[awari.MaxPits / 2]awari.Play) bool {
	for pit := range plays {
		if plays[pit].Legal {
			return true
		}
	}
	return false
}

// contradiction returns the error for scores that cannot all be true.
func contradiction(game awari.Game, b awari.Board, value int, what string) error {
	return corrupt.New(fmt.Sprintf("scores of layer %d", b.Seeds()), "board "+game.Text(b), "the score is %d, but %s it", value, what)
}
