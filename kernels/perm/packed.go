package perm

import "math/bits"

// MaxPacked is the largest number of items of a Packed list.
const MaxPacked = 16

// Packed is a list of up to MaxPacked items, item i in bits 4i to 4i+3. It does
// not know its length; nibbles past the end are 0 in all lists that this
// package makes, so that == compares lists of the same length.
type Packed uint64

// Identity returns the packed permutation 0, 1, ..., n-1, for n up to
// MaxPacked.
func Identity(n int) Packed { return 0xfedcba9876543210 & prefix(n) }

// prefix is the mask of the first n nibbles.
func prefix(n int) Packed { return 1<<(4*uint(n)) - 1 }

// At returns item i, for i from 0 to MaxPacked-1.
func (p Packed) At(i int) int { return int(p >> (4 * uint(i)) & 15) }

// Unpack writes the first len(dst) items to dst.
func (p Packed) Unpack(dst []uint8) {
	for i := range dst {
		dst[i] = uint8(p & 15)
		p >>= 4
	}
}

// Swap returns the list with items i and j exchanged.
func (p Packed) Swap(i, j int) Packed {
	a, b := 4*uint(i), 4*uint(j)
	change := (p>>a ^ p>>b) & 15
	return p ^ change<<a ^ change<<b
}

// Rank returns the lexicographic rank of a permutation of n items, as the
// function Rank does.
func (p Packed) Rank(n int) uint64 {
	rank, used := uint64(0), uint32(0)
	for ; n > 0; n-- {
		x := uint32(p & 15)
		p >>= 4
		bit := uint32(1) << x
		rank = rank*uint64(n) + uint64(x) - uint64(bits.OnesCount32(used&(bit-1)))
		used |= bit
	}
	return rank
}

// UnrankPacked returns the permutation of n items that has this rank, below n!:
// the inverse of Rank.
func UnrankPacked(n int, rank uint64) Packed {
	digits := Packed(0)
	for radix := uint64(1); radix <= uint64(n); radix++ {
		digits = digits<<4 | Packed(rank%radix)
		rank /= radix
	}
	// free is the list of the items that are left, in order.
	p, free := Packed(0), Identity(n)
	for i := range n {
		at := 4 * uint(digits&15)
		digits >>= 4
		p |= free >> at & 15 << (4 * uint(i))
		before := Packed(1)<<at - 1
		free = free&before | free>>4&^before
	}
	return p
}

// Inverse returns the inverse of a permutation of n items.
func (p Packed) Inverse(n int) Packed {
	q := Packed(0)
	for i := range n {
		q |= Packed(i) << (4 * (p & 15))
		p >>= 4
	}
	return q
}

// Compose returns the permutation p after q of n items: item i is
// p.At(q.At(i)).
func (p Packed) Compose(q Packed, n int) Packed {
	r := Packed(0)
	for i := range n {
		r |= p >> (4 * (q & 15)) & 15 << (4 * uint(i))
		q >>= 4
	}
	return r
}

// Inversions returns the number of inversions of the first n items, as the
// function Inversions does.
func (p Packed) Inversions(n int) int {
	count, used := 0, uint32(0)
	for range n {
		bit := uint32(1) << (p & 15)
		p >>= 4
		count += bits.OnesCount32(used &^ (bit - 1))
		used |= bit
	}
	return count
}

// Parity returns 0 for an even permutation of n items and 1 for an odd one.
func (p Packed) Parity(n int) int { return p.Inversions(n) & 1 }
