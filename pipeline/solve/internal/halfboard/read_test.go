package halfboard

import (
	"errors"
	"math"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/kernels/colex"
)

// solve solves the layer of c.
func (c config) solve(t testing.TB) *Layer {
	t.Helper()
	c.options.often = true
	e := must.Get(New(c.game, c.options))(t)
	l := must.Get(e.Solve(t.Context(), c.seeds, testBelow, c.lower(t)))(t)
	t.Cleanup(func() { must.OK(t, l.Close()) })
	return l
}

// TestLongReadAnyPart reads parts of layers from several goroutines.
func TestLongReadAnyPart(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(40) {
		c := randomConfig(t, rng)
		l, want := c.solve(t), awaritest.Oracle(t, c.game, c.seeds)[c.seeds]
		if l.Seeds() != c.seeds || l.Positions() != uint64(len(want)) {
			t.Fatalf("%+v: layer %d with %d positions, want %d", c, l.Seeds(), l.Positions(), len(want))
		}
		var group errgroup.Group
		for range 100 {
			start := rng.IntN(len(want))
			length := rng.IntN(len(want) - start + 1)
			if rng.IntN(2) == 0 {
				length = min(length, rng.IntN(20))
			}
			group.Go(func() error {
				got := slices.Repeat([]int8{99}, length+1)
				if err := l.Read(uint64(start), got[:length]); err != nil {
					return err
				}
				if !slices.Equal(got[:length], want[start:][:length]) || got[length] != 99 {
					t.Errorf("%+v: %d scores from %d on differ", c, length, start)
				}
				return nil
			})
		}
		must.OK(t, group.Wait())
	}
}

func TestReadOutOfRange(t *testing.T) {
	l := config{game: awaritest.Game(t, 6, 0), seeds: 4}.solve(t)
	size := l.Positions()
	for _, c := range []struct {
		start  uint64
		length int
		err    error
	}{
		{size - 1, 1, nil}, {size - 1, 2, colex.ErrRange}, {size, 1, colex.ErrRange}, {0, int(size) + 1, colex.ErrRange},
		{math.MaxUint64, 1, colex.ErrRange}, {math.MaxUint64, 2, colex.ErrRange}, {math.MaxUint64 - 5, 10, colex.ErrRange},
		{size, 0, nil},
	} {
		err := l.Read(c.start, make([]int8, c.length))
		should.Hold(t, errors.Is(err, c.err), "%d scores from %d on: %v, want %v", c.length, c.start, err, c.err)
	}
}
