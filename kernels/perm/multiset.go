package perm

import (
	"errors"
	"fmt"
	"math/bits"
)

// ErrMultiset reports counts, a word or a rank that a numbering of multiset
// permutations does not cover.
var ErrMultiset = errors.New("multiset permutation")

// Multiset numbers the words in which letter i occurs a fixed number of times:
// 0, 1, 2, ... without gaps, in lexicographic order. It is immutable and safe for
// concurrent use.
//
// Of w words that have n letters to come, c of them a given letter, w*c/n go on
// with that letter (Knuth, TAoCP 7.2.1.2, exercise 4, in other words): so a rank
// takes one multiplication and one division a letter, and no table.
type Multiset struct {
	counts []int
	length int
	size   uint64
}

// NewMultiset returns the numbering of the words with counts[i] letters i. It
// fails with ErrMultiset when a count is negative, when there are more than 256
// letters to choose from, and when there are 2^64 words or more.
func NewMultiset(counts ...int) (*Multiset, error) {
	m := &Multiset{counts: append([]int(nil), counts...), size: 1}
	if len(counts) > 256 {
		return nil, fmt.Errorf("%w: %d letters to choose from (up to 256 are supported)", ErrMultiset, len(counts))
	}
	for letter, count := range counts {
		if count < 0 {
			return nil, fmt.Errorf("%w: letter %d occurs %d times", ErrMultiset, letter, count)
		}
		for i := 1; i <= count; i++ {
			// What is there times (length choose i): whole after each step.
			m.length++
			hi, lo := bits.Mul64(m.size, uint64(m.length))
			if hi >= uint64(i) {
				return nil, fmt.Errorf("%w: the number of words of %v does not fit 64 bits", ErrMultiset, counts)
			}
			m.size, _ = bits.Div64(hi, lo, uint64(i))
		}
	}
	return m, nil
}

// Size returns the number of words.
func (m *Multiset) Size() uint64 { return m.size }

// Len returns the number of letters of a word.
func (m *Multiset) Len() int { return m.length }

// Rank returns the number of word. It fails with ErrMultiset when the letters are
// not those of the multiset.
func (m *Multiset) Rank(word []uint8) (uint64, error) {
	if len(word) != m.length {
		return 0, fmt.Errorf("%w: %d letters, want %d", ErrMultiset, len(word), m.length)
	}
	left := append(make([]int, 0, 16), m.counts...)
	rank, words := uint64(0), m.size
	for i, letter := range word {
		if int(letter) >= len(left) || left[letter] == 0 {
			return 0, fmt.Errorf("%w: letter %d at place %d occurs too often (%v are to be used)", ErrMultiset, letter, i, m.counts)
		}
		smaller := 0
		for _, count := range left[:letter] {
			smaller += count
		}
		rank += share(words, smaller, m.length-i)
		words = share(words, left[letter], m.length-i)
		left[letter]--
	}
	return rank, nil
}

// Unrank writes the word with the given rank to word, which has Len letters. It
// fails with ErrMultiset when there is none.
func (m *Multiset) Unrank(rank uint64, word []uint8) error {
	if rank >= m.size || len(word) != m.length {
		return fmt.Errorf("%w: rank %d of %d words, into %d letters (%d are needed)", ErrMultiset, rank, m.size, len(word), m.length)
	}
	left := append(make([]int, 0, 16), m.counts...)
	words := m.size
	for i := range word {
		letter := 0
		part := share(words, left[0], m.length-i)
		for rank >= part {
			rank -= part
			letter++
			part = share(words, left[letter], m.length-i)
		}
		word[i] = uint8(letter)
		words = part
		left[letter]--
	}
	return nil
}

// share returns words*part/whole, which is whole when it counts words.
func share(words uint64, part, whole int) uint64 {
	hi, lo := bits.Mul64(words, uint64(part))
	quotient, _ := bits.Div64(hi, lo, uint64(whole))
	return quotient
}

// NextWord replaces word by the next one with the same letters in lexicographic
// order, and returns false, without a change, after the last (Knuth, TAoCP
// 7.2.1.2, algorithm L).
func NextWord(word []uint8) bool {
	i := len(word) - 2
	for i >= 0 && word[i] >= word[i+1] {
		i--
	}
	if i < 0 {
		return false
	}
	j := len(word) - 1
	for word[j] <= word[i] {
		j--
	}
	word[i], word[j] = word[j], word[i]
	for a, b := i+1, len(word)-1; a < b; a, b = a+1, b-1 {
		word[a], word[b] = word[b], word[a]
	}
	return true
}
