package search

import (
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
)

// TestAppraisal compares guesses with the scores of positions without captures: they must be nearer than 0 is.
func TestAppraisal(t *testing.T) {
	const n = 8
	game := testrun.Game(t, 12, awari.Awari)
	space, scores := testrun.Space(t, game, n), testrun.Solve(t, game, n)[n]
	m := newMover(game)
	guessed, zero := 0, 0
	for rank, score := range scores {
		b := space.Unrank(n, uint64(rank))
		p := m.Pack(b)
		var moves packed.Plays
		m.Plays(p, &moves)
		if moves.Legal == 0 || moves.Legal != moves.Quiet {
			continue
		}
		sum := 0
		for pit, seeds := range b[:game.Pits()] {
			sum += int(weights[pit][seeds])
		}
		guess := m.quiet(p, n)
		want := max(-n, min(n, (sum+8)>>4))
		must.Hold(t, guess == want, "board %s: %d, want %d", game.Text(b), guess, want)
		guessed += (int(score) - guess) * (int(score) - guess)
		zero += int(score) * int(score)
	}
	should.Not(t, 4*guessed > 3*zero, "squares of errors add up to %d, those of scores to %d", guessed, zero)
}

// TestAppraisalOfMany guesses of pits that are fuller than any the weights know, and of games without weights.
func TestAppraisalOfMany(t *testing.T) {
	m := newMover(testrun.Game(t, 12, awari.Awari))
	b := awari.Board{awari.MaxSeeds}
	guess := m.quiet(m.Pack(b), awari.MaxSeeds)
	should.Not(t, guess < -awari.MaxSeeds || guess > awari.MaxSeeds, "%d seeds in a pit: %d", awari.MaxSeeds, guess)
	m = newMover(testrun.Game(t, 8, awari.Awari))
	b = awari.Board{1, 2, 3, 4, 5, 6, 7, 8}
	should.Equal(t, m.quiet(m.Pack(b), b.Seeds()), 0, "8 pits")
}
