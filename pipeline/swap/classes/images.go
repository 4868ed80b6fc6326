package classes

import (
	"grenier/kernels/perm"
	"grenier/layers/swap"
)

// edge is a swap as one symmetry of the grid sees it: the places of its two cells
// in a packed permutation, in bits, and what their numbers differ by.
type edge struct{ a, b, differ uint8 }

// maxOrder is the largest number of symmetries of a grid.
const maxOrder = 8

// neighbourhood computes images and neighbours of states of one grid. It is
// immutable.
type neighbourhood struct {
	cells     int
	order     int // number of symmetries
	conjugate []*perm.Conjugator
	edges     [][maxOrder]edge // by swap and symmetry
}

func newNeighbourhood(g *swap.Grid) *neighbourhood {
	x := &neighbourhood{cells: g.Cells(), order: len(g.Symmetries())}
	for _, h := range g.Symmetries() {
		x.conjugate = append(x.conjugate, perm.NewConjugator(h, x.cells))
	}
	for _, s := range g.Swaps() {
		var images [maxOrder]edge
		for i, h := range g.Symmetries() {
			a, b := uint8(h.At(s.A)), uint8(h.At(s.B))
			images[i] = edge{4 * a, 4 * b, a ^ b}
		}
		x.edges = append(x.edges, images)
	}
	return x
}

// fanout is the largest number of keys that expand appends.
func (x *neighbourhood) fanout() int { return 2 * len(x.edges) }

// rank returns the number of a state in the order of packed permutations.
func (x *neighbourhood) rank(packed uint64) uint64 {
	return perm.Packed(packed).Reverse(x.cells).Rank(x.cells)
}

// unrank is the inverse of rank.
func (x *neighbourhood) unrank(rank uint64) swap.State {
	return perm.UnrankPacked(x.cells, rank).Reverse(x.cells)
}

// images are those of a state under the symmetries, and of its inverse.
type images struct{ direct, inverse [maxOrder]perm.Packed }

func (x *neighbourhood) images(s swap.State) (m images) {
	t := s.Inverse(x.cells)
	m.direct[0], m.inverse[0] = s, t
	for i := 1; i < x.order; i++ {
		m.direct[i], m.inverse[i] = x.conjugate[i].Apply(s), x.conjugate[i].Apply(t)
	}
	return m
}

// size returns the number of states in the class whose images these are, and
// whether the inverse of a state is an image of it by a symmetry alone.
func (x *neighbourhood) size(m *images) (states uint64, selfInverse bool) {
	fixed := 0
	for i := range x.order {
		if m.direct[i] == m.direct[0] {
			fixed++
		}
		if m.inverse[i] == m.direct[0] {
			fixed++
			selfInverse = true
		}
	}
	return uint64(2 * x.order / fixed), selfInverse
}

// expand appends the canonical neighbours of all states of the class of s to
// keys, some of them several times, and returns the number of these states.
func (x *neighbourhood) expand(keys []uint64, s swap.State) (_ []uint64, states uint64) {
	m := x.images(s)
	states, selfInverse := x.size(&m)
	keys = x.neighbours(keys, m.direct[:x.order], m.inverse[:x.order])
	if !selfInverse {
		keys = x.neighbours(keys, m.inverse[:x.order], m.direct[:x.order])
	}
	return keys, states
}

// neighbours appends the smallest image of each neighbour of the state whose
// images are p, q those of its inverse. An image of a neighbour is an image with
// two items exchanged: swapping cells of p is swapping tiles of q.
func (x *neighbourhood) neighbours(keys []uint64, p, q []perm.Packed) []uint64 {
	q = q[:len(p)]
	for k := range x.edges {
		edges := x.edges[k][:len(p)]
		least := ^perm.Packed(0)
		for i, p := range p {
			e := edges[i]
			at, bt := p>>(e.a&63)&15, p>>(e.b&63)&15
			change := at ^ bt
			least = min(least, p^change<<(e.a&63)^change<<(e.b&63))
			differ := perm.Packed(e.differ)
			least = min(least, q[i]^differ<<(4*at&63)^differ<<(4*bt&63))
		}
		keys = append(keys, uint64(least))
	}
	return keys
}
