// Package layers_test has the tests of small packages below, which take less time than it takes to link a program for each.
package layers_test

import (
	"testing"

	"pgregory.net/rapid"

	"grenier/internal/testkit/must"
	"grenier/layers/awari"
	"grenier/layers/awari/halves"
)

// anyBoard draws a board of 4 to 12 pits with a non-empty pit of the mover.
func anyBoard(t *rapid.T) (game awari.Game, board awari.Board, pit int) {
	q := rapid.IntRange(2, 6).Draw(t, "q")
	game = must.Get(awari.New(2*q, rapid.SampledFrom(awari.RuleSets()).Draw(t, "rules")))(t)
	for i := range 2 * q {
		board[i] = rapid.Uint8Range(0, 4).Draw(t, "seeds")
	}
	pit = rapid.IntRange(0, q-1).Draw(t, "pit")
	board[pit] = rapid.Uint8Range(1, 48).Draw(t, "origin")
	return game, board, pit
}

// TestSowAgreesWithTheRules plays the same pit seed by seed and by halves.
func TestSowAgreesWithTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		game, board, pit := anyBoard(t)
		q := game.Half()
		want := game.Sow(board, pit)

		got, given := board, 0
		m := halves.Sow(got[:q], pit)
		for i := range q {
			got[q+i] += m.Gain(i)
			given += int(m.Gain(i))
		}
		must.Hold(t, m.Seeds(q) == given && got.Seeds() == board.Seeds(), "%v, pit %d: seeds were lost: %+v leaves %v", board, pit, m, got)
		first, captured := halves.Chain(got[q:2*q], int(m.Last), game.Rules())
		clear(got[q+first : q+int(m.Last)+1])
		must.Hold(t, got == want.Board && captured == want.Captured,
			"%v, pit %d: %v with %d captured, want %v with %d", board, pit, got, captured, want.Board, want.Captured)
	})
}
