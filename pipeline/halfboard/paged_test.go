package halfboard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/io/vfs"
	"grenier/layers/awari"
)

// openDir opens a directory of its own.
func openDir(t *testing.T) vfs.Dir {
	t.Helper()
	d, err := vfs.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// paged makes layers of c page: between what they need at once and all of them is in
// memory.
func (c config) paged(t *testing.T, rng *rand.Rand) config {
	t.Helper()
	c.options.Work = openDir(t)
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

// tight makes layers of c page with hardly more memory than they need at once.
func (c config) tight(t *testing.T) config {
	t.Helper()
	c.options.Work = openDir(t)
	c.options.Memory = 1
	c.options.limit = func(least, _ int64) int64 { return least }
	return c
}

// tightConfig is a layer of many small tiles, for which workers must wait for room.
func tightConfig(t *testing.T) config {
	t.Helper()
	c := config{game: mustGame(t, 8, awari.Awari), seeds: 13, options: Options{Workers: 6, TileSize: 1}}
	return c.tight(t)
}

// TestPagedLayersAreCancelled ends the context at random moments, also when workers wait
// for room.
func TestPagedLayersAreCancelled(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	rng := newRand(t)
	for run := range runs(40) {
		c := tightConfig(t)
		if run%2 == 0 {
			c = randomConfig(t, rng)
			c.seeds = max(c.seeds, 1)
			c = c.paged(t, rng)
		}
		ctx, cancel := context.WithCancel(t.Context())
		at := 1 + rng.IntN(150)
		x := &cancelling{when: func(all, _ int, _ Stage) bool { return all == at }, cancel: cancel}
		c.options.Progress = x.progress
		lower := &counting{tower: c.lower(t)}
		l, err := c.solvePaged(t, ctx, lower)
		if err != nil && (l != nil || x.at == 0 || !errors.Is(err, context.Canceled)) {
			t.Errorf("%+v, cancelled at report %d: %v, layer %v", c, x.at, err, l)
		}
		err = nil
		if l != nil {
			err = l.Close()
		}
		if err != nil || lower.closed.Load() != 1 {
			t.Errorf("%+v: %v, the layers below are closed %d times", c, err, lower.closed.Load())
		}
		cancel()
	}
}

// solvePaged solves the layer of c and fails if that hangs.
func (c config) solvePaged(t *testing.T, ctx context.Context, lower Lower) (l *Layer, err error) {
	t.Helper()
	e, err := New(c.game, c.options)
	if err != nil {
		t.Fatal(err)
	}
	within(t, fmt.Sprintf("%+v", c), func() { l, err = e.Solve(ctx, c.seeds, lower) })
	return l, err
}

// TestPagedLowerLayersFail: errors of the layers below end the work, also when other
// workers wait for room.
func TestPagedLowerLayersFail(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	rng := newRand(t)
	bad := errors.New("disk on fire")
	for range runs(40) {
		c := tightConfig(t)
		lower := &broken{tower: c.lower(t), read: laterFailure(bad, 1+rng.IntN(3000))}
		l, err := c.solvePaged(t, t.Context(), lower)
		if err == nil {
			err = l.Close()
		} else if errors.Is(err, bad) && l == nil {
			err = nil
		}
		if err != nil || lower.closed.Load() != 1 {
			t.Errorf("%v, the layers below are closed %d times", err, lower.closed.Load())
		}
	}
}

// TestPagedLayersAreReadInAnyOrder reads parts of a layer that is not all in memory.
func TestPagedLayersAreReadInAnyOrder(t *testing.T) {
	rng := newRand(t)
	for range runs(16) {
		c := randomConfig(t, rng)
		c.seeds = max(c.seeds, 1)
		c = c.paged(t, rng)
		l, err := c.solvePaged(t, t.Context(), c.lower(t))
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		want := oracle(t, c.game, c.seeds)[c.seeds]
		var group sync.WaitGroup
		for range 1 + rng.IntN(5) {
			rng := rand.New(rand.NewPCG(rng.Uint64(), 0))
			group.Go(func() {
				for range 30 {
					start := rng.IntN(len(want))
					scores := make([]int8, rng.IntN(min(len(want)-start, 5000)+1))
					err := l.Read(uint64(start), scores)
					if err != nil || !slices.Equal(scores, want[start:start+len(scores)]) {
						t.Errorf("%+v: %d scores from %d on are not those of the oracle; %v", c, len(scores), start, err)
						return
					}
				}
			})
		}
		within(t, "reading a layer", group.Wait)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPagedAndWholeLayers: one engine solves layers that fit and others that do not.
func TestPagedAndWholeLayers(t *testing.T) {
	rng := newRand(t)
	c := config{game: mustGame(t, 8, awari.Awari), options: Options{Workers: 2, TileSize: 64}}.paged(t, rng)
	c.options.Memory = Memory(c.game, 9)
	e, err := New(c.game, c.options)
	if err != nil {
		t.Fatal(err)
	}
	for _, c.seeds = range []int{12, 9, 12, 3, 0, 11, 10, 9} {
		c.solveWith(t, e)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestPagedProgressAddsUp is TestProgressAddsUp for layers that do not fit.
func TestPagedProgressAddsUp(t *testing.T) {
	rng := newRand(t)
	for range runs(40) {
		c := randomConfig(t, rng)
		c.seeds = max(c.seeds, 1)
		c.options.Workers = 1
		var reports []Progress
		c.options.Progress = func(p Progress) { reports = append(reports, p) }
		c = c.paged(t, rng)
		l, err := c.solvePaged(t, t.Context(), c.lower(t))
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		s, ends := l.Stats(), follow(t, c, reports)
		dense, sparse := len(ends[DenseStage]), len(ends[SparseStage])
		changes := ends.changed(DenseStage) + ends.changed(SparseStage)
		if len(ends[CaptureStage]) != 1 || len(ends[FullStage]) != 1 || s.Sweeps+1 != dense+sparse || s.Changes != changes {
			t.Fatalf("%+v: stages end at %+v, statistics %+v", c, ends, s)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// within fails if do takes very long.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: hangs", what)
	}
}
