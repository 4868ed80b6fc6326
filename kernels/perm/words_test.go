package perm

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// pack is word with two bits a letter.
func pack(word []uint8) uint32 {
	packed := uint32(0)
	for _, letter := range word {
		packed = packed<<2 | uint32(letter)
	}
	return packed
}

// firstWord returns the letters in order.
func firstWord(counts [4]int) (word []uint8) {
	for letter, count := range counts {
		for range count {
			word = append(word, uint8(letter))
		}
	}
	return word
}

// nextWord replaces word by the next one with the same letters in lexicographic order, and returns
// false, without a change, after the last (Knuth, TAoCP 7.2.1.2, algorithm L).
func nextWord(word []uint8) bool {
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
	slices.Reverse(word[i+1:])
	return true
}

// TestWords compares with the words in order on every packed number, words or
// not, with and without forbidden heads.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		counts  [4]int
		head    int
		allowed func(uint32) bool
	}{
		{[4]int{1, 1, 1, 1}, 1, nil},
		{[4]int{2, 2, 2, 1}, 3, nil},
		{[4]int{0, 3, 0, 4}, 2, nil},
		{[4]int{3, 2, 2, 2}, 4, func(h uint32) bool { return h&3 == 3 || h>>2&3 != 3 }},
		{[4]int{3, 3, 1, 1}, 2, func(h uint32) bool { return h%3 == 1 }},
		{[4]int{1, 1, 1, 0}, 1, func(uint32) bool { return false }},
		{[4]int{8, 1, 0, 0}, 8, nil},
	} {
		p, err := NewWords(c.counts, c.head, c.allowed)
		if err != nil {
			t.Fatal(err)
		}
		ranks := map[uint32]uint32{}
		word := firstWord(c.counts)
		for more := true; more; more = nextWord(word) {
			w := pack(word)
			if head := w >> (2 * (len(word) - c.head)); c.allowed == nil || c.allowed(head) {
				ranks[w] = uint32(len(ranks))
			}
		}
		if int(p.Size()) != len(ranks) {
			t.Errorf("%v: %d words, want %d", c.counts, p.Size(), len(ranks))
		}
		for w := range uint32(1) << (2 * len(word)) {
			want, known := ranks[w]
			if got, ok := p.Rank(w); got != want || ok != known {
				t.Fatalf("%v: Rank(%#x) = %d, %t, want %d, %t", c.counts, w, got, ok, want, known)
			}
			if again, ok := p.Unrank(want); known && (again != w || !ok) {
				t.Fatalf("%v: Unrank(%d) = %#x, %t, want %#x", c.counts, want, again, ok, w)
			}
		}
		if w, ok := p.Unrank(p.Size()); ok {
			t.Errorf("%v: word %#x has a rank beyond the last", c.counts, w)
		}
		if _, ok := p.Rank(1 << (2 * len(word))); ok {
			t.Errorf("%v: a word of too many letters has a rank", c.counts)
		}
	}
}

func TestWordsRejects(t *testing.T) {
	for _, c := range []struct {
		counts [4]int
		head   int
	}{
		{[4]int{1, 1, 1, -1}, 1}, {[4]int{1, 1, 1, 1}, 0}, {[4]int{1, 1, 1, 1}, 4}, {[4]int{4, 4, 4, 4}, 5},
		{[4]int{4, 4, 4, 4}, 9}, {[4]int{5, 5, 4, 4}, 8}, {[4]int{20, 20, 20, 20}, 8},
		{[4]int{math.MaxInt, math.MaxInt, 3, 2}, 2},
	} {
		if _, err := NewWords(c.counts, c.head, nil); !errors.Is(err, ErrWords) {
			t.Errorf("%v, head %d: %v", c.counts, c.head, err)
		}
	}
}

func BenchmarkWords(b *testing.B) {
	p, err := NewWords([4]int{4, 4, 4, 2}, 5, nil)
	if err != nil {
		b.Fatal(err)
	}
	const stride = 1_000_003
	b.Run("unrank", func(b *testing.B) {
		rank := uint32(0)
		for b.Loop() {
			if _, ok := p.Unrank(rank); !ok {
				b.Fatal(rank)
			}
			rank = (rank + stride) % p.Size()
		}
	})
	b.Run("rank", func(b *testing.B) {
		words := make([]uint32, 4096)
		for i := range words {
			words[i], _ = p.Unrank(uint32(i) * stride % p.Size())
		}
		i := 0
		for b.Loop() {
			if _, ok := p.Rank(words[i%len(words)]); !ok {
				b.Fatal(words[i%len(words)])
			}
			i++
		}
	})
}
