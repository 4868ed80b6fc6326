// Package perm numbers permutations: it ranks the orders of n items, and of k
// out of n items, without gaps, and back.
//
// A permutation p of n items is the list p[0], p[1], ..., p[n-1] of the numbers
// 0 to n-1, each once; a k-arrangement is the beginning of such a list. Ranks
// are lexicographic: the identity has rank 0, the reversal n!-1. The rank is
// the Lehmer code read as a number whose digits have the radices n, n-1, ...
// (Knuth, TAoCP 7.2.1.2; document 004, section 5, needs it for k tiles): digit
// i is the number of items smaller than p[i] that do not occur before place i.
// Items after place i therefore change nothing above digit i, and all lists
// with the same beginning are one run of ranks, ordered by the relative order
// of the rest.
//
// Lists are slices, of up to MaxItems numbers where there are ranks, or Packed: up to MaxPacked of
// them in the nibbles of a word, which is small, comparable and quicker.
package perm

import "math/bits"

// MaxItems is the largest number of items: 20! is the last factorial that fits
// 64 bits.
const MaxItems = 20

// Factorial returns n!, for n from 0 to MaxItems.
func Factorial(n int) uint64 { return Arrangements(n, n) }

// Arrangements returns the number of k-arrangements of n items, n!/(n-k)!, for
// 0 <= k <= n <= MaxItems.
func Arrangements(n, k int) uint64 {
	count := uint64(1)
	for i := range k {
		count *= uint64(n - i)
	}
	return count
}

// Rank returns the lexicographic rank of a permutation, 0 to len(p)!-1.
func Rank(p []uint8) uint64 { return RankArrangement(p, len(p)) }

// Unrank writes the permutation of len(p) items that has this rank to p: the
// inverse of Rank. Rank must be below len(p)!.
func Unrank(p []uint8, rank uint64) { UnrankArrangement(p, len(p), rank) }

// RankArrangement returns the lexicographic rank of a among the
// len(a)-arrangements of n items, 0 to Arrangements(n, len(a))-1. The result
// for lists that Check refuses is not specified.
func RankArrangement(a []uint8, n int) uint64 {
	rank, used := uint64(0), uint32(0)
	for i, x := range a {
		bit := uint32(1) << (x & 31)
		rank = rank*uint64(n-i) + uint64(int(x)-bits.OnesCount32(used&(bit-1)))
		used |= bit
	}
	return rank
}

// UnrankArrangement writes to a the len(a)-arrangement of n items that has this
// rank: the inverse of RankArrangement.
func UnrankArrangement(a []uint8, n int, rank uint64) {
	for i := len(a) - 1; i >= 0; i-- {
		radix := uint64(n - i)
		a[i] = uint8(rank % radix)
		rank /= radix
	}
	free := uint32(1)<<n - 1
	for i, digit := range a {
		rest := free
		for range digit {
			rest &= rest - 1
		}
		a[i] = uint8(bits.TrailingZeros32(rest))
		free &^= 1 << a[i]
	}
}

// Inversions returns the number of pairs i < j with p[i] > p[j]: the digit sum
// of the Lehmer code, and the number of swaps of neighbours that sort p. It takes up to
// 64 items.
func Inversions(p []uint8) int {
	count, used := 0, uint64(0)
	for _, x := range p {
		bit := uint64(1) << (x & 63)
		count += bits.OnesCount64(used &^ (bit - 1))
		used |= bit
	}
	return count
}

// Parity returns 0 for an even permutation of up to 64 items and 1 for an odd one.
func Parity(p []uint8) int { return Inversions(p) & 1 }
