package halfboard

import (
	"errors"
	"runtime"
	"testing"

	"grenier/kernels/cpu"
	"grenier/layers/awari"
)

func TestOptionsThatMakeNoSense(t *testing.T) {
	game := mustGame(t, 6, awari.Awari)
	for _, o := range []Options{{Workers: -1}, {SlabSize: -1}} {
		if e, err := New(game, o); !errors.Is(err, ErrOptions) || e != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	e, err := New(game, Options{Family: cpu.Best()})
	if err != nil || e.options.Workers != 1 || e.options.SlabSize != slabSize {
		t.Errorf("the defaults are %+v, %v", e.options, err)
	}
	for _, n := range []int{-1, awari.MaxSeeds + 1} {
		if l, err := e.Solve(t.Context(), n, &tower{}); !errors.Is(err, awari.ErrSeeds) || l != nil {
			t.Errorf("layer %d: %v", n, err)
		}
	}
}

// heap returns the bytes of the Go heap that are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemoryIsEnough compares the estimate with what layers take, the patterns
// that an engine keeps included.
func TestMemoryIsEnough(t *testing.T) {
	for _, c := range []config{
		{seeds: 0, game: mustGame(t, 4, awari.Awari)},
		{seeds: 30, game: mustGame(t, 4, awari.Awari)},
		{seeds: 18, game: mustGame(t, 6, awari.Strict)},
		{seeds: 11, game: mustGame(t, 8, awari.Awari)},
		{seeds: 8, game: mustGame(t, 12, awari.Awari)},
	} {
		lower := c.lower(t)
		before := heap()
		e, err := New(c.game, Options{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		l, err := e.Solve(t.Context(), c.seeds, lower)
		if err != nil {
			t.Fatal(err)
		}
		taken := l.Stats().Bytes + heap() - before
		runtime.KeepAlive(e)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if estimate := Memory(c.game, c.seeds); taken > estimate || l.Stats().Bytes < l.Positions() {
			t.Errorf("%v, %d seeds: %d bytes taken, %d of them for scores, %d estimated",
				c.game.Name(), c.seeds, taken, l.Stats().Bytes, estimate)
		}
	}
}

// TestMemoryCoversTheLayout adds up what the scores and offers of a layer take
// that is large enough for the estimate to have little to spare.
func TestMemoryCoversTheLayout(t *testing.T) {
	c := config{game: mustGame(t, 8, awari.Awari), seeds: 32}
	w := c.begin(t)
	bytes := 0
	for _, x := range w.order {
		all := (x.rows[openRows] + x.rows[fullRows]) * x.cols
		bytes += sizeClass(x.rows[openRows]*x.cols) + x.rows[fullRows]*x.cols + all
	}
	estimate := Memory(c.game, c.seeds) - 4*chunkBytes
	if uint64(bytes) > estimate || estimate > uint64(bytes)*3/2 {
		t.Errorf("scores and offers take %d bytes, %d estimated", bytes, estimate)
	}
}

func TestPositionsAreCounted(t *testing.T) {
	for n, want := range map[int]uint64{0: 1, 1: 12, 3: 364, 48: 279871768995} {
		if got := Positions(mustGame(t, 12, awari.Awari), n); got != want {
			t.Errorf("%d seeds: %d positions, want %d", n, got, want)
		}
	}
}
