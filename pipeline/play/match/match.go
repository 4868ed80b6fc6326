// Package match plays games of awari: a Match is the record of a game between two
// players, a Player finds moves, as good as they can be or of less strength.
//
// The first player is South, the other one North. Every position of a Match is seen
// by the player whose turn it is, as everywhere else.
//
// A game ends when the player to move has no move: his opponent then keeps the
// seeds on the board. Endless play is worth 0, but no rule says when play is
// endless: when a position comes back the players may agree that it is, and the
// seeds on the board count for nobody.
package match

import (
	"errors"
	"fmt"

	"grenier/layers/awari"
)

// Side is one of the players.
type Side int

// South moves first.
const (
	South Side = iota
	North
)

// String returns "south" or "north".
func (s Side) String() string {
	if s == South {
		return "south"
	}
	return "north"
}

// PitName returns the name of a pit of the player, see awari.PitName.
func (s Side) PitName(pit int) string { return awari.PitName(int(s), pit) }

// Other returns the opponent.
func (s Side) Other() Side { return 1 - s }

// Refusals of a Match.
var (
	// ErrIllegal reports a pit that may not be played.
	ErrIllegal = errors.New("illegal move")
	// ErrOver reports a move after the end.
	ErrOver = errors.New("the game is over")
	// ErrNoRepetition reports a draw agreed on where no position has come back.
	ErrNoRepetition = errors.New("no position has come back")
	// ErrStart reports that there is no move to take back.
	ErrStart = errors.New("no move was played")
)

// State is whether a game is in progress, or how it ended.
type State int

// A game is in progress, has ended because a player could not move, or was agreed to
// be endless.
const (
	Playing State = iota
	Finished
	Drawn
)

// Match is the record of a game.
type Match struct {
	game  awari.Game
	turns []turn // the last one is the present
	drawn bool
}

// turn is a position of a game.
type turn struct {
	board awari.Board
	taken [2]int // by side
	pit   int    // that was played to come here
	since int    // the first turn without a capture since
}

// New returns a game that South begins on the given board.
func New(game awari.Game, board awari.Board) *Match {
	return &Match{game: game, turns: []turn{{board: board}}}
}

func (m *Match) now() *turn { return &m.turns[len(m.turns)-1] }

// Game returns the rules of the match.
func (m *Match) Game() awari.Game { return m.game }

// Board returns the board, seen by the player whose turn it is.
func (m *Match) Board() awari.Board { return m.now().board }

// Turn returns the player whose turn it is.
func (m *Match) Turn() Side { return Side((len(m.turns) - 1) % 2) }

// Taken returns the seeds that the players own, by side. At the end they include
// the seeds left on the board, unless the players agreed on endless play.
func (m *Match) Taken() [2]int {
	taken := m.now().taken
	if m.State() == Finished {
		taken[m.Turn().Other()] -= m.game.Terminal(m.Board())
	}
	return taken
}

// Score returns the seeds that South has taken minus North's.
func (m *Match) Score() int {
	taken := m.Taken()
	return taken[South] - taken[North]
}

// State reports whether the game is in progress, or how it ended.
func (m *Match) State() State {
	if m.drawn {
		return Drawn
	}
	for _, play := range m.game.Plays(m.Board()) {
		if play.Legal {
			return Playing
		}
	}
	return Finished
}

// Pits returns the pits that were played.
func (m *Match) Pits() []int {
	pits := make([]int, 0, len(m.turns)-1)
	for _, t := range m.turns[1:] {
		pits = append(pits, t.pit)
	}
	return pits
}

// Play plays a pit of the player whose turn it is and returns the number of seeds
// captured. It fails with ErrIllegal or ErrOver and changes nothing then.
func (m *Match) Play(pit int) (captured int, err error) {
	if m.State() != Playing {
		return 0, ErrOver
	}
	if pit < 0 || pit >= m.game.Half() {
		return 0, fmt.Errorf("%w: pit %d: must be 0 to %d", ErrIllegal, pit, m.game.Half()-1)
	}
	play := m.game.Plays(m.Board())[pit]
	switch {
	case play.Starves && !play.Legal:
		return 0, fmt.Errorf("%w: pit %s leaves the opponent without seeds", ErrIllegal, m.Turn().PitName(pit))
	case !play.Legal:
		return 0, fmt.Errorf("%w: pit %s is empty", ErrIllegal, m.Turn().PitName(pit))
	}
	next := turn{board: play.Child, taken: m.now().taken, pit: pit, since: m.now().since}
	if play.Captured > 0 {
		next.taken[m.Turn()] += play.Captured
		next.since = len(m.turns)
	}
	m.turns = append(m.turns, next)
	return play.Captured, nil
}

// Undo takes back the last move, or the agreement that play is endless. It fails
// with ErrStart.
func (m *Match) Undo() error {
	if m.drawn {
		m.drawn = false
		return nil
	}
	if len(m.turns) == 1 {
		return ErrStart
	}
	m.turns = m.turns[:len(m.turns)-1]
	return nil
}

// Repeated reports whether the player whose turn it is has had this board before.
func (m *Match) Repeated() bool {
	last := len(m.turns) - 1
	for i := last - 2; i >= m.now().since; i -= 2 {
		if m.turns[i].board == m.Board() {
			return true
		}
	}
	return false
}

// Draw ends the game by agreement that play is endless. It fails with ErrOver,
// or with ErrNoRepetition unless Repeated.
func (m *Match) Draw() error {
	switch {
	case m.State() != Playing:
		return ErrOver
	case !m.Repeated():
		return ErrNoRepetition
	}
	m.drawn = true
	return nil
}
