// Package blocks keeps decoded scores in memory, up to a bound, for any number of goroutines. A score
// in memory costs no lock. When there are as many blocks as there may be, the oldest gives way. It is left to the
// garbage collector, because somebody may still be reading it.
package blocks

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"grenier/io/memory"
)

// Bytes is the memory of a block.
const Bytes = 1 << 16

// PlaceBytes is the memory that each block of a layer takes, from the first one of it that is kept on, whether its scores are in
// memory or not.
const PlaceBytes = 8 + 4

// Block is scores of a layer, one after the other.
type Block [Bytes]int8

// Store is blocks of layers. It is safe for concurrent use.
type Store struct {
	count  func(n int) uint64
	layers []atomic.Pointer[layer] // by number

	mu     sync.Mutex
	kept   []kept // the oldest at hand once there are limit
	hand   int
	limit  int
	chunk  int      // blocks
	spare  []Block  // of the chunk allocated last
	unused []*Block // given back
}

// layer is the blocks of a layer.
type layer struct {
	blocks []atomic.Pointer[Block]
	asked  []atomic.Uint32 // how many times scores were asked for since the block was in memory
}

// kept names a block in memory.
type kept struct {
	n     int
	block uint64
}

// New returns an empty store for at most limit blocks, at least one, of so many layers that have count(n) each. Memory is
// allocated by chunks of so many blocks, in huge pages if that is more than one. Blocks give way in about the order in
// which they came: so the garbage collector has a chunk back when all its blocks have given way; the oldest and the newest
// one are not full.
func New(layers int, count func(n int) uint64, limit, chunk int) *Store {
	return &Store{layers: make([]atomic.Pointer[layer], layers), count: count, limit: max(1, limit), chunk: chunk}
}

// Find returns a block of layer n, nil if it is not in memory.
func (s *Store) Find(n int, block uint64) *Block {
	if l := s.layers[n].Load(); l != nil {
		return l.blocks[block].Load()
	}
	return nil
}

// Asked returns how many times it was called for a block since that gave way.
func (s *Store) Asked(n int, block uint64) uint32 { return s.layer(n).asked[block].Add(1) }

// layer returns the blocks of layer n.
func (s *Store) layer(n int) *layer {
	if l := s.layers[n].Load(); l != nil {
		return l
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.layers[n].Load()
	if l == nil {
		l = &layer{make([]atomic.Pointer[Block], s.count(n)), make([]atomic.Uint32, s.count(n))}
		s.layers[n].Store(l)
	}
	return l
}

// Room returns memory for a block, to be kept or given back.
func (s *Store) Room() *Block {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.unused) - 1; last >= 0 {
		b := s.unused[last]
		s.unused = s.unused[:last]
		return b
	}
	if len(s.spare) == 0 {
		s.spare = allocate(s.chunk)
	}
	b := &s.spare[0]
	s.spare = s.spare[1:]
	return b
}

// allocate returns memory for blocks.
func allocate(count int) []Block {
	s := make([]Block, count)
	if count > 1 {
		memory.Huge(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), count*Bytes))
	}
	return s
}

// GiveBack takes memory that nobody else has seen.
func (s *Store) GiveBack(b *Block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unused = append(s.unused, b)
}

// Keep adds a block, which does not change from now on, unless another goroutine was faster: the caller may not use b any
// more, only what Find returns. The oldest one gives way.
func (s *Store) Keep(n int, block uint64, b *Block) {
	l := s.layer(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !l.blocks[block].CompareAndSwap(nil, b) {
		s.unused = append(s.unused, b)
		return
	}
	l.asked[block].Store(0)
	if len(s.kept) < s.limit {
		s.kept = append(s.kept, kept{n, block})
		return
	}
	old := &s.kept[s.hand]
	s.layers[old.n].Load().blocks[old.block].Store(nil)
	*old = kept{n, block}
	s.hand = (s.hand + 1) % len(s.kept)
}
