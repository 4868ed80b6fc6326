package halfboard

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"grenier/layers/awari"
)

// paged makes layers of c page: between what they need at once and all of them is in
// memory.
func (c config) paged(t *testing.T, rng *rand.Rand) config {
	t.Helper()
	c.options.Work = filepath.Join(t.TempDir(), "work")
	c.options.Memory = 1
	c.options.limit = func(least, all int64) int64 { return least + rng.Int64N(max(all-least, 0)+1) }
	return c
}

// TestPagedLayersEqualTheOracle solves layers of random games while tiles are put away
// and fetched.
func TestPagedLayersEqualTheOracle(t *testing.T) {
	rng := newRand(t)
	for range runs(200) {
		c := randomConfig(t, rng)
		c.seeds = max(c.seeds, 1)
		c = c.paged(t, rng)
		e, err := New(c.game, c.options)
		if err != nil {
			t.Fatal(err)
		}
		c.solveWith(t, e)
	}
}

// TestTooLittleMemoryForTiles: what even the smallest tiles need at once must fit.
func TestTooLittleMemoryForTiles(t *testing.T) {
	rng := newRand(t)
	c := config{game: mustGame(t, 6, awari.Awari), seeds: 10}.paged(t, rng)
	c.options.limit = func(least, _ int64) int64 { return least / 2 }
	e, err := New(c.game, c.options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Solve(t.Context(), c.seeds, c.lower(t)); !errors.Is(err, ErrMemory) {
		t.Errorf("%v, want %v", err, ErrMemory)
	}
}
