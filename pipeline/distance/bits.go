package distance

import (
	"math/bits"
	"sync/atomic"

	"grenier/io/memory"
)

// set is a bit for each rank of a layer.
type set []uint64

// newSet returns a set of ranks below size, which is empty.
func newSet(size uint64) set { return memory.Make[uint64](int(words(size))) }

// words returns how many words hold size bits.
func words(size uint64) uint64 { return (size + 63) / 64 }

// share adds bits to word i, which others change at the same time.
func (s set) share(i, word uint64) { atomic.OrUint64(&s[i], word) }

// add adds rank i, whose word is the caller's.
func (s set) add(i uint64) { s[i/64] |= 1 << (i % 64) }

// countBoth returns how many of the ranks from from on are in both sets, up to the end of the word before that of to.
func countBoth(a, b set, from, to uint64) (n int) {
	for i := from / 64; i < to/64; i++ {
		word := a[i] & b[i]
		if i == from/64 {
			word = word >> (from % 64) << (from % 64)
		}
		n += bits.OnesCount64(word)
	}
	return n
}
