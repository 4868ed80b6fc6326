package patterns

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"grenier/io/corrupt"
	"grenier/kernels/perm"
	"grenier/layers/swap/heuristic"
)

// spotSample is how many values of a file are compared with those next to them.
const spotSample = 4096

// check fails with an error that matches corrupt.ErrCorrupt if the values of a pattern in the
// file at path, or of one of the sets there, cannot be its costs: one is beyond the cost of
// sorting the tiles along a line; tiles that are at home cost something; or the cost of some
// other arrangement, picked at random, is not the least of a swap and the cost left after it.
func check(path string, patterns []*heuristic.Pattern) error {
	for _, p := range patterns {
		if most, got := mostCost(p), slices.Max(p.Values); int(got) > most {
			return corrupt.New(path, "", "tiles %v: a value of %d, more than %d", p.Tiles, got, most)
		}
	}
	entries := len(patterns[0].Values) // of each
	total := entries * len(patterns)
	for i := range min(total, spotSample) {
		at := i
		if total > spotSample {
			at = rand.IntN(total)
		}
		if err := checkValue(patterns[at/entries], uint64(at%entries)); err != nil {
			return corrupt.New(path, "", "%w", err)
		}
	}
	for _, p := range patterns {
		if err := checkValue(p, perm.RankArrangement(home(p), p.Grid.Cells())); err != nil {
			return corrupt.New(path, "", "%w", err)
		}
	}
	return nil
}

// mostCost bounds the values of a pattern of k of n tiles: along a line through all cells, each
// tile of it passes each other tile once at most, the other tiles none of their own.
func mostCost(p *heuristic.Pattern) int {
	k, n := p.Tiles.Len(), p.Grid.Cells()
	pairs := k * (k - 1) / 2
	if p.Cost == heuristic.Tracked {
		pairs *= 2 // two tiles of the pattern move
	}
	return k*(n-k) + pairs
}

// home returns the cells of the tiles of a pattern that are in place.
func home(p *heuristic.Pattern) []uint8 {
	var cells []uint8
	for _, tile := range p.Tiles.Numbers() {
		cells = append(cells, uint8(tile))
	}
	return cells
}

// checkValue compares a value with those that a swap leads to.
func checkValue(p *heuristic.Pattern, rank uint64) error {
	n := p.Grid.Cells()
	cells := make([]uint8, p.Tiles.Len())
	perm.UnrankArrangement(cells, n, rank)
	want := 0
	if !slices.Equal(cells, home(p)) {
		want = leastBySwap(p, cells)
	}
	if got := int(p.Values[rank]); got != want {
		return fmt.Errorf("tiles %v: value %d is %d instead of %d", p.Tiles, rank, got, want)
	}
	return nil
}

// leastBySwap returns the least cost of a swap that moves tiles of a pattern and of the rest
// after it, -1 if there is no such swap.
func leastBySwap(p *heuristic.Pattern, cells []uint8) int {
	least := -1
	for _, m := range p.Grid.Swaps() {
		moved, tiles := slices.Clone(cells), 0
		for i, cell := range cells {
			switch int(cell) {
			case m.A:
				moved[i] = uint8(m.B)
				tiles++
			case m.B:
				moved[i] = uint8(m.A)
				tiles++
			}
		}
		if tiles == 0 {
			continue
		}
		if p.Cost == heuristic.Unit {
			tiles = 1
		}
		if v := tiles + int(p.Values[perm.RankArrangement(moved, p.Grid.Cells())]); least < 0 || v < least {
			least = v
		}
	}
	return least
}

// parts returns the patterns of a table of sets.
func parts(t *heuristic.SetTable) []*heuristic.Pattern {
	var all []*heuristic.Pattern
	entries := int(heuristic.Entries(t.Grid, t.Size))
	for i, set := range heuristic.Sets(t.Grid, t.Size) {
		all = append(all, &heuristic.Pattern{Grid: t.Grid, Tiles: set, Cost: t.Cost, Values: t.Values[i*entries:][:entries]})
	}
	return all
}
