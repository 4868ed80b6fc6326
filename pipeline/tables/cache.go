package tables

import (
	"math/bits"
	"sync"

	"grenier/io/layerfile"
)

// maxShards bounds the number of mutexes of a cache.
const maxShards = 64

// key names a block.
type key uint64

// newKey returns the key of a block of a layer.
func newKey(seeds int, block uint64) key { return key(uint64(seeds)<<48 | block) }

// seeds returns the layer.
func (k key) seeds() int { return int(k >> 48) }

// block returns the number of the block in its layer.
func (k key) block() int { return int(k & (1<<48 - 1)) }

// cache keeps decoded blocks, up to a fixed number. Scores are read under the
// mutex of a shard, so the memory of a block that makes room for another can be
// used again at once.
type cache struct {
	shards []shard // a power of two
	shift  uint    // brings the upper bits of a hash down to an index of shards
}

// newCache returns a cache for blocks of the largest size in bytes of memory,
// one at least.
func newCache(bytes int64) *cache {
	blocks := int(max(1, bytes/layerfile.MaxBlockSize))
	log := bits.Len(uint(min(blocks, maxShards))) - 1
	c := &cache{shards: make([]shard, 1<<log), shift: uint(64 - log)}
	for i := range c.shards {
		c.shards[i].limit = blocks >> log
		c.shards[i].index = make(map[key]int)
	}
	return c
}

// shard returns the part of the cache that a block belongs to: the upper bits of
// Knuth's multiplicative hash (TAoCP 6.4).
func (c *cache) shard(k key) *shard {
	return &c.shards[uint64(k)*0x9e3779b97f4a7c15>>c.shift]
}

// shard is a cache of its own. It replaces blocks by the second-chance (CLOCK)
// rule: the hand passes over blocks that were used since it last came by.
type shard struct {
	mu    sync.Mutex
	limit int         // largest number of slots
	index map[key]int // places in slots
	slots []slot
	hand  int
	free  [][]int8 // memory of blocks that were given up
	_     [64]byte // mutexes of two shards do not share a cache line
}

// slot holds a block.
type slot struct {
	key    key
	scores []int8
	used   bool
}

// get returns a score of a block, if the cache has the block.
func (c *cache) get(k key, offset int) (score int8, ok bool) {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	scores := s.find(k)
	if scores == nil {
		return 0, false
	}
	return scores[offset], true
}

// collect answers questions about a block, if the cache has the block.
func (c *cache) collect(k key, asked []question, dst []int8) (ok bool) {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	scores := s.find(k)
	if scores == nil {
		return false
	}
	collect(scores, asked, dst)
	return true
}

// find returns the scores of a block, nil if the shard does not have it. The
// mutex must be held, also while the scores are read.
func (s *shard) find(k key) []int8 {
	i, ok := s.index[k]
	if !ok {
		return nil
	}
	slot := &s.slots[i]
	slot.used = true
	return slot.scores
}

// memory returns memory for a block that is to be put: that of one given up, or nil.
func (c *cache) memory(k key) (scores []int8) {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.free) - 1; last >= 0 {
		scores, s.free = s.free[last], s.free[:last]
	}
	return scores
}

// put adds a block, which belongs to the cache from now on.
func (c *cache) put(k key, scores []int8) {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.index[k]; ok { // another goroutine was faster
		s.free = append(s.free, scores)
		return
	}
	if len(s.slots) < s.limit {
		s.slots = append(s.slots, slot{})
		s.hand = len(s.slots) - 1
	} else {
		s.evict()
	}
	slot := &s.slots[s.hand]
	if slot.scores != nil {
		s.free = append(s.free, slot.scores)
	}
	slot.key, slot.scores, slot.used = k, scores, true
	s.index[k] = s.hand
}

// clear forgets all blocks.
func (c *cache) clear() {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		clear(s.index)
		s.slots, s.hand, s.free = nil, 0, nil
		s.mu.Unlock()
	}
}

// evict moves the hand to the block to be given up and forgets it.
func (s *shard) evict() {
	for {
		s.hand = (s.hand + 1) % len(s.slots)
		slot := &s.slots[s.hand]
		if !slot.used {
			delete(s.index, slot.key)
			return
		}
		slot.used = false
	}
}
