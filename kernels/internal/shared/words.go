package shared

import (
	"sync/atomic"
	"unsafe"
)

// words8 returns the words that hold bytes, which start at a multiple of 8 and are followed by
// bytes that fill up the last word.
func words8(b []int8) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), (len(b)+7)/8)
}

// LoadWords copies the words that hold bytes, as words8 has them, to dst, each at some time.
func LoadWords(dst []uint64, b []int8) {
	from := words8(b)
	dst = dst[:len(from)]
	for i := range from {
		dst[i] = atomic.LoadUint64(&from[i])
	}
}

// StoreWords replaces the words that hold bytes, as words8 has them, where they differ from src.
// Nobody else may write them meanwhile.
func StoreWords(b []int8, src []uint64) {
	to := words8(b)
	src = src[:len(to)]
	for i := range to {
		if to[i] != src[i] {
			atomic.StoreUint64(&to[i], src[i])
		}
	}
}

// Words returns the bytes of words.
func Words(words []uint64) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
}

// Bytes shows the same memory.
func Bytes(b []int8) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}
