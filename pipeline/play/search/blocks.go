package search

import (
	"cmp"
	"context"
	"fmt"

	"grenier/layers/awari"
	"grenier/pipeline/internal/blocks"
)

// Scores are solved layers. *tables.Tables is one.
type Scores interface {
	// Game returns the game that the scores are of.
	Game() awari.Game
	// MaxSeeds returns the number of seeds up to which all layers are solved,
	// -1 if none is.
	MaxSeeds() int
	// Read fills dst with the scores of layer n from a rank on, in colex order. It fails with the error of ctx when that ends.
	Read(ctx context.Context, n int, rank uint64, dst []int8) error
	// ReadOne returns one score of layer n, in less time than a block takes. It fails likewise.
	ReadOne(ctx context.Context, n int, rank uint64) (int8, error)
}

// blockLog is the binary logarithm of the number of scores in a block: the same as in layer
// files, so that no block is decoded for a part of it.
const blockLog = 16

// BlockBytes is the memory of a block, in bytes.
const BlockBytes = blocks.Bytes

// Blocks keeps decoded scores in memory, up to a bound, for any number of engines. A score in
// memory costs no lock.
//
// When all blocks fit, one is decoded for the first score of it that is asked for: it will be used again. Otherwise most are not, so
// the first scores of a block are read one by one.
type Blocks struct {
	scores Scores
	mover  *mover
	solved int
	bytes  int64
	store  *blocks.Store
	// patience is how many times scores of a block are asked for until all of it is decoded.
	patience uint32
}

// FixedBytes returns the bytes of memory that Blocks of scores take besides those that NewBlocks is given.
func FixedBytes(scores Scores) (bytes uint64) {
	s := &Blocks{mover: newMover(scores.Game())}
	for n := range scores.MaxSeeds() + 1 {
		bytes += blocks.PlaceBytes * s.count(n)
	}
	return bytes
}

// A chunk is a part of the bound, and no more than some blocks.
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
	room, chunk, limit := max(1, bytes/BlockBytes), chunkOf(all), all
	if whole := all + chunk; room >= whole {
		room = whole
	} else {
		chunk = chunkOf(room)
		limit, s.patience = room-2*chunk, onePrice
	}
	s.bytes = room * BlockBytes
	s.store = blocks.New(s.solved+1, s.count, int(limit), int(chunk), false)
	return s
}

// Bytes returns the most bytes of memory that scores take: what all of them do, if that is less than NewBlocks was given.
func (s *Blocks) Bytes() int64 { return s.bytes }

// count returns the number of blocks of layer n.
func (s *Blocks) count(n int) uint64 { return (s.mover.size(n) + BlockBytes - 1) / BlockBytes }

// peek returns where the score of a position of layer n is in memory, nil if it is not.
func (s *Blocks) peek(n int, rank uint64) *int8 {
	b := s.store.Find(n, rank>>blockLog)
	if b == nil {
		return nil
	}
	return &b[rank%BlockBytes]
}

// read returns the score of a position of layer n, which was not in memory. It may keep the block.
func (s *Blocks) read(ctx context.Context, n int, rank uint64) (int8, error) {
	if s.store.Asked(n, rank>>blockLog) < s.patience {
		score, err := s.scores.ReadOne(ctx, n, rank)
		return score, cmp.Or(err, check(n, rank, score))
	}
	return s.readBlock(ctx, n, rank)
}

// readBlock is read that keeps the block.
func (s *Blocks) readBlock(ctx context.Context, n int, rank uint64) (int8, error) {
	b := s.store.Room()
	start := rank &^ (BlockBytes - 1)
	err := s.scores.Read(ctx, n, start, b[:min(BlockBytes, s.mover.size(n)-start)])
	score := b[rank%BlockBytes]
	if err = cmp.Or(err, check(n, rank, score)); err != nil {
		s.store.GiveBack(b)
		return 0, err
	}
	s.store.Keep(n, rank>>blockLog, b)
	return score, nil
}

// check refuses a score that no position of layer n has.
func check(n int, rank uint64, score int8) error {
	if int(score) > n || int(score) < -n {
		return fmt.Errorf("rank %d of layer %d has the score %d", rank, n, score)
	}
	return nil
}
