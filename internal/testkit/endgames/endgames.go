// Package endgames plays won endgames of tables for tests: a winner who is tested against opponents who make it hard.
package endgames

import (
	"math/rand/v2"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
)

// Player returns the pit that is played on a board.
type Player func(b awari.Board) int

// Win plays n won endgames, drawn from the layers from 5 seeds up, of the player against a random and against a delaying
// opponent. In each the player must take at least what the board is worth, and no board may come twice as long as he can win
// anything more.
func Win(t testing.TB, tb *tables.Tables, rng *rand.Rand, n int, player Player) {
	t.Helper()
	for name, opponent := range map[string]Player{
		"random":   func(b awari.Board) int { return anyMove(tb.Game(), rng, b) },
		"delaying": func(b awari.Board) int { return delay(t, tb, b) },
	} {
		for range n {
			b := Drawn(t, tb, rng, 5, func(score int8) bool { return score > 0 })
			if got, worth := play(t, tb, b, player, opponent), score(t, tb, b); got < worth {
				t.Fatalf("%s opponent: board %s is worth %d, the player took %d more", name, tb.Game().Text(b), worth, got)
			}
		}
	}
}

// Drawn returns a random board of at least some seeds with a score that fits.
func Drawn(t testing.TB, tb *tables.Tables, rng *rand.Rand, least int, fits func(score int8) bool) awari.Board {
	t.Helper()
	space := testrun.Space(t, tb.Game(), tb.MaxSeeds())
	for {
		seeds := least + rng.IntN(tb.MaxSeeds()-least+1)
		b := space.Unrank(seeds, rng.Uint64N(space.Size(seeds)))
		if fits(int8(score(t, tb, b))) {
			return b
		}
	}
}

func score(t testing.TB, tb *tables.Tables, b awari.Board) int {
	t.Helper()
	value := must.Get(tb.Score(t.Context(), b))(t)
	return int(value)
}

// play plays a game from a board whose mover is the player, and returns what he took more than the other one.
func play(t testing.TB, tb *tables.Tables, b awari.Board, player, opponent Player) (taken int) {
	t.Helper()
	type turn struct {
		board awari.Board
		side  int
	}
	game, seen := tb.Game(), map[turn]bool{}
	for side := 0; ; side = 1 - side {
		sign := 1 - 2*side
		if seen[turn{b, side}] {
			rest := score(t, tb, b)
			must.Not(t, sign*rest > 0, "board %s, worth %d, comes twice", game.Text(b), rest)
			return taken // the player can force nothing any more: endless play
		}
		seen[turn{b, side}] = true
		if len(game.Successors(nil, b)) == 0 {
			return taken + sign*game.Terminal(b)
		}
		pit := [2]Player{player, opponent}[side](b)
		play := game.Plays(b)[pit]
		must.Hold(t, play.Legal, "board %s: pit %d", game.Text(b), pit)
		taken += sign * play.Captured
		b = play.Child
	}
}

// anyMove returns a random legal move.
func anyMove(game awari.Game, rng *rand.Rand, b awari.Board) int {
	plays := game.Plays(b)
	for {
		if pit := rng.IntN(game.Half()); plays[pit].Legal {
			return pit
		}
	}
}

// delay returns the move that keeps the score and leads farthest from a capture; a move that captures only if no other keeps it.
func delay(t testing.TB, tb *tables.Tables, b awari.Board) int {
	t.Helper()
	value, best, farthest := score(t, tb, b), -1, -1
	for pit, play := range tb.Game().Plays(b) {
		if !play.Legal || play.Captured-score(t, tb, play.Child) != value {
			continue
		}
		plies := 0
		if play.Captured == 0 {
			var err error
			plies, _, err = tb.Distance(t.Context(), play.Child)
			must.OK(t, err)
		}
		if plies > farthest {
			best, farthest = pit, plies
		}
	}
	return best
}
