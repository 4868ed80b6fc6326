package perm

import "math/bits"

// Conjugator computes the conjugates h p h^-1 of packed permutations p by one
// permutation h: item h(i) of it is h(p.At(i)). It looks up two items at once,
// renamed and in their new places.
type Conjugator struct {
	pairs [][256]Packed
}

// NewConjugator returns the conjugator by a permutation h of n items.
func NewConjugator(h Packed, n int) *Conjugator {
	c := &Conjugator{pairs: make([][256]Packed, (n+1)/2)}
	for i := range n {
		table, place := &c.pairs[i/2], 4*uint(h.At(i))
		for value := range table {
			item := value >> (4 * (i % 2)) & 15
			table[value] |= Packed(h.At(item)) << place
		}
	}
	return c
}

// Apply returns the conjugate of a permutation of n items.
func (c *Conjugator) Apply(p Packed) Packed {
	q := Packed(0)
	for i := range c.pairs {
		q |= c.pairs[i][p&255]
		p >>= 8
	}
	return q
}

// Reverse returns the first n items in reverse order. Lists of n items compare as
// numbers like their reverses in lexicographic order.
func (p Packed) Reverse(n int) Packed {
	const low = 0x0f0f0f0f0f0f0f0f
	x := bits.ReverseBytes64(uint64(p<<4&^low | p>>4&low))
	return Packed(x >> (64 - 4*uint(n)))
}
