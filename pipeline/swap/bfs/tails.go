package bfs

import (
	"slices"

	"grenier/kernels/perm"
)

// A word has a bit for each order of the tail that is even, or for each that is
// odd. The bit of an order is half its lexicographic rank: ranks 2b and 2b+1
// differ by a swap of the last two items, so one of them is even.
const (
	tailBits = 60
)

// Words can be regrouped by a cell of the tail: by the tile there, then by the
// order of the other four. Each of the five groups has 12 bits, in an order that
// does not depend on the tile; so when that tile is exchanged for one from
// outside, a whole group moves to the group of the new tile.
const (
	groupBits = 12
	groupMask = 1<<groupBits - 1
)

// bitMap maps the bits of a word to sets of bits, a byte at a time.
type bitMap [8][256]uint64

// newBitMap returns the map that takes bit b to the set image(b).
func newBitMap(image func(b int) uint64) *bitMap {
	m := new(bitMap)
	for b := range tailBits {
		set := image(b)
		for value := range 256 {
			if value>>(b%8)&1 != 0 {
				m[b/8][value] |= set
			}
		}
	}
	return m
}

// apply returns the union of the images of the bits of x.
func (m *bitMap) apply(x uint64) uint64 {
	return m[0][x&255] | m[1][x>>8&255] | m[2][x>>16&255] | m[3][x>>24&255] |
		m[4][x>>32&255] | m[5][x>>40&255] | m[6][x>>48&255] | m[7][x>>56]
}

// tailOf returns the order of the tail that bit b stands for in a word of tails
// of this parity.
func tailOf(parity, b int) [tail]uint8 {
	var order [tail]uint8
	perm.Unrank(order[:], uint64(2*b))
	if perm.Parity(order[:]) != parity {
		perm.Unrank(order[:], uint64(2*b+1))
	}
	return order
}

// bitOf is the inverse of tailOf.
func bitOf(order [tail]uint8) int { return int(perm.Rank(order[:]) / 2) }

// swapTails returns the map from tails of a parity to those that the edges
// lead to.
func swapTails(edges []edge, parity int) *bitMap {
	return newBitMap(func(b int) (set uint64) {
		for _, e := range edges {
			order := tailOf(parity, b)
			order[e.from], order[e.to] = order[e.to], order[e.from]
			set |= 1 << bitOf(order)
		}
		return set
	})
}

// grouped returns the bit for an order in a word that is regrouped by a cell.
func grouped(order [tail]uint8, cell int) int {
	first := order[cell]
	others := slices.Delete(slices.Clone(order[:]), cell, cell+1)
	for i, x := range others {
		if x > first {
			others[i]--
		}
	}
	return groupBits*int(first) + int(perm.Rank(others)/2)
}

// regroup returns the map that regroups words of a parity by a cell, and its
// inverse.
func regroup(cell, parity int) (to, from *bitMap) {
	var origin [tailBits]int
	to = newBitMap(func(b int) uint64 {
		g := grouped(tailOf(parity, b), cell)
		origin[g] = b
		return 1 << g
	})
	return to, newBitMap(func(g int) uint64 { return 1 << origin[g] })
}
