package puzzle

import (
	"math"

	"grenier/layers/awari"
)

// deepest is how many plies the best of the simple players looks ahead. There is one of each depth from 1.
const deepest = 7

// rate returns how many of a hundred simple players fail: how likely one is to make a wrong move, on average over the depths.
func rate(game awari.Game, plies []ply) int {
	solved := [deepest]float64{}
	for d := range solved {
		solved[d] = 1
		for i := 0; i < len(plies) && solved[d] > 0; i += 2 {
			if plies[i].choices > 1 {
				solved[d] *= finds(game, &plies[i], d+1)
			}
		}
	}
	sum := 0.0
	for _, s := range solved {
		sum += s
	}
	return int(math.Round(100 * (1 - sum/deepest)))
}

// finds returns how likely a player who looks so many plies ahead makes a move: of those that look best he takes any.
func finds(game awari.Game, m *ply, depth int) float64 {
	best, ties, right := -awari.MaxSeeds-1, 0.0, 0.0
	for pit, play := range game.Plays(m.board) {
		if !play.Legal {
			continue
		}
		// One that is as good must be told from one that is less good.
		x := play.Captured - look(game, play.Child, depth-1, -awari.MaxSeeds-1, play.Captured-best+1)
		if x > best {
			best, ties, right = x, 0, 0
		}
		if x == best {
			ties++
			if pit == m.pit {
				right = 1
			}
		}
	}
	return right / ties
}

// look returns the seeds that the player to move takes within so many plies minus those of the other one, by alpha-beta
// between low and high: beyond them only that it is.
func look(game awari.Game, b awari.Board, depth, low, high int) int {
	if depth == 0 {
		return 0
	}
	plays := game.Plays(b)
	best, any := -awari.MaxSeeds-1, false
	for _, play := range plays[:game.Half()] {
		if !play.Legal {
			continue
		}
		any = true
		if x := play.Captured - look(game, play.Child, depth-1, play.Captured-high, play.Captured-max(low, best)); x > best {
			best = x
		}
		if best >= high {
			break
		}
	}
	if !any {
		return game.Terminal(b)
	}
	return best
}
