package chemin

import (
	"math/bits"
	"slices"

	"grenier/layers/chemin"
)

// A record is a canonical state as words: the filled cells, the values that are still alive in
// the order of their cells, padded with zeros to the number of filled cells, and a tail: an
// order that leads there, or the number of orders.
type layout struct {
	filled int // cells
	tail   int // words
}

const (
	orderWords = 5 // of six cells each, in five bits each
	countWords = 2 // low, high
)

func (l layout) key() int    { return 1 + l.filled }
func (l layout) stride() int { return l.key() + l.tail }

func appendOrder(tail []uint32, step, cell int) { tail[step/6] |= uint32(cell) << (5 * (step % 6)) }

func cellAt(tail []uint32, step int) int { return int(tail[step/6]>>(5*(step%6))) & 31 }

// carry returns the tail of an order moved along a symmetry.
func carry(tail []uint32, steps int, by *chemin.Symmetry) [orderWords]uint32 {
	var moved [orderWords]uint32
	for step := range steps {
		appendOrder(moved[:], step, int(by[cellAt(tail, step)]))
	}
	return moved
}

// stateOf returns the state of a record.
func stateOf(b *chemin.Board, row []uint32) chemin.State {
	s := chemin.State{Filled: row[0]}
	values := row[1:]
	for alive := b.Touching(row[0], b.Full()&^row[0]); alive != 0; alive &= alive - 1 {
		s.Values[bits.TrailingZeros32(alive)] = values[0]
		values = values[1:]
	}
	return s
}

// putState writes the key of a state to a record of zeros.
func putState(b *chemin.Board, row []uint32, s *chemin.State) {
	row[0] = s.Filled
	values := row[1:]
	for alive := b.Touching(s.Filled, b.Full()&^s.Filled); alive != 0; alive &= alive - 1 {
		values[0] = s.Values[bits.TrailingZeros32(alive)]
		values = values[1:]
	}
}

func count(tail []uint32) uint64 { return uint64(tail[0]) | uint64(tail[1])<<32 }

func setCount(tail []uint32, n uint64) { tail[0], tail[1] = uint32(n), uint32(n>>32) }

func addCount(tail, other []uint32) { setCount(tail, count(tail)+count(other)) }

func factorial(n int) uint64 {
	f := uint64(1)
	for i := 2; i <= n; i++ {
		f *= uint64(i)
	}
	return f
}

// combine makes one record of sorted records with the same key.
func combine(rows [][]uint32, l layout, counting bool) [][]uint32 {
	kept := rows[:0]
	for _, row := range rows {
		if n := len(kept); n > 0 && slices.Equal(kept[n-1][:l.key()], row[:l.key()]) {
			if counting {
				addCount(kept[n-1][l.key():], row[l.key():])
			}
			continue
		}
		kept = append(kept, row)
	}
	return kept
}

// bySet cuts sorted records where the filled cells change.
func bySet(rows [][]uint32) [][][]uint32 {
	var groups [][][]uint32
	for start, i := 0, 1; i <= len(rows); i++ {
		if i == len(rows) || rows[i][0] != rows[start][0] {
			groups = append(groups, rows[start:i:i])
			start = i
		}
	}
	return groups
}

// The memory of a search is divided as follows. A quarter is for garbage and small things: the
// Go runtime gets the limit and collects in time (debug.SetMemoryLimit). Bounds get up to
// three eighths. A sweep divides the rest between blocks that it keeps and records that it
// is sorting.

// boundBytes is how much memory the bounds may take.
func (s *solver) boundBytes() int64 { return s.room / 8 * 3 }

// sweepBytes returns how much memory a sweep may take for blocks that it keeps, and for records
// at work, if the bounds take so much. In a file, little is kept in memory of a block.
func (s *solver) sweepBytes(bounds int64) (kept, room int64) {
	all := s.room/4*3 - bounds
	kept = all / 2
	if s.Dir != "" {
		kept = all / 8
	}
	return kept, all - kept
}

// mostListed is how many solutions are kept; each takes about 1024 bytes until it is printed.
func (s *solver) mostListed() int { return int(min(MaxSolutions, s.room/2/1024)) }

// mostInSet bounds the elements of a set that may grow very large; an element takes about 256
// bytes.
func (s *solver) mostInSet() int { return int(s.room / 8 / 256) }

// Bytes of a record at work besides its words: its place in a list, and memory of dominant.
const perRow = 64

// rowBytes is the memory of a record while records are sorted.
func (l layout) rowBytes() int64 { return int64(4*l.stride() + perRow) }

// arena hands out memory for records.
type arena struct {
	slabs [][]uint32
	slab  int // in use
	used  int // words of it
}

const slabWords = 1 << 14

// take returns memory with any contents.
func (a *arena) take(words int) []uint32 {
	if a.slab < len(a.slabs) && a.used+words > slabWords {
		a.slab, a.used = a.slab+1, 0
	}
	if a.slab == len(a.slabs) {
		a.slabs = append(a.slabs, make([]uint32, slabWords))
	}
	a.used += words
	return a.slabs[a.slab][a.used-words : a.used : a.used]
}

// reset takes back everything.
func (a *arena) reset() { a.slab, a.used = 0, 0 }
