package prove

import "sync/atomic"

// state is the knowledge of a position.
type state uint64

const (
	// open positions may have any score, and do not count as grounded. Grounded ones with a
	// negative score become open again: nobody asks for them.
	open state = iota
	// candidate positions have the score -level and are not grounded yet.
	candidate
	// won positions are grounded and have a positive score.
	won
	// left positions have a positive score above the level, and were not grounded.
	left
)

// states holds the state of each rank, two bits for each, shared by goroutines.
type states []atomic.Uint64

const (
	stateBits = 2
	perWord   = 64 / stateBits // ranks
	oneEach   = 0x5555555555555555
)

// newStates returns the states of ranks below size, all open.
func newStates(size uint64) states { return make(states, words(size)) }

// words returns how many words hold the states of size ranks.
func words(size uint64) uint64 { return (size + perWord - 1) / perWord }

// of returns the state of rank i.
func (s states) of(i uint64) state {
	return state(s[i/perWord].Load() >> (i % perWord * stateBits) & 3)
}

// touch brings the states of ranks into the caches of the processor.
func (s states) touch(ranks []uint64) {
	for _, i := range ranks {
		s[i/perWord].Load()
	}
}

// allWon reports whether all ranks are won.
func (s states) allWon(ranks []uint64) bool {
	for _, i := range ranks {
		if s.of(i) != won {
			return false
		}
	}
	return true
}

// change changes the state of rank i, and reports whether it was the one given before.
func (s states) change(i uint64, from, to state) bool {
	word, shift := &s[i/perWord], i%perWord*stateBits
	for {
		old := word.Load()
		if state(old>>shift&3) != from {
			return false
		}
		if word.CompareAndSwap(old, old^uint64(from^to)<<shift) {
			return true
		}
	}
}

// candidates returns a bit for each candidate of word w, at twice its number.
func (s states) candidates(w uint64) uint64 {
	x := s[w].Load()
	return x & ^(x >> 1) & oneEach
}

// clear makes all ranks open.
func (s states) clear() {
	for i := range s {
		s[i].Store(0)
	}
}
