package halfboard

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/edsrzf/mmap-go"

	"grenier/io/memory"
)

// region is memory for scores outside the Go heap, so that the memory of a layer
// is known and can be returned at once.
type region struct {
	mapping mmap.MMap
	rest    []int8 // not yet taken
	known   func() // tells the Go runtime that it is returned
}

// newRegion maps size bytes.
func newRegion(size int) (*region, error) {
	mapping, err := mmap.MapRegion(nil, max(size, 1), mmap.COPY, mmap.ANON, 0) // private, so that it can have huge pages
	if err != nil {
		return nil, fmt.Errorf("taking %d bytes of memory: %w", size, err)
	}
	memory.Huge(mapping)
	r := &region{mapping: mapping, known: memory.Outside(int64(len(mapping)))}
	r.reset()
	return r, nil
}

// reset takes everything back.
func (r *region) reset() {
	r.rest = unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(r.mapping))), len(r.mapping))
}

// take returns the next size bytes. Sizes that are multiples of 64 keep what
// follows aligned to lines.
func (r *region) take(size int) []int8 {
	taken := r.rest[:size:size]
	r.rest = r.rest[size:]
	return taken
}

// close returns the memory to the system.
func (r *region) close() error {
	r.known()
	if err := r.mapping.Unmap(); err != nil {
		return fmt.Errorf("returning memory: %w", err)
	}
	return nil
}

// spare keeps the memory of one layer for the next: pages that are in use
// already cost nothing. It is safe for concurrent use.
type spare struct {
	mu     sync.Mutex
	region *region
}

// get returns memory of size bytes at least, with anything in it.
func (s *spare) get(size int) (*region, error) {
	s.mu.Lock()
	r := s.region
	s.region = nil
	s.mu.Unlock()
	if r != nil && len(r.mapping) >= size {
		r.reset()
		return r, nil
	}
	if r != nil {
		if err := r.close(); err != nil {
			return nil, err
		}
	}
	return newRegion(size)
}

// put takes memory back, to keep or to return.
func (s *spare) put(r *region) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.region != nil {
		return r.close()
	}
	s.region = r
	return nil
}

// close returns what is kept to the system.
func (s *spare) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.region == nil {
		return nil
	}
	err := s.region.close()
	s.region = nil
	return err
}
