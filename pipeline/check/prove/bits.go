package prove

import "sync/atomic"

// bits is a set of ranks, one bit for each, shared by goroutines.
type bits []atomic.Uint64

// newBits returns the empty set of ranks below size.
func newBits(size uint64) bits { return make(bits, words(size)) }

// words returns how many words hold size bits.
func words(size uint64) uint64 { return (size + 63) / 64 }

// has reports whether rank i is in the set.
func (b bits) has(i uint64) bool { return b[i/64].Load()>>(i%64)&1 != 0 }

// add puts rank i into the set. It looks first, because looking does not take the
// cache line away from other processors.
func (b bits) add(i uint64) {
	if !b.has(i) {
		b[i/64].Or(1 << (i % 64))
	}
}

// take empties word w of the set and returns what it held.
func (b bits) take(w uint64) uint64 {
	if b[w].Load() == 0 {
		return 0
	}
	return b[w].Swap(0)
}

// clear empties the set.
func (b bits) clear() {
	for i := range b {
		b[i].Store(0)
	}
}
