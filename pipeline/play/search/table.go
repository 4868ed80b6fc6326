package search

import (
	"math/bits"
	"sync/atomic"

	"grenier/io/memory"
)

// bound says what an estimate was compared with, as is usual in transposition
// tables.
type bound uint8

const (
	none    bound = iota // there is no estimate
	atLeast              // the search was cut off: no less
	atMost               // no move came up to the window: no more
	equal
)

// entry is the knowledge of a position in the table. Nothing in it depends on a path.
type entry struct {
	lower, upper int8
	estimate     int8
	bound        bound
	depth        uint8
	pit          int8 // best move, noPit if there is none
}

// noPit stands for a move that is not known.
const noPit = -1

// interval returns what is proven.
func (s *entry) interval() interval { return interval{int(s.lower), int(s.upper)} }

// settles reports whether the estimate will do for a search of some depth between
// alpha and beta.
func (s *entry) settles(depth, alpha, beta int) bool {
	if int(s.depth) < depth {
		return false
	}
	estimate := int(s.estimate)
	return s.bound == equal || s.bound == atLeast && estimate >= beta || s.bound == atMost && estimate <= alpha
}

// An entry is one word, so that workers share the table without locks and no entry can be
// half of one and half of another. A code is scrambled one to one; its upper bits are the number of the
// bucket, and the rest, the tag, is stored: no two positions are taken for each other.
//
//	tag | age 3 | pit 3 | depth 7 | bound 2 | estimate 7 | upper 7 | lower 7
const (
	dataBits   = 36
	tagBits    = 64 - dataBits
	scoreBias  = 64
	bucketSize = 8 // a cache line
	maxAge     = 7
)

// word packs an entry.
func (s *entry) word(tag uint64, age uint8) uint64 {
	return tag<<dataBits | uint64(age)<<33 | uint64(s.pit&7)<<30 | uint64(s.depth)<<23 | uint64(s.bound)<<21 |
		uint64(s.estimate+scoreBias)<<14 | uint64(s.upper+scoreBias)<<7 | uint64(s.lower+scoreBias)
}

// unpack is the way back.
func unpack(word uint64) entry {
	s := entry{
		lower: int8(word&127) - scoreBias, upper: int8(word>>7&127) - scoreBias, estimate: int8(word>>14&127) - scoreBias,
		bound: bound(word >> 21 & 3), depth: uint8(word >> 23 & 127), pit: int8(word >> 30 & 7),
	}
	if s.pit == 7 {
		s.pit = noPit
	}
	return s
}

// ageOf returns the search that an entry is of, 0 if there is none.
func ageOf(word uint64) uint8 { return uint8(word >> 33 & 7) }

// depthOf returns the depth of an entry.
func depthOf(word uint64) int { return int(word >> 23 & 127) }

// table is a transposition table of fixed size, for any number of workers.
type table struct {
	buckets  [][bucketSize]atomic.Uint64
	codeBits int
	tagBits  int
	now      uint8 // of the search, 1 to maxAge
}

// newTable returns a table for codes below a limit, of at most the given bytes, or of the smallest
// size that tells them from each other: 512 KiB for twelve pits.
func newTable(bytes int64, codes uint64) *table {
	t := &table{codeBits: bits.Len64(codes - 1), now: 1}
	log := max(0, t.codeBits-tagBits, bits.Len64(uint64(bytes)/(8*bucketSize))-1)
	log = min(log, t.codeBits)
	t.tagBits = t.codeBits - log
	t.buckets = memory.Make[[bucketSize]atomic.Uint64](1 << log)
	return t
}

// age begins a new search: entries of earlier ones give way first.
func (t *table) age() { t.now = t.now%maxAge + 1 }

// clear forgets all positions.
func (t *table) clear() {
	for i := range t.buckets {
		for k := range t.buckets[i] {
			t.buckets[i][k].Store(0)
		}
	}
}

// place returns the bucket that may hold a code, and its tag there.
func (t *table) place(code uint64) (bucket *[bucketSize]atomic.Uint64, tag uint64) {
	h := t.scramble(code)
	return &t.buckets[h>>t.tagBits], h & (1<<t.tagBits - 1)
}

// scramble permutes the codes: it multiplies by odd numbers, modulo a power of two, and
// combines upper and lower bits.
func (t *table) scramble(code uint64) uint64 {
	const odd, mix = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
	mask, half := uint64(1)<<t.codeBits-1, t.codeBits/2+t.codeBits%2
	h := code * odd & mask
	h = (h ^ h>>half) * mix & mask
	return h ^ h>>half
}

// find returns the entry of a code.
func (t *table) find(code uint64) (s entry, ok bool) {
	bucket, tag := t.place(code)
	for i := range bucket {
		if word := bucket[i].Load(); word>>dataBits == tag && ageOf(word) != 0 {
			return unpack(word), true
		}
	}
	return entry{}, false
}

// put stores what is known about a position. What was proven before stays.
func (t *table) put(code uint64, s entry) {
	bucket, tag := t.place(code)
	slot, least := &bucket[0], int(^uint(0)>>1)
	for i := range bucket {
		word := bucket[i].Load()
		if word>>dataBits == tag && ageOf(word) != 0 {
			before := unpack(word)
			s.lower, s.upper = max(s.lower, before.lower), min(s.upper, before.upper)
			slot = &bucket[i]
			break
		}
		if worth := t.worth(word); worth < least {
			slot, least = &bucket[i], worth
		}
	}
	if word := s.word(tag, t.now); word != slot.Load() { // a store is dear
		slot.Store(word)
	}
}

// learn stores what was proven of a position besides what was known. Its estimate
// stays, if there is one.
func (t *table) learn(code uint64, found interval, pit int) {
	s := entry{lower: int8(found.lower), upper: int8(found.upper), depth: lookUpDepth, pit: int8(pit)}
	if old, ok := t.find(code); ok {
		known := found.both(old.interval())
		s = old
		s.lower, s.upper = int8(known.lower), int8(known.upper)
		s.estimate = int8(known.clamp(int(s.estimate)))
		if pit != noPit {
			s.pit = int8(pit)
		}
	}
	t.put(code, s)
}

// worth orders entries by what is lost with them: nothing when they are empty, little
// when they are of an earlier search, more the deeper they were searched.
func (t *table) worth(word uint64) int {
	switch ageOf(word) {
	case 0:
		return -1
	case t.now:
		return depthOf(word) + 256
	}
	return depthOf(word)
}
