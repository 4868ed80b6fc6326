package search

import (
	"fmt"
	"sync"
	"sync/atomic"

	"grenier/layers/awari"
)

// Scores are solved layers. *tables.Tables is one.
type Scores interface {
	// Game returns the game that the scores are of.
	Game() awari.Game
	// MaxSeeds returns the number of seeds up to which all layers are solved,
	// -1 if none is.
	MaxSeeds() int
	// Read fills dst with the scores of layer n from a rank on, in colex order.
	Read(n int, rank uint64, dst []int8) error
}

// blockLog is the binary logarithm of the number of scores in a block: that of layer
// files, so that no block is decoded for a part of it.
const blockLog = 16

// BlockBytes is the memory of a block, in bytes.
const BlockBytes = 1 << blockLog

// Blocks keeps decoded scores in memory, up to a bound, for any number of engines. A score in
// memory costs no lock. A block that gives way to another one is left to the
// garbage collector, because somebody may still be reading it.
type Blocks struct {
	scores Scores
	mover  *mover
	solved int
	layers [awari.MaxSeeds + 1]atomic.Pointer[[]atomic.Pointer[block]] // by seeds

	mu    sync.Mutex
	kept  []kept // the oldest at hand once there are limit
	hand  int
	limit int
	chunk int     // blocks
	spare []block // of the chunk allocated last
}

type block [BlockBytes]int8

// kept names a block in memory.
type kept struct{ n, block int }

// Blocks are allocated by chunks, in huge pages. They give way in about the order in which they came: so the garbage collector
// has a chunk back when its blocks have all given way. A chunk is a part of the bound, and no more than some blocks; the oldest and the
// newest one are not full.
const (
	chunkPart  = 16
	chunkLimit = 256
)

// room returns memory for a block.
func (s *Blocks) room() *block {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.spare) == 0 {
		s.spare = allocate[block](s.chunk)
	}
	b := &s.spare[0]
	s.spare = s.spare[1:]
	return b
}

// NewBlocks returns an empty store for at most the given bytes, one block at least.
func NewBlocks(scores Scores, bytes int64) *Blocks {
	all := max(1, int(bytes/BlockBytes))
	chunk := max(1, min(all/chunkPart, chunkLimit))
	return &Blocks{
		scores: scores, mover: newMover(scores.Game()), solved: scores.MaxSeeds(), limit: max(1, all-2*chunk), chunk: chunk,
	}
}

// peek returns where the score of a position of layer n is in memory, nil if it is not.
func (s *Blocks) peek(n int, rank uint64) *int8 {
	layer := s.layers[n].Load()
	if layer == nil {
		return nil
	}
	b := (*layer)[rank>>blockLog].Load()
	if b == nil {
		return nil
	}
	return &b[rank%BlockBytes]
}

// read returns the score of a position of layer n and keeps its block.
func (s *Blocks) read(n int, rank uint64) (int8, error) {
	b := s.room()
	start := rank &^ (BlockBytes - 1)
	count := min(BlockBytes, s.mover.size(n)-start)
	if err := s.scores.Read(n, start, b[:count]); err != nil {
		return 0, err
	}
	score := b[rank%BlockBytes]
	if int(score) > n || int(score) < -n {
		return 0, fmt.Errorf("rank %d of layer %d has the score %d", rank, n, score)
	}
	s.keep(n, int(rank>>blockLog), b)
	return score, nil
}

// keep adds a block. The oldest one gives way.
func (s *Blocks) keep(n, i int, b *block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	layer := s.layers[n].Load()
	if layer == nil {
		layer = new([]atomic.Pointer[block])
		*layer = make([]atomic.Pointer[block], (s.mover.size(n)+BlockBytes-1)/BlockBytes)
		s.layers[n].Store(layer)
	}
	if (*layer)[i].Swap(b) != nil {
		return // another worker was faster
	}
	if len(s.kept) < s.limit {
		s.kept = append(s.kept, kept{n, i})
		return
	}
	old := &s.kept[s.hand]
	(*s.layers[old.n].Load())[old.block].Store(nil)
	*old = kept{n, i}
	s.hand = (s.hand + 1) % len(s.kept)
}
