package retro_test

import (
	"context"
	"fmt"
	"testing"

	"grenier/internal/testkit/conformance"
	"grenier/layers"
	"grenier/pipeline/spaces/retro"
)

// coins is a complete game in one file. Two players take one or two coins in turn from a heap and keep them; a player may pass instead, unless
// the opponent has just passed. The last coin is cursed: who takes it owes the opponent three. The layer of a position is its number of coins.
type coins struct {
	left   int
	passed bool // the opponent has just passed
}

type coinSpace struct{ coins int }

func (coinSpace) Name() string    { return "coins" }
func (s coinSpace) Layers() int   { return s.coins + 1 }
func (coinSpace) Size(int) uint64 { return 2 }

// Terminal is the score of the player who finds the heap empty.
func (coinSpace) Terminal(coins) int { return 3 }

func (coinSpace) Rank(s coins) (layer int, rank uint64) {
	if s.passed {
		return s.left, 1
	}
	return s.left, 0
}

func (coinSpace) Unrank(layer int, rank uint64) coins { return coins{left: layer, passed: rank == 1} }

func (coinSpace) Successors(dst []layers.Move[coins], s coins) []layers.Move[coins] {
	if s.left == 0 {
		return dst
	}
	if !s.passed {
		dst = append(dst, layers.Move[coins]{To: coins{left: s.left, passed: true}})
	}
	for take := 1; take <= min(2, s.left); take++ {
		dst = append(dst, layers.Move[coins]{To: coins{left: s.left - take}, Reward: take})
	}
	return dst
}

func (coinSpace) Predecessors(dst []coins, s coins) []coins {
	if s.passed && s.left > 0 {
		dst = append(dst, coins{left: s.left})
	}
	return dst
}

func TestCoinsConform(t *testing.T) { conformance.Run(t, coinSpace{coins: 6}, conformance.Options{}) }

// A game of one's own needs one type with the methods above.
func ExampleSolveLayer() {
	var table [][]int8
	for left := range 7 {
		scores, _, err := retro.SolveLayer(context.Background(), coinSpace{coins: 6}, table, left, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		table = append(table, scores)
		fmt.Printf("%d coins: %+d to move, %+d after a pass\n", left, scores[0], scores[1])
	}
	// Output:
	// 0 coins: +3 to move, +3 after a pass
	// 1 coins: +2 to move, -2 after a pass
	// 2 coins: +1 to move, -1 after a pass
	// 3 coins: +0 to move, +0 after a pass
	// 4 coins: +1 to move, +1 after a pass
	// 5 coins: +2 to move, +2 after a pass
	// 6 coins: +1 to move, +1 after a pass
}
