// Package guard gives tests memory with an unreadable page on either side, so
// that a kernel that reads or writes one byte too far crashes the test instead
// of passing by luck.
package guard

import (
	"testing"
	"unsafe"
)

// Region is memory for up to a fixed number of bytes, as closely fenced as the
// operating system can.
type Region[T int8 | uint8] struct {
	all []T // whole pages between two unreadable ones
}

// New returns a region for at least n bytes, which goes away when the test ends.
// Where pages cannot be protected it is ordinary memory.
func New[T int8 | uint8](tb testing.TB, n int) *Region[T] {
	b := pages(tb, max(1, n))
	return &Region[T]{all: unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b))}
}

// End returns n bytes that end at an unreadable page. Calls share memory.
func (r *Region[T]) End(n int) []T {
	return r.all[len(r.all)-n:]
}

// Start returns n bytes that start right after an unreadable page.
func (r *Region[T]) Start(n int) []T {
	return r.all[:n:n]
}
