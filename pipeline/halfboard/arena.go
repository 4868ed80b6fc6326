package halfboard

import (
	"fmt"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/edsrzf/mmap-go"
)

// chunkBytes is what the arena asks the system for at a time: many huge pages.
const chunkBytes = 32 << 20

// arena hands out score buffers outside the Go heap, so that the memory of a
// layer is known and returned at once when the layer is done. Freed buffers are
// reused for requests of the same size class. It is safe for concurrent use.
type arena struct {
	mu     sync.Mutex
	chunks []mmap.MMap
	rest   []int8           // unused tail of the newest chunk
	free   map[int][][]int8 // by class size
	held   int              // bytes taken from the system
}

// sizeClass rounds size up to 8/8, 9/8, ... 15/8 of a power of two: at most one
// eighth is lost, and versions of tiles of about the same size share buffers.
func sizeClass(size int) int {
	if size <= 64 {
		return 64
	}
	step := 1 << (bits.Len(uint(size-1)) - 4)
	return (size + step - 1) &^ (step - 1)
}

// alloc returns a buffer of size scores that release takes back. It is zero
// unless it was used before.
func (a *arena) alloc(size int) ([]int8, error) {
	class := sizeClass(size)
	a.mu.Lock()
	defer a.mu.Unlock()
	if free := a.free[class]; len(free) > 0 {
		a.free[class] = free[:len(free)-1]
		return free[len(free)-1][:size], nil
	}
	buf, err := a.cut(class)
	return buf[:min(size, len(buf))], err
}

// keep returns a zero buffer of size scores that lives as long as the arena.
func (a *arena) keep(size int) ([]int8, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cut(size)
}

// cut takes size scores that were never used.
func (a *arena) cut(size int) ([]int8, error) {
	if size > len(a.rest) {
		if err := a.grow(size); err != nil {
			return nil, err
		}
	}
	buf := a.rest[:size:size]
	a.rest = a.rest[size:]
	return buf, nil
}

// grow makes rest a fresh chunk with room for size bytes.
func (a *arena) grow(size int) error {
	size = max(size, chunkBytes)
	chunk, err := mmap.MapRegion(nil, size, mmap.COPY, mmap.ANON, 0) // private, so that it can have huge pages
	if err != nil {
		return fmt.Errorf("taking %d bytes of memory: %w", size, err)
	}
	adviseHuge(chunk)
	a.chunks = append(a.chunks, chunk)
	a.rest = unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(chunk))), len(chunk))
	a.held += size
	return nil
}

// release takes back a buffer that alloc returned.
func (a *arena) release(buf []int8) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.free == nil {
		a.free = map[int][][]int8{}
	}
	a.free[cap(buf)] = append(a.free[cap(buf)], buf)
}

// close returns everything to the system. No buffer may be used afterwards.
func (a *arena) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var first error
	for _, chunk := range a.chunks {
		if err := chunk.Unmap(); err != nil && first == nil {
			first = fmt.Errorf("returning memory: %w", err)
		}
	}
	a.chunks, a.rest, a.free, a.held = nil, nil, nil, 0
	return first
}
