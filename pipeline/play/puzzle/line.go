package puzzle

import (
	"context"

	"grenier/layers/awari"
	"grenier/pipeline/play/find"
	"grenier/pipeline/tables"
)

const (
	// opening is what the first position of a puzzle must meet.
	opening = "only-win moves>=3"
	// leastPlies and mostPlies bound the length of a line: two to five moves of the solver.
	leastPlies, mostPlies = 3, 9
)

// Puzzle is a position with the line that solves it.
type Puzzle struct {
	Board awari.Board `json:"-"`
	// Pits are the seeds of the board, those of the solver first.
	Pits []int `json:"pits"`
	// Value is the score of the board.
	Value int `json:"value"`
	// Line is the pits that are played, the solver's at even indices, each counted by the player who plays it. It ends with
	// a move of the solver.
	Line []int `json:"line"`
	// Rating is how many of a hundred simple players fail.
	Rating int      `json:"rating"`
	Themes []string `json:"themes"`
}

// ply is a move of a line.
type ply struct {
	awari.Play
	board   awari.Board // before it, seen by who plays
	pit     int
	choices int // legal moves there were
}

// base is the parsed opening.
func base() find.Condition {
	c, err := find.Parse(opening)
	if err != nil {
		panic(err) // it is a constant
	}
	return c
}

// Of returns the puzzle that a solved board is, nil if it is none. It fails like tables.Tables.Probe.
func Of(ctx context.Context, t *tables.Tables, b awari.Board) (*Puzzle, error) {
	p, err := t.Probe(ctx, b)
	if err != nil {
		return nil, err
	}
	c := base()
	if ok, err := c.Judge(t)(ctx, &p); !ok || err != nil {
		return nil, err
	}
	plies, err := lineOf(ctx, t, &p)
	if err != nil || plies == nil {
		return nil, err
	}
	return newPuzzle(t.Game(), p.Value, plies), nil
}

// newPuzzle rates a line of a board with a value.
func newPuzzle(game awari.Game, value int, plies []ply) *Puzzle {
	p := &Puzzle{Board: plies[0].board, Pits: game.Numbers(plies[0].board), Value: value, Rating: rate(game, plies), Themes: themesOf(game, plies)}
	for _, m := range plies {
		p.Line = append(p.Line, m.pit)
	}
	return p
}

// lineOf returns the line of a position in which one move wins, nil if it is too short for a puzzle.
func lineOf(ctx context.Context, t *tables.Tables, p *tables.Probe) (plies []ply, err error) {
	lead, decided := 0, 0 // the solver's, and the plies up to his last decision
	for {
		m, ok := only(p, func(value int) bool { return lead+value > 0 })
		if !ok {
			break
		}
		plies, lead = append(plies, m), lead+m.Captured
		if m.choices > 1 {
			decided = len(plies)
		}
		if len(plies) == mostPlies {
			break
		}
		if p, err = next(ctx, t, m); err != nil {
			return nil, err
		}
		if m, ok = only(p, func(value int) bool { return value == p.Value }); !ok {
			break
		}
		plies, lead = append(plies, m), lead-m.Captured
		if p, err = next(ctx, t, m); err != nil {
			return nil, err
		}
	}
	if decided < leastPlies {
		return nil, nil
	}
	return plies[:decided], nil
}

// next returns the position after a move.
func next(ctx context.Context, t *tables.Tables, m ply) (*tables.Probe, error) {
	p, err := t.Probe(ctx, m.Child)
	return &p, err
}

// only returns the move whose value is wanted, if that is so of one alone.
func only(p *tables.Probe, wanted func(value int) bool) (m ply, ok bool) {
	found, legal := 0, 0
	for _, x := range p.Moves {
		if !x.Legal {
			continue
		}
		legal++
		if wanted(x.Value) {
			found++
			m = ply{Play: awari.Play{Legal: true, Captured: x.Captured, Child: x.Child}, board: p.Board, pit: x.Pit}
		}
	}
	m.choices = legal
	return m, found == 1
}
