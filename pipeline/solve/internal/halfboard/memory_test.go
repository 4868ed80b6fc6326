package halfboard

import (
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/kernels/window"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/stream"
)

// heapInUse returns the bytes of the Go heap that are in use.
func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemoryIsEnough compares the estimate with what layers take, the patterns
// that an engine keeps included. Small layers and small boards may take some more
// than the estimate besides their scores.
func TestMemoryIsEnough(t *testing.T) {
	for _, c := range []config{
		{seeds: 0, game: awaritest.Game(t, 4, awari.Awari)},
		{seeds: 30, game: awaritest.Game(t, 4, awari.Awari)},
		{seeds: 18, game: awaritest.Game(t, 6, awari.Strict)},
		{seeds: 11, game: awaritest.Game(t, 8, awari.Abapa)},
		{seeds: 8, game: awaritest.Game(t, 12, awari.Awari)},
	} {
		before := heapInUse()
		w := c.begin(t)
		all := w.Stats.Bytes + heapInUse() - before
		runtime.KeepAlive(w)
		estimate := Memory(c.game, c.seeds)
		should.Not(t, uint64(w.memory.Size()) < w.Stats.Bytes || w.Stats.Bytes < Positions(c.game, c.seeds) || w.Stats.Bytes > estimate || c.game.Pits() == awari.MaxPits && all > estimate,
			"%v, %d seeds: %d bytes taken, %d of them for scores, %d estimated", c.game.Name(), c.seeds, all, w.Stats.Bytes, estimate)
	}
}

// TestMemoryGrows: who has enough for a layer has enough for those below.
func TestMemoryGrows(t *testing.T) {
	for pits := awari.MinPits; pits <= awari.MaxPits; pits += 2 {
		game := awaritest.Game(t, pits, awari.Awari)
		for n := range awari.MaxSeeds {
			if Memory(game, n) > Memory(game, n+1) {
				t.Errorf("%d pits: layer %d needs %d bytes, the next one %d", pits, n, Memory(game, n), Memory(game, n+1))
			}
			if Padded(game, n) < Positions(game, n) {
				t.Errorf("%d pits, layer %d: %d scores with padding, of %d", pits, n, Padded(game, n), Positions(game, n))
			}
		}
	}
}

// TestMemoryOfWindowsGrows with the seeds, the workers and the bits, and is what form
// decides by.
func TestMemoryOfWindowsGrows(t *testing.T) {
	for pits := awari.MinPits; pits <= awari.MaxPits; pits += 2 {
		game := awaritest.Game(t, pits, awari.Awari)
		for n := range awari.MaxSeeds + 1 {
			for workers := 1; workers <= 64; workers *= 4 {
				least := Least(game, n, workers)
				if n < awari.MaxSeeds && Least(game, n+1, workers) < least || Least(game, n, 4*workers) < least {
					t.Errorf("%d pits, layer %d, %d workers: %d bytes, the next layer takes %d, more workers %d",
						pits, n, workers, least, Least(game, n+1, workers), Least(game, n, 4*workers))
				}
				if whole := Whole(game, n, workers); whole < least || whole < Memory(game, n) {
					t.Errorf("%d pits, layer %d, %d workers: %d bytes, %d in one piece", pits, n, workers, least, whole)
				}
				for i, codes := range stream.AllCodes[1:] {
					if wider := stream.AllCodes[i]; narrow(game, n, workers, codes) > narrow(game, n, workers, wider) {
						t.Errorf("%d pits, layer %d, %d workers: %d bits take more than %d", pits, n, workers, codes.Bits, wider.Bits)
					}
				}
			}
		}
	}
}

// TestFormFollowsMemory: the widest codes that fit, and none if there is less than the
// least.
func TestFormFollowsMemory(t *testing.T) {
	game := awaritest.Game(t, 12, awari.Awari)
	for _, n := range []int{24, 32, 48} {
		for _, workers := range []int{1, 2, 16} {
			memories := map[uint64]int{Whole(game, n, workers): 8, Least(game, n, workers) - 1: -1, 0: 8}
			for _, codes := range slices.Backward(stream.AllCodes) { // they may need the same: then the widest fits
				memories[narrow(game, n, workers, codes)] = codes.Bits
			}
			for memory, want := range memories {
				o := Options{Workers: workers, Memory: memory}
				codes, err := o.form(game, n)
				got := 8
				switch {
				case err != nil:
					got = -1
				case codes != nil:
					got = codes.Bits
				}
				should.Not(t, got != want || err != nil && !errors.Is(err, ErrMemory),
					"layer %d, %d workers, %d bytes: %d bits, want %d; %v", n, workers, memory, got, want, err)
				should.Not(t, err != nil && !strings.Contains(err.Error(), "layer "+strconv.Itoa(n)), "layer %d: %v", n, err)
			}
			for _, bits := range Widths { // forced
				o := Options{Workers: workers, Memory: 1, Bits: bits}
				if codes, err := o.form(game, n); err != nil || (codes == nil) != (bits == 8) || codes != nil && codes.Bits != bits {
					t.Errorf("layer %d with %d bits: %+v, %v", n, bits, codes, err)
				}
			}
		}
	}
}

// TestTooLittleMemory is refused before anything is read.
func TestTooLittleMemory(t *testing.T) {
	e := must.Get(New(awaritest.Game(t, 12, awari.Awari), Options{Memory: 1 << 20, Work: newDisk().work()}))(t)
	lower := &awaritest.Counting{Lower: &awaritest.Lower{}}
	if l, err := e.Solve(t.Context(), 30, testBelow, lower); !errors.Is(err, ErrMemory) || l != nil || lower.Closed.Load() != 1 {
		t.Errorf("%v, the layers below are closed %d times", err, lower.Closed.Load())
	}
	must.OK(t, e.Close())
}

// TestRoomsFit: what a layer takes besides, and the room for its scores, or for offers and pieces, are together within the memory given,
// from the least on; and all of the memory is used.
func TestRoomsFit(t *testing.T) {
	game := awaritest.Game(t, 12, awari.Awari)
	q := game.Half()
	for _, n := range []int{12, 20, 34, 48} {
		for _, workers := range []int{1, 3, 16} {
			for _, codes := range []*window.Codes{window.Two, window.Six} {
				least := narrow(game, n, workers, codes)
				if o, all := (Options{Memory: 1, Workers: workers}), board.CodesBytes(q, n, codes.Bits); o.roomForScores(q, n, codes.Bits) != all {
					t.Errorf("%d seeds, %d workers: room for %d bytes of scores, which take %d", n, workers, o.roomForScores(q, n, codes.Bits), all)
				}
				for _, limit := range []uint64{least, least + least/3, 2 * least} {
					o := Options{Memory: limit, Workers: workers}
					base := fixed(workers) + tablesBytes(q, n)
					scores := base + streamBytes(q, n, workers) + uint64(o.roomForScores(q, n, codes.Bits))
					captures := base + captureBytes(q, n, workers) + uint64(o.roomForPieces(q, n)+o.roomForOffers(q, n))
					should.Hold(t, scores == limit,
						"%d seeds, %d workers, %d bits: %d bytes with scores, of %d", n, workers, codes.Bits, scores, limit)
					should.Not(t, captures > limit || captures < limit && o.roomForOffers(q, n) < offersBytes(q, n),
						"%d seeds, %d workers, %d bits: %d bytes with offers, of %d", n, workers, codes.Bits, captures, limit)
				}
			}
		}
	}
}
