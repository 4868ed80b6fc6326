// Package awari holds the rules of awari (awalé, oware) for boards of 4 to 12
// pits, written plainly: seed by seed, pit by pit. It is the definition that
// fast engines are tested against and that solved tables are verified with, so
// it shares no code with them.
//
// # The board
//
// A board has P = 2Q pits. The player to move, the mover, owns pits 0..Q-1 and
// the opponent pits Q..P-1; sowing goes from pit 0 upwards and from pit P-1
// back to pit 0. After a move the board is turned, so that the next player is
// the mover again:
//
//	opponent   P-1 ...  Q
//	mover       0  ... Q-1
//
// # A move
//
// The mover empties one of his pits, the origin, and sows its seeds one by one
// into the pits that follow. The origin is skipped on every lap, so P-1 seeds
// end on the pit before it. If the last seed makes 2 or 3 in a pit of the
// opponent these seeds are captured, and so are the seeds of the pits before it,
// as long as they are the opponent's and hold 2 or 3. A move must leave the
// opponent a seed to play; the Rules say what holds when none does, and what
// becomes of a capture that would take all of his seeds.
//
// Whether a sowing captures, and how much, depends on the opponent's half after
// it and on the pit of the last seed, not on what is left in the mover's half,
// under all rule sets: also whether a capture takes all of his seeds.
//
// The scores of a board with n seeds lie between -n and n: the seeds the mover
// takes from now on minus those the opponent takes. Play without end is worth
// 0.
//
// Game is the entry point. Its methods are pure functions on boards and do not
// allocate, except for those that return text or append to a slice. Space adds
// the numbering of package colex, which makes awari a layers.Space whose
// layer n is the set of boards with n seeds.
package awari

import (
	"fmt"

	"grenier/kernels/fault"
)

// Limits of the games that can be played.
const (
	// MinPits and MaxPits bound the pits of a board, both players together.
	MinPits = 4
	MaxPits = 12
	// MaxSeeds bounds the seeds of a board: four in each of twelve pits.
	MaxSeeds = 48
)

// Mistakes in a request. Errors wrap one of these and say what was given and what
// is allowed.
var (
	// ErrPits reports a number of pits that no game has.
	ErrPits = fault.New(fault.Usage, "number of pits")
	// ErrRules reports a rule set that does not exist.
	ErrRules = fault.New(fault.Usage, "rules")
	// ErrBoard reports a board with too many or too few pits.
	ErrBoard = fault.New(fault.Usage, "board")
	// ErrCount reports a pit whose content is not a number of seeds.
	ErrCount = fault.New(fault.Usage, "pit content")
	// ErrSeeds reports a number of seeds outside 0..MaxSeeds.
	ErrSeeds = fault.New(fault.Usage, "number of seeds")
)

// Board is the number of seeds in each pit, the mover's pits first. Entries beyond
// the pits of the game are 0, so boards can be compared with ==.
type Board [MaxPits]uint8

// Seeds returns the number of seeds on the board.
func (b Board) Seeds() int {
	n := 0
	for _, x := range b {
		n += int(x)
	}
	return n
}

// Game is a number of pits and a rule set. It is a small immutable value; the
// zero Game is not valid, use New.
type Game struct {
	pits  int
	rules Rules
}

// New returns the game on an even number of pits, MinPits to MaxPits. It fails
// with ErrPits or ErrRules.
func New(pits int, rules Rules) (Game, error) {
	if pits < MinPits || pits > MaxPits || pits%2 != 0 {
		return Game{}, fmt.Errorf("%w %d: must be 4, 6, 8, 10 or 12", ErrPits, pits)
	}
	if !rules.known() {
		return Game{}, fmt.Errorf("%w: number %d: must be %s", ErrRules, uint8(rules), rulesList())
	}
	return Game{pits: pits, rules: rules}, nil
}

// Pits returns the number of pits P, both players together.
func (g Game) Pits() int { return g.pits }

// Half returns the number of pits Q of one player.
func (g Game) Half() int { return g.pits / 2 }

// Rules returns the rule set.
func (g Game) Rules() Rules { return g.rules }

// Name returns a text like "awari, 12 pits, rules strict".
func (g Game) Name() string { return fmt.Sprintf("awari, %d pits, rules %s", g.pits, g.rules) }

// Start returns the board with the same number of seeds in every pit. It fails
// with ErrSeeds when the number is negative or the board would hold more than
// MaxSeeds.
func (g Game) Start(seedsPerPit int) (Board, error) {
	if seedsPerPit < 0 || seedsPerPit > MaxSeeds/g.pits {
		return Board{}, fmt.Errorf("%w: %d in each of %d pits: must be 0 to %d",
			ErrSeeds, seedsPerPit, g.pits, MaxSeeds/g.pits)
	}
	var b Board
	for i := range g.pits {
		b[i] = uint8(seedsPerPit)
	}
	return b, nil
}

// Turn returns the board as the other player sees it: the halves change places.
func (g Game) Turn(b Board) Board {
	var turned Board
	q := g.Half()
	for i := range q {
		turned[i], turned[q+i] = b[q+i], b[i]
	}
	return turned
}

// empty reports whether pits from..to-1 hold no seed.
func (b Board) empty(from, to int) bool {
	for _, x := range b[from:to] {
		if x != 0 {
			return false
		}
	}
	return true
}
