package distance_test

import (
	"testing"

	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
)

// brute returns the distances of all boards of layers 0 to seeds, from the plain rules and true scores alone, 0 for those worth 0: it
// writes down the definition, and repeats it until nothing changes.
func brute(t testing.TB, game awari.Game, layers [][]int8) [][]int {
	t.Helper()
	space := testrun.Space(t, game, len(layers)-1)
	score := func(b awari.Board) int {
		n, rank := space.Rank(b)
		return int(layers[n][rank])
	}
	all := make([][]int, len(layers))
	for n, scores := range layers {
		plies := make([]int, len(scores))
		all[n] = plies
		for changed := true; changed; {
			changed = false
			for rank, s := range scores {
				if s == 0 || plies[rank] > 0 {
					continue
				}
				if d := step(space, space.Unrank(n, uint64(rank)), score, func(b awari.Board) int {
					_, rank := space.Rank(b)
					return plies[rank]
				}); d > 0 {
					plies[rank], changed = d, true
				}
			}
		}
		relax(space, n, scores, plies, score)
		for rank, s := range scores {
			if (s == 0) != (plies[rank] == 0) {
				t.Fatalf("layer %d: board %v is worth %d, its distance is %d", n, space.Unrank(n, uint64(rank)), s, plies[rank])
			}
		}
	}
	return all
}

// relax repeats the equations until all hold: the first solution of a winner may not be the least.
func relax(space *awari.Space, n int, scores []int8, plies []int, score func(awari.Board) int) {
	of := func(b awari.Board) int {
		_, rank := space.Rank(b)
		return plies[rank]
	}
	for changed := true; changed; {
		changed = false
		for rank, s := range scores {
			if s == 0 {
				continue
			}
			if d := step(space, space.Unrank(n, uint64(rank)), score, of); d != plies[rank] {
				plies[rank], changed = d, true
			}
		}
	}
}

// step returns the distance of a board that the definition gives if those of the boards behind quiet moves are known, 0 if they do
// not give one. A distance 0 is not known.
func step(game *awari.Space, b awari.Board, score, plies func(awari.Board) int) int {
	value, least, greatest, capture, open := score(b), 0, 0, false, false
	for _, m := range game.Successors(nil, b) {
		if m.Reward-score(m.To) != value {
			continue
		}
		if m.Reward > 0 {
			capture = true
			continue
		}
		d := plies(m.To)
		if d == 0 {
			open = true
			continue
		}
		if least == 0 || d < least {
			least = d
		}
		greatest = max(greatest, d)
	}
	switch {
	case value > 0 && capture:
		return 1
	case value > 0 && least > 0:
		return 1 + least
	case value > 0 || open:
		return 0
	}
	return 1 + greatest // no quiet move that keeps the value: a capture, or the end
}
