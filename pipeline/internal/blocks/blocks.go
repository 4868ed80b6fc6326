// Package blocks keeps decoded scores in memory, up to a bound, for any number of goroutines. A score
// in memory costs no lock. When there are as many blocks as there may be, the oldest gives way. Somebody may still be reading
// it: so it is left to the garbage collector, or its memory is used again when those have left who were reading then.
//
//	r := s.Enter()
//	if b := s.Find(n, block); b != nil {
//		score, found = b[offset], true
//	}
//	r.Leave()
package blocks

import (
	"math/bits"
	"slices"
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

	readers [stripes]Reader
	again   bool      // memory is used again
	retired []retired // the oldest first
}

// stripes is how many counters the readers are spread over: processors rarely meet in one.
const stripes = 64

// Reader counts goroutines that are reading blocks.
type Reader struct {
	count atomic.Int32
	_     [124]byte // two of them do not share a cache line, nor a pair, which processors fetch together
}

// retired is a block that gave way, and the counters, a bit each, that have not been 0 since.
type retired struct {
	block *Block
	wait  uint64
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

// New returns an empty store for at most limit blocks, at least one. Layer n, below layers, has count(n) blocks. Memory is
// allocated by chunks of chunk blocks, in huge pages if that is more than one. Blocks give way in about the order in
// which they came: so the garbage collector has a chunk back when all its blocks have given way; the oldest and the newest
// one are not full. If memory is used again, all who call Find are between Enter and Leave, and keep no block any longer.
func New(layers int, count func(n int) uint64, limit, chunk int, again bool) *Store {
	return &Store{layers: make([]atomic.Pointer[layer], layers), count: count, limit: max(1, limit), chunk: chunk, again: again}
}

// Enter returns the counter that the caller is in until it calls Leave, soon, and without having waited for anything. Goroutines are told
// apart by their stacks.
func (s *Store) Enter() *Reader {
	var here byte
	r := &s.readers[uint64(uintptr(unsafe.Pointer(&here)))>>11*0x9e3779b97f4a7c15>>(64-6)]
	r.count.Add(1)
	return r
}

// Leave ends what Enter began.
func (r *Reader) Leave() { r.count.Add(-1) }

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
	if b := s.reclaim(); b != nil {
		return b
	}
	if len(s.spare) == 0 {
		s.spare = allocate(s.chunk)
	}
	b := &s.spare[0]
	s.spare = s.spare[1:]
	return b
}

// reclaim returns the oldest block that gave way, if all have left who may have found it: each counter has been 0 since then. Who
// came later has not found it. The mutex is held.
func (s *Store) reclaim() *Block {
	if len(s.retired) == 0 {
		return nil
	}
	r := &s.retired[0]
	for left := r.wait; left != 0; left &= left - 1 {
		if i := bits.TrailingZeros64(left); s.readers[i].count.Load() == 0 {
			r.wait &^= 1 << i
		}
	}
	if r.wait != 0 {
		return nil
	}
	b := r.block
	s.retired = slices.Delete(s.retired, 0, 1)
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
	gone := s.layers[old.n].Load().blocks[old.block].Swap(nil)
	if s.again {
		s.retire(gone)
	}
	*old = kept{n, block}
	s.hand = (s.hand + 1) % len(s.kept)
}

// mostRetired bounds the blocks that wait for their readers; one more is left to the garbage collector.
const mostRetired = 16

// retire takes a block that gave way. The mutex is held.
func (s *Store) retire(b *Block) {
	if len(s.retired) < mostRetired {
		s.retired = append(s.retired, retired{b, ^uint64(0)})
	}
}
