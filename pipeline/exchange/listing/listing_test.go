package listing_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/kernels/colex"
	"grenier/pipeline/exchange/listing"
)

// TestAll lists some thousand boards: all of them, each with its rank.
func TestAll(t *testing.T) {
	ranking := must.Get(colex.New(6, 10))(t)
	next := uint64(0)
	must.OK(t, must.Get(listing.New(6, 10))(t).All(t.Context(), func(ranks []uint64, boards []uint8) error {
		for i, rank := range ranks {
			got := ranking.Rank(boards[i*6:][:6])
			must.Hold(t, got == next && rank == next, "board %v, rank %d said, is %d, want %d", boards[i*6:][:6], rank, got, next)
			next++
		}
		return nil
	}))
	should.Equal(t, next, ranking.Size(10), "boards")
}

// TestSample takes samples of all sizes around a block: no board comes twice, and more boards begin with those that fewer are.
func TestSample(t *testing.T) {
	const pits, seeds = 6, 10
	ranking := must.Get(colex.New(pits, seeds))(t)
	var before []uint64
	for _, count := range []uint64{0, 1, 1023, 1024, 1025, 3003} {
		var all []uint64
		err := must.Get(listing.New(pits, seeds))(t).Sample(t.Context(), count, 7, func(ranks []uint64, boards []uint8) error {
			for i, rank := range ranks {
				got := ranking.Rank(boards[i*pits:][:pits])
				must.Hold(t, got == rank, "board %v has rank %d, %d said", boards[i*pits:][:pits], got, rank)
			}
			all = append(all, ranks...)
			return nil
		})
		must.Hold(t, err == nil && uint64(len(all)) == count && slices.Equal(all[:len(before)], before),
			"%d boards of %d, %v", len(all), count, err)
		before = all
	}
	slices.Sort(before)
	should.Hold(t, len(slices.Compact(before)) == int(ranking.Size(seeds)), "a board came twice")
	should.Be(t, must.Get(listing.New(pits, seeds))(t).Sample(t.Context(), 3004, 7, nil), listing.ErrCount, "3004 of 3003 boards")
}

func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	blocks := 0
	err := must.Get(listing.New(12, 12))(t).All(ctx, func([]uint64, []uint8) error {
		blocks++
		cancel()
		return nil
	})
	should.Hold(t, errors.Is(err, context.Canceled) && blocks == 1, "%d blocks, %v, want 1 and context.Canceled", blocks, err)
	broken := errors.New("disk full")
	should.Be(t, must.Get(listing.New(12, 12))(t).All(t.Context(), func([]uint64, []uint8) error { return broken }), broken)
	should.Be(t, must.Err(listing.New(16, 64)), colex.ErrOverflow, "16 pits, 64 seeds")
}
