package search

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"grenier/layers/awari"
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

// entry is what is stored about a position. Nothing in it depends on a path.
type entry struct {
	board        awari.Board
	lower, upper int8
	estimate     int8
	bound        bound
	depth        uint8
	pit          int8 // best move, -1 if there is none
	age          uint8
}

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

// bucketSize is the number of entries that compete for room.
const bucketSize = 4

// table is a transposition table of fixed size.
type table struct {
	buckets [][bucketSize]entry
	now     uint8 // of the search, never 0: an entry of age 0 is empty
}

// newTable returns a table of at most the given bytes, one bucket at least.
func newTable(bytes int64) table {
	size := int64(unsafe.Sizeof([bucketSize]entry{}))
	return table{buckets: make([][bucketSize]entry, max(1, bytes/size))}
}

// age begins a new search: entries of earlier ones give way first.
func (t *table) age() { t.now = t.now%255 + 1 }

// bucket returns the entries that may hold a board.
func (t *table) bucket(b *awari.Board) *[bucketSize]entry {
	place, _ := bits.Mul64(hash(b), uint64(len(t.buckets)))
	return &t.buckets[place]
}

// hash mixes the pits of a board.
func hash(b *awari.Board) uint64 {
	const odd, mix = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
	low, high := binary.LittleEndian.Uint64(b[:]), uint64(binary.LittleEndian.Uint32(b[8:]))
	h := (low ^ bits.RotateLeft64(high*odd, 29)) * mix
	return (h ^ h>>32) * mix
}

// find returns the entry of a board, nil if there is none. It may change when the
// table does.
func (t *table) find(b *awari.Board) *entry {
	bucket := t.bucket(b)
	for i := range bucket {
		if bucket[i].age != 0 && bucket[i].board == *b {
			return &bucket[i]
		}
	}
	return nil
}

// put stores what is known about a position. What was proven before stays.
func (t *table) put(s entry) {
	bucket := t.bucket(&s.board)
	slot := &bucket[0]
	for i := range bucket {
		other := &bucket[i]
		if other.age != 0 && other.board == s.board {
			s.lower, s.upper = max(s.lower, other.lower), min(s.upper, other.upper)
			slot = other
			break
		}
		if t.worth(other) < t.worth(slot) {
			slot = other
		}
	}
	s.age = t.now
	*slot = s
}

// learn stores what was proven of a position besides what was known. Its estimate
// stays, if there is one.
func (t *table) learn(b *awari.Board, found interval, pit int) {
	s := entry{board: *b, lower: int8(found.lower), upper: int8(found.upper), depth: lookUpDepth, pit: int8(pit)}
	if old := t.find(b); old != nil {
		known := found.both(old.interval())
		s = *old
		s.lower, s.upper = int8(known.lower), int8(known.upper)
		s.estimate = int8(known.clamp(int(s.estimate)))
		if pit != noPit {
			s.pit = int8(pit)
		}
	}
	t.put(s)
}

// worth orders entries by what is lost with them: nothing when they are empty, little
// when they are of an earlier search, more the deeper they were searched.
func (t *table) worth(s *entry) int {
	switch {
	case s.age == 0:
		return -1
	case s.age != t.now:
		return int(s.depth)
	}
	return int(s.depth) + 256
}
