// Package shared reads and writes lines of scores that other goroutines may
// write at the same time: score by score, a reader sees the old or the new one.
// Go promises that for atomic accesses only, so the portable kernels go word by
// word through sync/atomic. Kernels in assembly use plain moves, which do the
// same on amd64, and on arm64 but for their order: there kernels keep the order of the two
// parts of a code of 3 or 6 bits with instructions of their own, and callers go through
// sync/atomic between accesses that must not change places.
package shared

import (
	"sync/atomic"
	"unsafe"
)

// Side is the number of scores in a line.
const Side = 64

// Line is a line of scores, as words: a local copy.
type Line [Side / 8]uint64

// Scores returns the scores of l, in memory order.
func (l *Line) Scores() *[Side]int8 { return (*[Side]int8)(unsafe.Pointer(l)) }

// words returns the words of the first line of scores, which must start at a
// multiple of 8 bytes.
func words(scores []int8) *Line {
	return (*Line)(unsafe.Pointer((*[Side]int8)(scores)))
}

// Load copies the first line of scores. It must start at a multiple of 8 bytes.
func (l *Line) Load(scores []int8) {
	from := words(scores)
	for i := range l {
		l[i] = atomic.LoadUint64(&from[i])
	}
}

// Unpack copies the first line of codes of the given width, 2, 3, 4 or 6 bits, each to a byte;
// package window says how codes are packed. The line must start at a multiple of 8 bytes.
//
// Codes of 3 or 6 bits are read in two parts, the high one first: if others write the high one
// last, a reader may see an older high part with a newer low one, but never the reverse.
func (l *Line) Unpack(codes []int8, width int) {
	var packed Line
	packed.LoadPart(codes, width*Side/8)
	packed.Spread(l, width)
}

// Store replaces the words of the first line of scores that differ from l. It must
// start at a multiple of 8 bytes, and nobody else may write it meanwhile.
func (l *Line) Store(scores []int8) {
	to := words(scores)
	for i := range l {
		if l[i] != to[i] {
			atomic.StoreUint64(&to[i], l[i])
		}
	}
}
