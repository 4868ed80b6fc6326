package line_test

import (
	"context"
	"fmt"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
	"grenier/pipeline/play/line"
)

// memory is solved layers in memory.
type memory struct {
	*awari.Space
	layers [][]int8
}

func (m *memory) Game() awari.Game { return m.Space.Game }
func (m *memory) MaxSeeds() int    { return len(m.layers) - 1 }

func (m *memory) Score(_ context.Context, b awari.Board) (int8, error) {
	n, rank := m.Rank(b)
	return m.layers[n][rank], nil
}

// solve solves layers with the oracle.
func solve(t testing.TB, pits, seeds int, rules awari.Rules) *memory {
	t.Helper()
	game := testrun.Game(t, pits, rules)
	return &memory{testrun.Space(t, game, seeds), testrun.Solve(t, game, seeds)}
}

// every calls visit with all boards of all layers.
func (m *memory) every(visit func(b awari.Board, score int)) {
	for n, scores := range m.layers {
		for rank, score := range scores {
			visit(m.Unrank(n, uint64(rank)), int(score))
		}
	}
}

var rules = awari.RuleSets()

// TestEveryLine plays the best line of every position by the rules and counts.
func TestEveryLine(t *testing.T) {
	for _, c := range []struct{ pits, seeds int }{{4, 14}, {6, 9}, {8, 6}} {
		for _, r := range rules {
			t.Run(fmt.Sprintf("%d-%v", c.pits, r), func(t *testing.T) {
				m := solve(t, c.pits, c.seeds, r)
				m.every(func(b awari.Board, score int) {
					checkLine(t, m, b, score, must.Get(line.Best(t.Context(), m, b, line.Options{}))(t))
				})
			})
		}
	}
}

// checkLine compares a line with the rules and the scores.
func checkLine(t testing.TB, m *memory, b awari.Board, want int, l *line.Line) {
	game := m.Game()
	type turn struct {
		board awari.Board
		side  int
	}
	seen := map[turn]bool{}
	first, score, plies := b, 0, 0
	for i, move := range l.Moves {
		play := game.Plays(b)[move.Pit]
		value, _ := m.Score(t.Context(), b)
		must.Hold(t, move.Board == b && play.Legal && move.Child == play.Child && move.Captured == play.Captured && move.Value == int(value),
			"board %v: move %d is %+v", first, i, move)
		must.Not(t, plies != 0 && move.Plies != plies, "board %v, move %d: %d plies left, want %d", first, i, move.Plies, plies)
		must.Not(t, (move.Plies == 0) != (value == 0) || move.Captured > 0 && move.Plies > 1 || move.Captured == 0 && move.Plies == 1,
			"board %v, move %d: value %d, captures %d, %d plies left", first, i, value, move.Captured, move.Plies)
		plies = max(0, move.Plies-1)
		must.Not(t, seen[turn{b, i % 2}], "board %v: %v comes again", first, b)
		seen[turn{b, i % 2}] = true
		score += []int{move.Captured, -move.Captured}[i%2]
		if l.Running()[i] != score {
			t.Fatalf("board %s: running score %v", game.Text(first), l.Running())
		}
		b = move.Child
	}
	last, _ := m.Score(t.Context(), b)
	switch {
	case b != l.Last:
		t.Fatalf("board %s ends at %s", game.Text(first), game.Text(l.Last))
	case l.End == line.Repetition && (last != 0 || !seen[turn{b, len(l.Moves) % 2}]):
		t.Fatalf("board %s: not a repetition", game.Text(first))
	case l.End == line.Finished:
		for _, play := range game.Plays(b) {
			must.Not(t, play.Legal, "board %s: not the end", game.Text(first))
		}
		score += []int{game.Terminal(b), -game.Terminal(b)}[len(l.Moves)%2]
	}
	must.Hold(t, score == want && l.Value == want,
		"board %s: the line is worth %d, it says %d, want %d", game.Text(first), score, l.Value, want)
}
