// Package layers_test has the tests of small packages below, which take less time than it takes to link a program for each.
package layers_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/layers/awari"
	"grenier/layers/awari/halves"
	"grenier/layers/symmetry"
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

// all returns the squares of a full grid.
func all(rows, cols int) []int {
	squares := make([]int, rows*cols)
	for i := range squares {
		squares[i] = i
	}
	return squares
}

func TestNumber(t *testing.T) {
	for name, c := range map[string]struct {
		rows, cols, want int
		squares          []int
	}{
		"a square": {3, 3, 8, all(3, 3)}, "8 x 8": {8, 8, 8, all(8, 8)}, "a rectangle": {2, 3, 4, all(2, 3)}, "a row": {1, 4, 2, all(1, 4)},
		"a cell": {1, 1, 1, all(1, 1)}, "a cross": {3, 3, 8, []int{1, 3, 4, 5, 7}}, "an L": {2, 2, 2, []int{0, 2, 3}},
		"a T": {2, 3, 2, []int{0, 1, 2, 4}}, "an S": {2, 3, 2, []int{1, 2, 3, 4}}, "no symmetry": {2, 4, 1, []int{0, 1, 2, 3, 4}},
	} {
		maps := symmetry.OfGrid(c.rows, c.cols, c.squares)
		should.Equal(t, len(maps), c.want, "%s: symmetries", name)
		for cell := range c.squares {
			should.Equal(t, int(maps[0][cell]), cell, "%s: the first symmetry is not the identity", name)
		}
	}
}

// TestGroup: symmetries keep the distance of cells, and one after the other is a symmetry.
func TestGroup(t *testing.T) {
	squares := []int{2, 3, 4, 9, 10, 11, 14, 15, 16, 17, 18, 19, 20}
	const cols = 7
	maps := symmetry.OfGrid(3, cols, squares)
	must.Equal(t, len(maps), 2, "symmetries")
	apart := func(a, b int) int {
		dr, dc := squares[a]/cols-squares[b]/cols, squares[a]%cols-squares[b]%cols
		return dr*dr + dc*dc
	}
	for _, m := range maps {
		for a := range squares {
			for b := range squares {
				should.Not(t, apart(a, b) != apart(int(m[a]), int(m[b])), "cells %d and %d go to %d and %d", a, b, m[a], m[b])
			}
		}
		for _, n := range maps {
			var both symmetry.Map
			for a := range squares {
				both[a] = n[m[a]]
			}
			should.Hold(t, slices.Contains(maps, both), "%v after %v is no symmetry", n, m)
		}
	}
}

func TestLeast(t *testing.T) {
	maps := symmetry.OfGrid(8, 8, all(8, 8))
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		set := random.Uint64()
		least, ways := symmetry.Least(nil, maps, set)
		for i := range maps {
			image := symmetry.Image(&maps[i], set)
			again, _ := symmetry.Least(nil, maps, image)
			must.Hold(t, again == least, "%#x: least image %#x, and %#x of its image %#x", set, least, again, image)
			must.Hold(t, image >= least && slices.Contains(ways, &maps[i]) == (image == least),
				"%#x: image %#x, least %#x, %d ways", set, image, least, len(ways))
		}
	}
	least, ways := symmetry.Least(nil, maps, uint32(0))
	should.Hold(t, least == 0 && len(ways) == 8, "the empty set: %#x, %d ways", least, len(ways))
}
