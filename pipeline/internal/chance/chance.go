// Package chance makes choices that look random and depend on a number only, the seed: not on
// the machine, the number of workers or the memory.
package chance

import "math/bits"

// Mix is a permutation of words that looks random: the finalizer of SplitMix64 (Steele, Lea,
// Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// rounds is the number of rounds of a Permutation; four are enough for looks (Luby, Rackoff,
// "How to construct pseudorandom permutations from pseudorandom functions", 1988).
const rounds = 6

// Permutation puts the numbers 0 to n-1 into a random order, without memory for it.
type Permutation struct {
	n, mask uint64
	half    int
	keys    [rounds]uint64
}

// NewPermutation returns a permutation of n numbers, at least one and at most 2^62.
func NewPermutation(n, seed uint64) Permutation {
	half := max(1, (bits.Len64(n-1)+1)/2)
	p := Permutation{n: n, half: half, mask: 1<<half - 1}
	for i := range p.keys {
		seed = Mix(seed + uint64(i))
		p.keys[i] = seed
	}
	return p
}

// At returns number i of the order, for i from 0 to n-1. It is a Feistel network on the least
// even number of bits, walked on until it gives a number below n (Black, Rogaway, "Ciphers
// with arbitrary finite domains", CT-RSA 2002): less than four steps on average.
func (p *Permutation) At(i uint64) uint64 {
	for {
		left, right := i>>p.half, i&p.mask
		for _, key := range p.keys {
			left, right = right, left^Mix(right^key)&p.mask
		}
		if i = left<<p.half | right; i < p.n {
			return i
		}
	}
}
