package perm

import (
	"errors"
	"fmt"
	"math/bits"
)

// ErrWords reports a multiset, or a cut, that Words does not cover.
var ErrWords = errors.New("words of four letters")

// Words numbers the words in which each of four letters occurs a fixed number of
// times: 0, 1, 2, ... without gaps, in lexicographic order. Words are packed two bits
// a letter, the first letter in the highest bits: so their order is that of the
// numbers. Words can be excluded by how they begin. It is immutable and safe for
// concurrent use.
//
// A word is cut into a head and a tail. Its rank is the number of words with a
// smaller head, from one table, plus the rank of the tail among its own
// rearrangements, from another; which letters the tail must have is known from
// the head. Ranking is two look-ups, unranking a binary search among the heads and
// one look-up.
type Words struct {
	tail uint // bits of the tail
	// first[h] is the number of words with a head below h; the last element
	// is the number of all words.
	first []uint32
	// need[h] is the kind of tail that goes with head h, noKind if none does.
	need []uint16
	// ranks[t] is the kind of t and its rank among tails of this kind.
	ranks []tailRank
	// tails lists all tails by kind and rank; kind k begins at start[k].
	tails []uint32
	start []uint32
}

// tailRank is a kind in the upper half and a rank in the lower.
type tailRank uint32

// Limits of packed words, which fit 32 bits. The rearrangements of a tail fit 16.
const (
	maxWord = 16
	maxHead = 8
	maxTail = 10
	noKind  = 1<<16 - 1
)

// NewWords returns the numbering of the words with counts[i] letters i whose
// first letters, head of them, are allowed; nil allows all. The head has 1 to 8
// letters and what follows 1 to 10, 16 together. It fails with ErrWords outside
// these limits. The tables take about 8 bytes for each of the 4^(letters of the
// tail) tails.
func NewWords(counts [4]int, head int, allowed func(head uint32) bool) (*Words, error) {
	tail := -head
	for letter, count := range counts {
		if count < 0 || count > maxWord {
			return nil, fmt.Errorf("%w: letter %d occurs %d times (0 to %d are supported)", ErrWords, letter, count, maxWord)
		}
		tail += count
	}
	if head < 1 || head > maxHead || tail < 1 || tail > maxTail || head+tail > maxWord {
		return nil, fmt.Errorf("%w: heads of %d letters and tails of %d (1 to %d and 1 to %d are supported, %d together)",
			ErrWords, head, tail, maxHead, maxTail, maxWord)
	}
	p := &Words{tail: uint(2 * tail)}
	p.listTails(tail)
	p.countHeads(counts, head, allowed)
	return p, nil
}

// listTails ranks all words of n letters among those of the same kind.
func (p *Words) listTails(n int) {
	p.ranks = make([]tailRank, 1<<(2*n))
	p.tails = make([]uint32, len(p.ranks))
	p.start = make([]uint32, kinds(n)+1)
	for t := range p.ranks {
		k := kindOf(letters(uint32(t), n), n)
		p.ranks[t] = tailRank(uint32(k)<<16 | p.start[k+1])
		p.start[k+1]++
	}
	for k := range kinds(n) {
		p.start[k+1] += p.start[k]
	}
	for t, r := range p.ranks {
		p.tails[p.start[r>>16]+uint32(r&0xffff)] = uint32(t)
	}
}

// countHeads counts the words with each head.
func (p *Words) countHeads(counts [4]int, n int, allowed func(head uint32) bool) {
	p.first = make([]uint32, 1<<(2*n)+1)
	p.need = make([]uint16, 1<<(2*n))
	for h := range p.need {
		p.need[h] = noKind
		p.first[h+1] = p.first[h]
		rest := less(counts, letters(uint32(h), n))
		if min(rest[0], rest[1], rest[2], rest[3]) < 0 || allowed != nil && !allowed(uint32(h)) {
			continue
		}
		k := kindOf(rest, int(p.tail)/2)
		p.need[h] = uint16(k)
		p.first[h+1] += p.start[k+1] - p.start[k]
	}
}

// Size returns the number of words.
func (p *Words) Size() uint32 { return p.first[len(p.first)-1] }

// Rank returns the number of word, and false when it is not one of the
// words.
func (p *Words) Rank(word uint32) (rank uint32, ok bool) {
	head := word >> p.tail
	if int(head) >= len(p.need) {
		return 0, false
	}
	r := p.ranks[word&(1<<p.tail-1)]
	if uint16(r>>16) != p.need[head] {
		return 0, false
	}
	return p.first[head] + uint32(r&0xffff), true
}

// Unrank returns the word with the given rank, and false when there is none.
func (p *Words) Unrank(rank uint32) (word uint32, ok bool) {
	if rank >= p.Size() {
		return 0, false
	}
	// The last head with first[head] <= rank; heads without words are skipped,
	// as the next one begins where they do.
	low, high := 0, len(p.need)
	for high-low > 1 {
		if mid := int(uint(low+high) / 2); p.first[mid] <= rank {
			low = mid
		} else {
			high = mid
		}
	}
	return uint32(low)<<p.tail | p.tails[p.start[p.need[low]]+rank-p.first[low]], true
}

// letters counts the letters of a packed word of n.
func letters(word uint32, n int) [4]int {
	const odd = 0x55555555
	low, high := word&odd, word>>1&odd
	c1, c2, c3 := bits.OnesCount32(low&^high), bits.OnesCount32(high&^low), bits.OnesCount32(low&high)
	return [4]int{n - c1 - c2 - c3, c1, c2, c3}
}

// less returns a minus b.
func less(a, b [4]int) [4]int {
	return [4]int{a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]}
}

// kindOf numbers the multisets of n letters by three of their counts, with gaps.
func kindOf(counts [4]int, n int) int {
	return (counts[1]*(n+1)+counts[2])*(n+1) + counts[3]
}

// kinds is more than any kindOf.
func kinds(n int) int { return (n + 1) * (n + 1) * (n + 1) }
