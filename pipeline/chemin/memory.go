package chemin

// What a search may take is divided as follows. A quarter is for garbage and small things: the
// Go runtime gets the limit and collects in time (debug.SetMemoryLimit). Bounds get up to
// three eighths. A sweep divides what is left between blocks that it keeps and records that it
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

// Bytes of a record at work besides its words: its place in a list, and what dominant needs.
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
