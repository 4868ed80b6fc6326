package awari

import (
	"fmt"
	"strings"

	"grenier/layers"
)

// Rules is a rule set. All sets share sowing and captures; description has
// what they differ in, and this file is the only one that knows it. The numbers
// are stored in files: they never change.
type Rules uint8

const (
	// Awari is the rule set of Romein and Bal's solution: a move that leaves
	// the opponent without seeds is legal only if the mover has no other kind
	// of move, and then the mover takes every seed. A player without seeds
	// loses those on the board.
	Awari Rules = iota
	// Strict never allows to leave the opponent without seeds. A player
	// without a legal move loses the seeds on the board.
	Strict
	// Abapa is the rule set of tournaments: as Awari, but a move that would
	// capture all seeds of the opponent captures nothing. It leaves him those
	// seeds, so it feeds him and is always legal.
	Abapa
)

// description is a rule set: what becomes of a move that leaves the opponent
// without seeds. Under all sets a player without a legal move ends the game,
// and the opponent takes every seed (Terminal).
type description struct {
	name     string
	slam     slam
	starving starving
}

// slam is what a move does that would capture all seeds of the opponent.
type slam uint8

const (
	slamStarves slam = iota // it takes them, and leaves him without seeds
	slamIsQuiet             // it captures nothing
)

// starving is what a mover may do whose moves all leave the opponent without seeds.
type starving uint8

const (
	starvingTakesAll starving = iota // play any of them, and take every seed
	starvingIsBarred                 // nothing
)

var descriptions = [...]description{
	Awari:  {"awari", slamStarves, starvingTakesAll},
	Strict: {"strict", slamStarves, starvingIsBarred},
	Abapa:  {"abapa", slamIsQuiet, starvingTakesAll},
}

// RuleSets returns all rule sets.
func RuleSets() []Rules {
	sets := make([]Rules, len(descriptions))
	for i := range sets {
		sets[i] = Rules(i)
	}
	return sets
}

// RuleNames returns the names of all rule sets.
func RuleNames() []string {
	names := make([]string, len(descriptions))
	for i, d := range descriptions {
		names[i] = d.name
	}
	return names
}

// String returns the name that ParseRules reads.
func (r Rules) String() string {
	if !r.known() {
		return fmt.Sprintf("Rules(%d)", uint8(r))
	}
	return descriptions[r].name
}

// SlamIsQuiet reports whether a move that would capture all seeds of the opponent
// (a grand slam) captures nothing. Otherwise it leaves him without seeds. r must
// be a rule set that exists.
func (r Rules) SlamIsQuiet() bool { return descriptions[r].slam == slamIsQuiet }

func (r Rules) known() bool { return int(r) < len(descriptions) }

// ParseRules returns the rule set with the given name. It fails with ErrRules,
// listing the names there are.
func ParseRules(name string) (Rules, error) {
	for r, d := range descriptions {
		if name == d.name {
			return Rules(r), nil
		}
	}
	return 0, fmt.Errorf("%w %q: must be %s", ErrRules, name, rulesList())
}

// rulesList returns the names of the rule sets for messages.
func rulesList() string { return strings.Join(RuleNames(), ", ") }

// Play is the result of playing one pit by the rules.
type Play struct {
	// Legal reports whether the move may be played. When it may not, Captured
	// and Child are zero.
	Legal bool
	// Starves says that the move leaves the opponent without seeds. It tells
	// an illegal move from a pit that is merely empty.
	Starves bool
	// Captured is the number of seeds the mover takes.
	Captured int
	// Child is the board after the move, turned: seen by the next player.
	Child Board
}

// Plays returns the Play of each pit of the mover. Entries from Q on are zero.
func (g Game) Plays(b Board) [MaxPits / 2]Play {
	var plays [MaxPits / 2]Play
	feeds := false
	for pit := range g.Half() {
		if b[pit] == 0 {
			continue
		}
		sown := g.Sow(b, pit)
		if sown.Starves {
			plays[pit].Starves = true
			continue
		}
		feeds = true
		plays[pit] = Play{Legal: true, Captured: sown.Captured, Child: g.Turn(sown.Board)}
	}
	if !feeds {
		g.judgeStarving(&plays, b.Seeds())
	}
	return plays
}

// judgeStarving applies the rule for a mover whose moves all leave the opponent
// without seeds.
func (g Game) judgeStarving(plays *[MaxPits / 2]Play, n int) {
	if descriptions[g.rules].starving == starvingIsBarred {
		return
	}
	for pit := range plays {
		if plays[pit].Starves {
			plays[pit] = Play{Legal: true, Starves: true, Captured: n}
		}
	}
}

// Successors appends the legal moves to dst, one for each legal pit in
// increasing order, and returns the extended slice. The rewards are the seeds
// captured. A legal move that leaves the opponent without seeds leads to the
// empty board; several pits may do so.
func (g Game) Successors(dst []layers.Move[Board], b Board) []layers.Move[Board] {
	plays := g.Plays(b)
	for _, play := range plays[:g.Half()] {
		if play.Legal {
			dst = append(dst, layers.Move[Board]{To: play.Child, Reward: play.Captured})
		}
	}
	return dst
}

// Predecessors appends to dst the boards from which a move that captures
// nothing leads to b, each once, and returns the extended slice. Under all rule
// sets such a move leaves the opponent, who is the mover of b, a seed, and is
// then always legal.
func (g Game) Predecessors(dst []Board, b Board) []Board {
	if b.empty(0, g.Half()) {
		return dst
	}
	after := g.Turn(b)
	for pit := range g.Half() {
		for seeds := 1; ; seeds++ {
			before, ok := g.Unsow(after, pit, seeds)
			if !ok {
				break
			}
			if left := after; g.capture(&left, g.lastPit(pit, seeds)) == 0 {
				dst = append(dst, before)
			}
		}
	}
	return dst
}

// Terminal returns the score of a board on which the mover has no legal move:
// the opponent takes every seed, under all rule sets.
func (g Game) Terminal(b Board) int { return -b.Seeds() }
