package distance_test

import (
	"testing"

	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
)

// brute returns the distances of all boards of layers 0 to seeds, from the plain rules and true scores alone, 0 for those worth 0: it
// writes down the equations of the definition, and repeats them until all hold. They have one solution.
func brute(t testing.TB, game awari.Game, layers [][]int8) [][]int {
	t.Helper()
	space := testrun.Space(t, game, len(layers)-1)
	all := make([][]int, len(layers))
	for n, scores := range layers {
		equations := make([]equation, len(scores))
		for rank := range scores {
			equations[rank] = equationOf(space, layers, space.Unrank(n, uint64(rank)), scores[rank])
		}
		plies := make([]int, len(scores))
		for changed := true; changed; {
			changed = false
			for rank, score := range scores {
				if d := equations[rank].value(score, plies); d != plies[rank] {
					plies[rank], changed = d, true
				}
			}
		}
		for rank, score := range scores {
			if (score == 0) != (plies[rank] == 0) {
				t.Fatalf("layer %d: board %v is worth %d, its distance is %d", n, space.Unrank(n, uint64(rank)), score, plies[rank])
			}
		}
		all[n] = plies
	}
	return all
}

// equation has what the distance of a board follows from: whether a capture keeps the score, and the ranks behind the quiet moves that
// do.
type equation struct {
	capture bool
	quiet   []uint64
}

func equationOf(space *awari.Space, layers [][]int8, b awari.Board, score int8) (e equation) {
	for _, m := range space.Successors(nil, b) {
		n, rank := space.Rank(m.To)
		switch keeps := m.Reward-int(layers[n][rank]) == int(score); {
		case keeps && m.Reward > 0:
			e.capture = true
		case keeps:
			e.quiet = append(e.quiet, rank)
		}
	}
	return e
}

// value returns the distance that the equation gives, 0 if there is none or too little is known yet.
func (e *equation) value(score int8, plies []int) int {
	least, greatest, open := 0, 0, false
	for _, rank := range e.quiet {
		d := plies[rank]
		greatest, open = max(greatest, d), open || d == 0
		if least == 0 || d > 0 && d < least {
			least = d
		}
	}
	switch {
	case score == 0, score < 0 && open, score > 0 && !e.capture && least == 0:
		return 0
	case score < 0:
		return 1 + greatest // 1 if no quiet move keeps the score: a capture, or the end
	case e.capture:
		return 1
	}
	return 1 + least
}
