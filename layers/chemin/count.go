package chemin

import (
	"math/bits"

	"grenier/layers/symmetry"
)

// MaxCounted is the most cells of a board whose orientations and orders are counted
// in 64 bits: 20! is the last factorial that fits.
const MaxCounted = 20

// Orders returns the number of orders of a board of at most MaxCounted cells, in
// all and up to symmetry. A symmetry that keeps an order keeps every cell, so
// all classes have the same size.
func (b *Board) Orders() (total, classes uint64) {
	total = 1
	for i := range b.Cells() {
		total *= uint64(i + 1)
	}
	return total, total / uint64(len(b.symmetries))
}

// Orientations returns the number of acyclic orientations of a board of at most
// MaxCounted cells, in all and up to symmetry.
//
// The classes are counted by Burnside's lemma. An orientation that a symmetry keeps
// has no edge inside an orbit of cells (following the symmetry round the orbit,
// it would close a cycle), and gives all edges between two orbits one direction (two
// directions would make a walk without end, which closes a cycle as well). It is
// an orientation of the graph whose vertices are the orbits, and again acyclic.
func (b *Board) Orientations() (total, classes uint64) {
	for i := range b.symmetries {
		kept := b.keptBy(&b.symmetries[i])
		classes += kept
		if i == 0 {
			total = kept
		}
	}
	return total, classes / uint64(len(b.symmetries))
}

// keptBy counts the acyclic orientations that s carries to themselves.
func (b *Board) keptBy(s *Symmetry) uint64 {
	var orbits []Cells
	for rest := b.full; rest != 0; rest &^= orbits[len(orbits)-1] {
		orbit := rest & -rest
		for image := symmetry.Image(s, orbit); image&^orbit != 0; image = symmetry.Image(s, image) {
			orbit |= image
		}
		if b.Touching(orbit, orbit) != 0 {
			return 0
		}
		orbits = append(orbits, orbit)
	}
	near := make([]Cells, len(orbits))
	for i, a := range orbits {
		for j, other := range orbits {
			if i != j && b.Touching(a, other) != 0 {
				near[i] |= 1 << j
			}
		}
	}
	return acyclic(near)
}

// acyclic counts the acyclic orientations of a graph, given by the neighbours of
// each vertex. With a(S) orientations of the part S and the sum over the independent
// sets I in S that are not empty,
//
//	a(S) = sum of (-1)^(|I|+1) a(S - I)
//
// because the sources of an orientation are independent, and any set of them can
// be taken away (inclusion and exclusion; R. P. Stanley, "Acyclic orientations
// of graphs", 1973).
func acyclic(near []Cells) uint64 {
	counts := make([]uint64, 1<<len(near))
	counts[0] = 1
	for set := 1; set < len(counts); set++ {
		// Wrapping is harmless: the sum itself fits.
		counts[set] = alternate(near, counts, Cells(set), Cells(set), ^uint64(0))
	}
	return counts[len(counts)-1]
}

// alternate sums over the independent sets that add vertices of free to those
// already taken from set; sign is the sign of the terms as they are now, negated.
func alternate(near []Cells, counts []uint64, set, free Cells, sign uint64) uint64 {
	sum := uint64(0)
	for ; free != 0; free &= free - 1 {
		v := bits.TrailingZeros32(free)
		left := set &^ (1 << v)
		sum += -sign*counts[left] + alternate(near, counts, left, free&(free-1)&^near[v], -sign)
	}
	return sum
}
