package marks

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"grenier/kernels/prefetch"
)

// View reads and adds marks from any rank on, 64 to a word, the lowest first. It belongs to one goroutine.
type View struct {
	*Set
	bytes []byte
	words []uint64
}

// View returns a view of the marks.
func (s *Set) View() *View { return &View{Set: s} }

// Bits sets dst to the marks of the ranks from start on. Bits of ranks behind the last one say nothing. It fails like package vfs.
func (v *View) Bits(dst []uint64, start uint64) error {
	if v.Set.words != nil {
		v.fromMemory(dst, start)
		return nil
	}
	src, err := v.load(len(dst)+1, start/64)
	shift := start % 64
	for i := range dst {
		dst[i] = src[i]>>shift | src[i+1]<<1<<(63-shift) // two shifts, since one by 64 would be needed where shift is 0
	}
	return err
}

// fromMemory is Bits in memory.
func (v *View) fromMemory(dst []uint64, start uint64) {
	all, shift := v.Set.words[start/64:], start%64
	word := all[0].Load()
	for i := range min(len(dst), len(all)-1) {
		next := all[i+1].Load()
		dst[i] = word>>shift | next<<1<<(63-shift)
		word = next
	}
	if len(dst) >= len(all) {
		dst[len(all)-1] = word >> shift
		clear(dst[len(all):])
	}
}

// load reads words of the file.
func (v *View) load(n int, from uint64) ([]uint64, error) {
	if len(v.words) < n {
		v.words, v.bytes = make([]uint64, n), make([]byte, 8*n)
	}
	at := int64(8 * from)
	there := v.inside(n, at)
	clear(v.bytes[there : 8*n])
	err := v.Read(v.bytes[:there], at)
	for i := range n {
		v.words[i] = binary.LittleEndian.Uint64(v.bytes[8*i:])
	}
	return v.words[:n], err
}

// inside returns how many bytes of n words from byte at on are inside the file.
func (v *View) inside(n int, at int64) int { return int(min(int64(8*n), max(0, v.size-at))) }

// Fetch has the processor fetch the marks from a rank on, if they are in memory.
func (v *View) Fetch(start uint64) {
	if v.Set.words != nil {
		prefetch.Line(unsafe.Pointer(&v.Set.words[start/64]))
		prefetch.Line(unsafe.Pointer(&v.Set.words[min(start/64+8, uint64(len(v.Set.words))-1)]))
	}
}

// Mark adds marks, 64 to a word, for the ranks from start on, and returns how many are new. Whoever else adds some
// at the same time adds those of other ranks. It fails like package vfs.
func (v *View) Mark(src []uint64, start uint64) (fresh int, err error) {
	if v.Set.words == nil {
		return v.toFile(src, start)
	}
	shift := start % 64
	for i, x := range src {
		at := start/64 + uint64(i)
		if low := x << shift; low != 0 {
			fresh += mark(&v.Set.words[at], low)
		}
		if high := x >> 1 >> (63 - shift); high != 0 {
			fresh += mark(&v.Set.words[at+1], high)
		}
	}
	return fresh, nil
}

// mark adds marks to a word, and returns how many are new.
func mark(word *atomic.Uint64, x uint64) int {
	if x &^= word.Load(); x != 0 {
		word.Or(x)
	}
	return bits.OnesCount64(x)
}

// toFile is Mark on disk.
func (v *View) toFile(src []uint64, start uint64) (fresh int, err error) {
	all, err := v.load(len(src)+1, start/64)
	if err != nil {
		return 0, err
	}
	shift, before := start%64, uint64(0)
	for i := range all {
		word := before >> 1 >> (63 - shift)
		if i < len(src) {
			before = src[i]
			word |= before << shift
		}
		word &^= all[i]
		fresh += bits.OnesCount64(word)
		binary.LittleEndian.PutUint64(v.bytes[8*i:], word)
	}
	if fresh == 0 {
		return 0, nil
	}
	at := int64(start / 64 * 8)
	return fresh, v.Add(v.bytes[:v.inside(len(all), at)], at)
}
