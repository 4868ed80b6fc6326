package perm

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func mustMultiset(t testing.TB, counts ...int) *Multiset {
	t.Helper()
	m, err := NewMultiset(counts...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// firstWord returns the letters in order.
func firstWord(counts []int) []uint8 {
	word := []uint8{}
	for letter, count := range counts {
		for range count {
			word = append(word, uint8(letter))
		}
	}
	return word
}

// TestMultisetListsAllWords walks through all words of small multisets, which
// must be sorted and as many as the factorials say.
func TestMultisetListsAllWords(t *testing.T) {
	for _, counts := range [][]int{
		{}, {0}, {1}, {3}, {0, 2}, {1, 1}, {2, 1}, {2, 0, 2}, {1, 1, 1, 1, 1}, {3, 3, 2}, {4, 2, 1, 3}, {0, 0, 5, 1},
	} {
		m := mustMultiset(t, counts...)
		word := firstWord(counts)
		again := make([]uint8, len(word))
		var before []uint8
		for rank := range m.Size() {
			if rank > 0 {
				before = slices.Clone(word)
				if !NextWord(word) || slices.Compare(before, word) >= 0 {
					t.Fatalf("%v: %v follows %v", counts, word, before)
				}
			}
			got, err := m.Rank(word)
			if err != nil || got != rank {
				t.Fatalf("%v: Rank(%v) = %d, %v, want %d", counts, word, got, err, rank)
			}
			if err := m.Unrank(rank, again); err != nil || !slices.Equal(again, word) {
				t.Fatalf("%v: Unrank(%d) = %v, %v, want %v", counts, rank, again, err, word)
			}
		}
		if NextWord(word) {
			t.Errorf("%v: more than %d words, %v", counts, m.Size(), word)
		}
	}
}

func TestMultisetSize(t *testing.T) {
	for _, c := range []struct {
		counts []int
		want   string
	}{
		{[]int{4, 4, 4, 2}, "3153150"},
		{[]int{33, 33}, "7219428434016265740"},
		{[]int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, "2432902008176640000"},
		{[]int{0, 1000000}, "1"},
	} {
		m := mustMultiset(t, c.counts...)
		if got := new(big.Int).SetUint64(m.Size()).String(); got != c.want {
			t.Errorf("%v: %s words, want %s", c.counts, got, c.want)
		}
	}
}

// TestMultisetLarge takes sizes whose products leave 64 bits.
func TestMultisetLarge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 5).Draw(t, "counts")
		if rapid.Bool().Draw(t, "large") {
			counts = []int{16, 17, 5, 2}
		}
		m, err := NewMultiset(counts...)
		if err != nil {
			t.Fatal(err)
		}
		word := rapid.Permutation(firstWord(counts)).Draw(t, "word")
		rank, err := m.Rank(word)
		if err != nil || rank >= m.Size() {
			t.Fatalf("Rank(%v) = %d of %d, %v", word, rank, m.Size(), err)
		}
		again := make([]uint8, len(word))
		if err := m.Unrank(rank, again); err != nil || !slices.Equal(word, again) {
			t.Fatalf("Unrank(%d) = %v, %v, want %v", rank, again, err, word)
		}
	})
}

func TestMultisetRejects(t *testing.T) {
	m := mustMultiset(t, 2, 1)
	_, negative := NewMultiset(2, -1)
	_, overflow := NewMultiset(34, 34)
	_, letters := NewMultiset(make([]int, 257)...)
	_, short := m.Rank([]uint8{0, 1})
	_, often := m.Rank([]uint8{1, 1, 0})
	_, unknown := m.Rank([]uint8{0, 2, 0})
	for name, err := range map[string]error{
		"negative": negative, "overflow": overflow, "letters": letters, "short": short, "often": often, "unknown": unknown,
		"rank": m.Unrank(3, make([]uint8, 3)), "room": m.Unrank(0, make([]uint8, 2)),
	} {
		if !errors.Is(err, ErrMultiset) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
