package board

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/edsrzf/mmap-go"

	"grenier/io/memory"
)

// Region is memory for scores outside the Go heap, so that the memory of a layer
// is known and can be returned at once.
type Region struct {
	mapping mmap.MMap
	rest    []int8 // not yet taken
	known   func() // tells the Go runtime that it is returned
}

// NewRegion maps size bytes.
func NewRegion(size int) (*Region, error) {
	mapping, err := mmap.MapRegion(nil, max(size, 1), mmap.COPY, mmap.ANON, 0) // private, so that it can have huge pages
	if err != nil {
		return nil, fmt.Errorf("taking %d bytes of memory: %w", size, err)
	}
	memory.Huge(mapping)
	r := &Region{mapping: mapping, known: memory.Outside(int64(len(mapping)))}
	r.Reset()
	return r, nil
}

// Reset takes everything back.
func (r *Region) Reset() {
	r.rest = unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(r.mapping))), len(r.mapping))
}

// Size returns the bytes of r.
func (r *Region) Size() int { return len(r.mapping) }

// All takes everything, also what is taken already.
func (r *Region) All() []int8 {
	r.Reset()
	return r.rest
}

// Take returns the next size bytes. Sizes that are multiples of 64 keep what
// follows aligned to lines.
func (r *Region) Take(size int) []int8 {
	taken := r.rest[:size:size]
	r.rest = r.rest[size:]
	return taken
}

// Close returns the memory to the system.
func (r *Region) Close() error {
	r.known()
	if err := r.mapping.Unmap(); err != nil {
		return fmt.Errorf("returning memory: %w", err)
	}
	return nil
}

// Spare keeps the memory of one layer for the next: pages that are in use
// already cost nothing. It is safe for concurrent use.
type Spare struct {
	mu     sync.Mutex
	region *Region
}

// Get returns memory of size bytes at least, with anything in it.
func (s *Spare) Get(size int) (*Region, error) {
	s.mu.Lock()
	r := s.region
	s.region = nil
	s.mu.Unlock()
	if r != nil && len(r.mapping) >= size {
		r.Reset()
		return r, nil
	}
	if r != nil {
		if err := r.Close(); err != nil {
			return nil, err
		}
	}
	return NewRegion(size)
}

// Put takes memory back, to keep or to return.
func (s *Spare) Put(r *Region) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.region != nil {
		return r.Close()
	}
	s.region = r
	return nil
}

// Close returns what is kept to the system.
func (s *Spare) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.region == nil {
		return nil
	}
	err := s.region.Close()
	s.region = nil
	return err
}
