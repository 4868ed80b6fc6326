// Package guard gives tests memory with an unreadable page on either side, so
// that a kernel that reads or writes one byte too far crashes the test instead
// of passing by luck. What a kernel could write before the other page are canaries.
package guard

import (
	"slices"
	"testing"
	"unsafe"
)

// End is one of the two ends of a region.
type End bool

// The ends.
const (
	Low  End = false // right after an unreadable page
	High End = true  // right before one
)

// Ends are both.
var Ends = []End{Low, High}

// Region is memory for up to a fixed number of bytes, as closely fenced as the
// operating system can.
type Region[T int8 | uint8] struct {
	all    []T // whole pages between two unreadable ones
	around []T // the canaries of the last Copy
}

// New returns a region for at least n bytes, which goes away when the test ends.
// Where pages cannot be protected it is ordinary memory.
func New[T int8 | uint8](tb testing.TB, n int) *Region[T] {
	b := pages(tb, max(1, n))
	return &Region[T]{all: unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b))}
}

// At returns n bytes at an end. Calls share memory.
func (r *Region[T]) At(end End, n int) []T {
	if end == High {
		return r.all[len(r.all)-n:]
	}
	return r.all[:n:n]
}

const canary = 0x5a

// Copy returns a copy of data at an end, and makes all other bytes of the region canaries.
func (r *Region[T]) Copy(end End, data []T) []T {
	rest := len(r.all) - len(data)
	if r.around = r.all[:rest]; end == Low {
		r.around = r.all[len(data):]
	}
	for i := range r.around {
		r.around[i] = canary
	}
	copied := r.At(end, len(data))
	copy(copied, data)
	return copied
}

// Intact reports whether nobody wrote to the canaries of the last Copy.
func (r *Region[T]) Intact() bool {
	return !slices.ContainsFunc(r.around, func(x T) bool { return x != canary })
}
