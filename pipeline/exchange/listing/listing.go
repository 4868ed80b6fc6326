// Package listing lists the boards of a layer, with their ranks but without scores: all of
// them in the order of their ranks, or some at random.
package listing

import (
	"context"
	"fmt"

	"grenier/kernels/boards"
	"grenier/kernels/fault"
	"grenier/pipeline/internal/chance"
)

// ErrCount reports a sample of more boards than there are.
var ErrCount = fault.New(fault.Usage, "too many boards")

// Block receives some boards, one behind the other with a byte a pit, and their ranks. Both
// are valid during the call only.
type Block func(ranks []uint64, boards []uint8) error

// blockSize is the number of boards of a block.
const blockSize = 1024

// Lister lists the boards of a layer.
type Lister struct {
	layer  *boards.Layer
	ranks  [blockSize]uint64
	boards []uint8
}

// New returns the lister of the boards with pits pits, 1 to 16, and seeds seeds. Pits and
// seeds together are 64 at most. It fails with the errors of package colex.
func New(pits, seeds int) (*Lister, error) {
	layer, err := boards.New(pits, seeds)
	if err != nil {
		return nil, err
	}
	return &Lister{layer: layer, boards: make([]uint8, blockSize*pits)}, nil
}

// All lists all boards in the order of their ranks. It fails with the error of ctx or of
// block.
func (l *Lister) All(ctx context.Context, block Block) error {
	next := l.layer.First()
	return l.blocks(ctx, l.layer.Size(), block, func(from uint64, ranks []uint64, boards []uint8) error {
		for i := range ranks {
			ranks[i] = from + uint64(i)
		}
		next = l.layer.Iterate(boards, next)
		return nil
	})
}

// Sample lists count boards, none twice, that look random and depend on seed only; more
// boards begin with those that fewer are. It fails with ErrCount, or with the error of ctx or of
// block.
func (l *Lister) Sample(ctx context.Context, count, seed uint64, block Block) error {
	size := l.layer.Size()
	if count > size {
		return fmt.Errorf("%w: %d of %d", ErrCount, count, size)
	}
	order := chance.NewPermutation(size, seed)
	return l.blocks(ctx, count, block, func(from uint64, ranks []uint64, boards []uint8) error {
		for i := range ranks {
			ranks[i] = order.At(from + uint64(i))
		}
		return l.layer.Unrank(boards, ranks)
	})
}

// blocks has count boards filled in and handed on, a block at a time.
func (l *Lister) blocks(ctx context.Context, count uint64, block Block, fill func(from uint64, ranks []uint64, boards []uint8) error) error {
	pits := len(l.boards) / blockSize
	for from := uint64(0); from < count; from += blockSize {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := int(min(blockSize, count-from))
		ranks, boards := l.ranks[:n], l.boards[:n*pits]
		if err := fill(from, ranks, boards); err != nil {
			return err
		}
		if err := block(ranks, boards); err != nil {
			return err
		}
	}
	return nil
}
