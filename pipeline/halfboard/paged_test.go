package halfboard

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// page makes the engine of c page, in a budget for items of between what it needs at
// once and everything.
func (c config) page(t *testing.T, rng *rand.Rand) config {
	t.Helper()
	c.options.Work = filepath.Join(t.TempDir(), "work")
	c.options.Memory = 1 // items: see pagedLimit
	pagedLimit = func(least, all int64) int64 { return least + rng.Int64N(all-least+1) }
	t.Cleanup(func() { pagedLimit = nil })
	return c
}

// TestPagedLayersEqualTheOracle solves layers of random games with tiles put away and
// fetched all the time.
func TestPagedLayersEqualTheOracle(t *testing.T) {
	rng := newRand(t)
	for range runs(200) {
		c := randomConfig(t, rng)
		if c.seeds == 0 {
			continue
		}
		c = c.page(t, rng)
		e, err := New(c.game, c.options)
		if err != nil {
			t.Fatal(err)
		}
		c.solveWith(t, e)
	}
}
