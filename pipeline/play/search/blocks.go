package search

import (
	"cmp"
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
	// ReadOne returns one score of layer n, in less time than a block takes.
	ReadOne(n int, rank uint64) (int8, error)
}

// blockLog is the binary logarithm of the number of scores in a block: the same as in layer
// files, so that no block is decoded for a part of it.
const blockLog = 16

// BlockBytes is the memory of a block, in bytes.
const BlockBytes = 1 << blockLog

// Blocks keeps decoded scores in memory, up to a bound, for any number of engines. A score in
// memory costs no lock. A block that gives way to another one is left to the
// garbage collector, because somebody may still be reading it.
//
// When all blocks fit, one is decoded for the first score of it that is asked for: it will be used again. Otherwise most are not, so
// the first scores of a block are read one by one.
type Blocks struct {
	scores Scores
	mover  *mover
	solved int
	bytes  int64
	layers [awari.MaxSeeds + 1]atomic.Pointer[layer] // by seeds
	// patience is how many times scores of a block are asked for until all of it is decoded.
	patience uint32

	mu     sync.Mutex
	kept   []kept // the oldest at hand once there are limit
	hand   int
	limit  int
	chunk  int      // blocks
	spare  []block  // of the chunk allocated last
	unused []*block // given back
}

type block [BlockBytes]int8

// layer is the blocks of a layer.
type layer struct {
	blocks []atomic.Pointer[block]
	asked  []atomic.Uint32 // how many times scores were asked for since the block was in memory
}

// placeBytes is the memory that each block of the layers takes, whether its scores are in memory or not.
const placeBytes = 8 + 4

// FixedBytes returns the bytes of memory that Blocks of scores take besides those that NewBlocks is given.
func FixedBytes(scores Scores) (bytes uint64) {
	s := &Blocks{mover: newMover(scores.Game())}
	for n := range scores.MaxSeeds() + 1 {
		bytes += placeBytes * s.count(n)
	}
	return bytes
}

// kept names a block in memory.
type kept struct{ n, block int }

// Blocks are allocated by chunks, in huge pages. They give way in about the order in which they came: so the garbage collector
// has a chunk back when its blocks have all given way. A chunk is a part of the bound, and no more than some blocks; the oldest and the
// newest one are not full.
const (
	chunkPart  = 16
	chunkLimit = 256
)

// chunkOf returns how many blocks a chunk has where the given number is kept.
func chunkOf(blocks int64) int64 { return max(1, min(blocks/chunkPart, chunkLimit)) }

// onePrice is how many scores are read one by one in the time that a block takes, and what comes with it.
const onePrice = 4

// NewBlocks returns an empty store for scores of at most the given bytes, one block at least. It takes FixedBytes
// besides.
func NewBlocks(scores Scores, bytes int64) *Blocks {
	s := &Blocks{scores: scores, mover: newMover(scores.Game()), solved: scores.MaxSeeds(), patience: 1}
	all := int64(0)
	for n := range s.solved + 1 {
		all += int64(s.count(n))
	}
	room, chunk := max(1, bytes/BlockBytes), chunkOf(all)
	if whole := all + chunk; room >= whole {
		room, s.limit = whole, int(all)
	} else {
		chunk = chunkOf(room)
		s.limit, s.patience = int(max(1, room-2*chunk)), onePrice
	}
	s.chunk, s.bytes = int(chunk), room*BlockBytes
	return s
}

// Bytes returns the most bytes of memory that scores take: what all of them do, if that is less than NewBlocks was given.
func (s *Blocks) Bytes() int64 { return s.bytes }

// count returns the number of blocks of layer n.
func (s *Blocks) count(n int) uint64 { return (s.mover.size(n) + BlockBytes - 1) / BlockBytes }

// peek returns where the score of a position of layer n is in memory, nil if it is not.
func (s *Blocks) peek(n int, rank uint64) *int8 {
	l := s.layers[n].Load()
	if l == nil {
		return nil
	}
	b := l.blocks[rank>>blockLog].Load()
	if b == nil {
		return nil
	}
	return &b[rank%BlockBytes]
}

// read returns the score of a position of layer n, which was not in memory. It may keep the block.
func (s *Blocks) read(n int, rank uint64) (int8, error) {
	l := s.layer(n)
	if l.asked[rank>>blockLog].Add(1) < s.patience {
		score, err := s.scores.ReadOne(n, rank)
		return score, cmp.Or(err, check(n, rank, score))
	}
	return s.readBlock(l, n, rank)
}

// readBlock is read that keeps the block.
func (s *Blocks) readBlock(l *layer, n int, rank uint64) (int8, error) {
	b := s.room()
	start := rank &^ (BlockBytes - 1)
	err := s.scores.Read(n, start, b[:min(BlockBytes, s.mover.size(n)-start)])
	score := b[rank%BlockBytes]
	if err = cmp.Or(err, check(n, rank, score)); err != nil {
		s.giveBack(b)
		return 0, err
	}
	s.keep(l, n, int(rank>>blockLog), b)
	return score, nil
}

// check refuses a score that no position of layer n has.
func check(n int, rank uint64, score int8) error {
	if int(score) > n || int(score) < -n {
		return fmt.Errorf("rank %d of layer %d has the score %d", rank, n, score)
	}
	return nil
}

// layer returns the blocks of layer n.
func (s *Blocks) layer(n int) *layer {
	if l := s.layers[n].Load(); l != nil {
		return l
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.layers[n].Load()
	if l == nil {
		l = &layer{make([]atomic.Pointer[block], s.count(n)), make([]atomic.Uint32, s.count(n))}
		s.layers[n].Store(l)
	}
	return l
}

// room returns memory for a block.
func (s *Blocks) room() *block {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.unused) - 1; last >= 0 {
		b := s.unused[last]
		s.unused = s.unused[:last]
		return b
	}
	if len(s.spare) == 0 {
		s.spare = allocate[block](s.chunk)
	}
	b := &s.spare[0]
	s.spare = s.spare[1:]
	return b
}

// giveBack takes memory that nobody has seen.
func (s *Blocks) giveBack(b *block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unused = append(s.unused, b)
}

// keep adds a block. The oldest one gives way.
func (s *Blocks) keep(l *layer, n, i int, b *block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !l.blocks[i].CompareAndSwap(nil, b) { // another worker was faster
		s.unused = append(s.unused, b)
		return
	}
	l.asked[i].Store(0)
	if len(s.kept) < s.limit {
		s.kept = append(s.kept, kept{n, i})
		return
	}
	old := &s.kept[s.hand]
	s.layers[old.n].Load().blocks[old.block].Store(nil)
	*old = kept{n, i}
	s.hand = (s.hand + 1) % len(s.kept)
}
