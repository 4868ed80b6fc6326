// Package bitset moves the bits of sets, 64 at a time. Bit i of a set is bit i%64 of its word i/64.
//
// Deposit puts the bits of a set, in their order, at the ones of a mask, as PDEP does with one
// word. A quiet move of awari maps the halves of the opponent in this way, whatever half the
// mover has. Extract takes them back, as PEXT does. Transpose turns a square of bits.
//
// The twins of Deposit and Extract for BMI2 run PDEP and PEXT on the words of the mask; the generic
// code is the definition.
package bitset

import (
	"math/bits"

	"grenier/kernels/cpu"
)

// Words returns the number of words of a set of n bits.
func Words(n int) int { return (n + 63) / 64 }

// Mask says where bits go.
type Mask struct {
	words []uint64
	ones  int
}

// NewMask returns the mask of the given words, which it keeps.
func NewMask(words []uint64) Mask {
	m := Mask{words: words}
	for _, w := range words {
		m.ones += bits.OnesCount64(w)
	}
	return m
}

// Padding is the number of words behind a set that Deposit reads and does not look at.
const Padding = 2

// source returns the number of words that Deposit may read.
func (m *Mask) source() int { return m.ones/64 + Padding }

// A DepositFunc sets the first words of dst, as many as the mask has, to the bits of src at the
// ones of the mask, and to 0 elsewhere: bit k of src goes to the one that has k ones before it.
// src holds as many bits as the mask has ones and at least Padding words more. It panics if dst
// or src is too short.
type DepositFunc func(dst, src []uint64, m *Mask)

func deposit(dst, src []uint64, m *Mask) {
	dst, src = dst[:len(m.words)], src[:m.source()]
	at := 0
	for i, mask := range m.words {
		// Two shifts, since one by 64 would be needed where at is a multiple of it.
		x := src[at/64]>>(at%64) | src[at/64+1]<<1<<(63-at%64)
		at += bits.OnesCount64(mask)
		dst[i] = depositWord(x, mask)
	}
}

// depositWord is deposit for one word.
func depositWord(x, mask uint64) (y uint64) {
	if mask == ^uint64(0) {
		return x
	}
	for ; mask != 0 && x != 0; mask &= mask - 1 {
		y |= mask & -mask & -(x & 1)
		x >>= 1
	}
	return y
}

// An ExtractFunc is the inverse of a DepositFunc: it sets the first bits of dst to those of src at the ones
// of the mask, in their order, and the bits behind them to 0, up to Extracted words in all. src has as many
// words as the mask. It panics if dst or src is too short.
type ExtractFunc func(dst, src []uint64, m *Mask)

// Extracted returns how many words Extract sets.
func (m *Mask) Extracted() int { return m.ones/64 + 1 }

func extract(dst, src []uint64, m *Mask) {
	dst, src = dst[:m.Extracted()], src[:len(m.words)]
	at, word := 0, uint64(0)
	for i, mask := range m.words {
		x := extractWord(src[i], mask)
		word |= x << (at % 64)
		dst[at/64] = word
		ones := bits.OnesCount64(mask)
		if at%64+ones >= 64 {
			word = x >> 1 >> (63 - at%64) // two shifts, as in deposit
		}
		at += ones
	}
	dst[at/64] = word
}

// extractWord is extract for one word.
func extractWord(x, mask uint64) (y uint64) {
	if mask == ^uint64(0) {
		return x
	}
	x &= mask
	for to := uint64(1); x != 0; to <<= 1 {
		y |= to & -(x >> (bits.TrailingZeros64(mask) & 63) & 1)
		x &^= mask & -mask
		mask &= mask - 1
	}
	return y
}

// For returns Deposit of family f, which must be supported.
func For(f cpu.Family) DepositFunc { return of(f) }

// ExtractFor returns Extract of family f, which must be supported.
func ExtractFor(f cpu.Family) ExtractFunc { return extractOf(f) }

// Transpose exchanges bit j of word i and bit i of word j, for all of them.
func Transpose(square *[64]uint64) {
	mask := ^uint64(0)
	for width := 32; width > 0; width /= 2 {
		mask ^= mask << width // the lower half of each 2*width bits
		for i := 0; i < 64; i = (i + width + 1) &^ width {
			x := (square[i]>>width ^ square[i+width]) & mask
			square[i] ^= x << width
			square[i+width] ^= x
		}
	}
}
