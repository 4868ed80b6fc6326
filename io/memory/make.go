package memory

import "unsafe"

// Make returns a zeroed slice that is read in any order: in huge pages if the system has them.
func Make[T any](count int) []T {
	s := make([]T, count)
	Huge(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(count)*unsafe.Sizeof(*new(T))))
	return s
}
