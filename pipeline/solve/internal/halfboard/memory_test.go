package halfboard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/kernels/cpu"
	"grenier/kernels/window"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/stream"
)

// TestMemoryIsEnough compares the estimate with what layers take, the patterns that an engine keeps included. Small layers and small boards
// may take some more than the estimate besides their scores.
func TestMemoryIsEnough(t *testing.T) {
	for _, c := range []config{
		{seeds: 0, game: awaritest.Game(t, 4, awari.Awari)},
		{seeds: 30, game: awaritest.Game(t, 4, awari.Awari)},
		{seeds: 18, game: awaritest.Game(t, 6, awari.Strict)},
		{seeds: 11, game: awaritest.Game(t, 8, awari.Abapa)},
		{seeds: 8, game: awaritest.Game(t, 12, awari.Awari)},
	} {
		before := awaritest.HeapInUse()
		w := c.begin(t)
		all := w.Stats.Bytes + uint64(awaritest.HeapInUse()-before)
		runtime.KeepAlive(w)
		estimate := Memory(c.game, c.seeds)
		should.Not(t, uint64(w.memory.Size()) < w.Stats.Bytes || w.Stats.Bytes < Positions(c.game, c.seeds) || w.Stats.Bytes > estimate || c.game.Pits() == awari.MaxPits && all > estimate,
			"%v, %d seeds: %d bytes taken, %d of them for scores, %d estimated", c.game.Name(), c.seeds, all, w.Stats.Bytes, estimate)
	}
}

// TestMemoryGrows with the seeds, and that of windows with the workers and the bits too, and is what form decides by.
func TestMemoryGrows(t *testing.T) {
	for pits := awari.MinPits; pits <= awari.MaxPits; pits += 2 {
		game := awaritest.Game(t, pits, awari.Awari)
		for n := range awari.MaxSeeds + 1 {
			this, above := Memory(game, n), Memory(game, min(n+1, awari.MaxSeeds))
			should.Not(t, this > above, "%d pits: layer %d needs %d bytes, the next one %d", pits, n, this, above)
			padded, positions := Padded(game, n), Positions(game, n)
			should.Not(t, padded < positions, "%d pits, layer %d: %d scores with padding, of %d", pits, n, padded, positions)
			for workers := 1; workers <= 64; workers *= 4 {
				least, next, more := Least(game, n, workers), Least(game, min(n+1, awari.MaxSeeds), workers), Least(game, n, 4*workers)
				should.Not(t, next < least || more < least, "%d pits, layer %d, %d workers: %d bytes, the next layer takes %d, more workers %d",
					pits, n, workers, least, next, more)
				whole := Whole(game, n, workers)
				should.Not(t, whole < least || whole < Memory(game, n),
					"%d pits, layer %d, %d workers: %d bytes, %d in one piece", pits, n, workers, least, whole)
				for i, codes := range stream.AllCodes[1:] {
					wider := stream.AllCodes[i]
					should.Not(t, narrow(game, n, workers, codes) > narrow(game, n, workers, wider),
						"%d pits, layer %d, %d workers: %d bits take more than %d", pits, n, workers, codes.Bits, wider.Bits)
				}
			}
		}
	}
}

// TestFormFollowsMemory: the widest codes that fit, and none if there is less than the least.
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
				codes, err := o.form(game, n)
				should.Not(t, err != nil || (codes == nil) != (bits == 8) || codes != nil && codes.Bits != bits,
					"layer %d with %d bits: %+v, %v", n, bits, codes, err)
			}
		}
	}
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
				should.Equal(t, (&Options{Memory: 1, Workers: workers}).roomForScores(q, n, codes.Bits), board.CodesBytes(q, n, codes.Bits),
					"%d seeds, %d workers: room for scores", n, workers)
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

// TestAmounts: full rows are the positions with a seed in each pit of the opponent; one pass reads the layers below once; without a bound a
// layer needs no second one; and there is room for a number and a mark of each worker for each half, and for no more pieces than there are.
func TestAmounts(t *testing.T) {
	const n, workers = 9, 16
	full := 0
	for a := range n + 1 {
		for b := range n - a + 1 {
			full += max(0, n-a-b-1) // the first of the other two pits has 1 seed, or more
		}
	}
	should.Equal(t, Full(awaritest.Game(t, 4, awari.Awari), n), uint64(full), "full rows")
	game := awaritest.Game(t, 12, awari.Awari)
	should.Equal(t, LowerRead(game, n, 1), 1, "layers below, in one pass")
	form := must.Get(FormFor(game, 20, 0, 1, window.Four.Bits))(t)
	should.Hold(t, form.Bits == 4 && form.Passes == 1, "without a bound: %+v", form)
	const halves = 25827165 // 54 choose 6
	should.Hold(t, captureBytes(6, awari.MaxSeeds, workers) > halves*(4+workers), "48 seeds: no room for halves")
	should.Hold(t, lowerBytes(6, awari.MaxSeeds)-lowerBytes(1, awari.MaxSeeds) > 5<<20-2, "48 seeds: no room for a sample")
	should.Equal(t, (&Options{Workers: workers}).roomForPieces(6, 3), 3*board.PieceLength, "three layers below")
}

// listed returns a layer whose moves are listed, without memory.
func listed(t *testing.T, game awari.Game, n int) *engine {
	t.Helper()
	e := must.Get(New(game, Options{}))(t)
	w := e.layOut(must.Get(board.NewGeometry(game.Half(), n))(t), testBelow, 2)
	must.OK(t, w.listMoves(t.Context()))
	return w
}

// TestCancelledMoves: a layer whose moves are not all listed is not prepared.
func TestCancelledMoves(t *testing.T) {
	e := must.Get(New(awaritest.Game(t, 4, awari.Awari), Options{}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	should.Be(t, e.layOut(must.Get(board.NewGeometry(2, 9))(t), testBelow, 2).prepare(ctx), context.Canceled)
}

// TestPasses: captures take the predicted rounds, apart from what panels leave over.
func TestPasses(t *testing.T) {
	const n, q = 15, 6
	game := awaritest.Game(t, 2*q, awari.Awari)
	w := listed(t, game, n)
	least := int(leastOffers(q, n))
	one := narrow(game, n, 1, stream.AllCodes[len(stream.AllCodes)-1])
	for memory, many := one, 0; ; memory += one / 32 {
		o := Options{Memory: memory, Workers: 1}
		room, rounds := o.roomForOffers(q, n), 0
		r := board.NewRound(w.Grid.Layer, w.from.game, 1, true, nil, make([]int8, room))
		for panels := w.Grid.PanelsInOrder(); len(panels) > 0; rounds++ {
			panels = panels[r.Fit(panels):]
		}
		got := o.passes(q, n)
		most := (offersBytes(q, n) + room - least) / max(1, room-least+1)
		should.Not(t, got > rounds || room > least && rounds > most,
			"%d bytes, %d for offers: %d rounds, want %d to %d", memory, room, rounds, got, most)
		if many = max(many, got); got == 1 {
			should.Hold(t, many >= 3 && rounds == 1, "at most %d rounds, in the end %d", many, rounds)
			break
		}
	}
}

// unread gives no scores, and notes how many were asked for, and the pieces that were announced since.
type unread struct {
	scores    atomic.Uint64
	mu        sync.Mutex
	announced map[[2]uint64]bool // by layer and number
	unasked   []string           // read, and not announced
}

func (u *unread) Ahead(n int, start uint64, length int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for at := start; at < start+uint64(length); at += board.PieceLength {
		u.announced[[2]uint64{uint64(n), at / board.PieceLength}] = true
	}
}

func (u *unread) Read(n int, start uint64, dst []int8) error {
	u.scores.Add(uint64(len(dst)))
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.announced[[2]uint64{uint64(n), start / board.PieceLength}] {
		u.unasked = append(u.unasked, fmt.Sprintf("layer %d from rank %d", n, start))
	}
	return nil
}

func (u *unread) Close() error { return nil }

// TestLongLowerRead: passes read the layers below about as often as predicted, not all of them each time. They announce
// all that they read, and not much more.
func TestLongLowerRead(t *testing.T) {
	n, q := tries.More(15, 21), 6
	game := awaritest.Game(t, 2*q, awari.Awari)
	w := listed(t, game, n)
	lower := uint64(0)
	for k := max(0, n-3*q); k <= n-2; k++ {
		lower += Positions(game, k)
	}
	for part := 1; part <= 9; part += tries.More(8, 4) {
		u := &unread{announced: map[[2]uint64]bool{}}
		r := board.NewRound(w.Grid.Layer, w.from.game, 1, true, board.NewPieces(w.Grid.Layer, u, make([]int8, pieceBytes(q, 1))), make([]int8, (offersBytes(q, n)+int(leastOffers(q, n)))/part))
		passes, announced := 0, 0
		for panels := w.Grid.PanelsInOrder(); len(panels) > 0; passes++ {
			fit := r.Fit(panels)
			must.OK(t, r.Run(t.Context(), panels[:fit], func(float64) {}))
			panels = panels[fit:]
			must.Not(t, len(u.unasked) > 0, "%d passes: read without warning: %s", passes, u.unasked)
			announced += len(u.announced)
			clear(u.announced)
		}
		got, want := float64(u.scores.Load())/float64(lower), lowerRead(q, n, passes)
		should.Hold(t, (got > want*0.85 && got < want*1.15),
			"%d passes: the layers below are read %.3f times, want about %.3f", passes, got, want)
		read := int(u.scores.Load() / board.PieceLength)
		should.Not(t, announced > 2*read+passes*3*q, "%d passes: announced %d pieces, and read %d", passes, announced, read)
		t.Logf("%d passes: %.3f times, %.3f predicted", passes, got, want)
	}
}

// windowsOf returns the most windows of the layer of n seeds: as many if none is thin, since it has scores of n.
func windowsOf(n int, codes *window.Codes) int { return max(1, stream.WindowsFrom(0, n, codes)) }

// TestLongWindowsArePredicted: a layer takes as many windows as its width needs, or fewer if some are
// thin: then from the second one on if memory is for all.
func TestLongWindowsArePredicted(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(40) {
		c := randomConfig(t, rng)
		codes := stream.AllCodes[rng.IntN(len(stream.AllCodes))]
		c.options.Bits, c.options.Work = codes.Bits, newDisk().work()
		got, most := c.solve(t).Stats().Windows, windowsOf(c.seeds, codes)
		should.Not(t, got < 1 || got > most, "%+v: %d windows, want at most %d", c, got, most)
		c.options.thin, c.options.Work = true, newDisk().work()
		want := min(1+stream.WindowsFrom(codes.Values, c.seeds, window.Eight), windowsOf(c.seeds, codes))
		got = c.solve(t).Stats().Windows
		should.Hold(t, got == want, "%+v: %d windows, want %d", c, got, want)
	}
}

// TestThinIsChosen: where a thin window fits and saves many others, the engine takes one, and not where it does not fit.
func TestThinIsChosen(t *testing.T) {
	const seeds = 10
	game := must.Get(awari.New(8, awari.Awari))(t)
	for _, family := range cpu.Available() {
		for memory, most := range map[uint64]int{1 << 30: windowsOf(seeds, window.Two) - 1, Least(game, seeds, 2): windowsOf(seeds, window.Two)} {
			c := config{game, seeds, Options{Workers: 2, Family: family, Bits: 2, Memory: memory, Work: newDisk().work()}}
			s, codes := c.solve(t).Stats(), board.CodesBytes(game.Half(), seeds, c.options.Bits)
			should.Not(t, s.Windows > most || s.Bytes > uint64(codes) != (memory == 1<<30),
				"%v, %d bytes: %+v, want at most %d windows; codes take %d bytes", family, memory, s, most, codes)
		}
	}
}

// TestLongThinBytes: plans count the blocks and lines of thin windows as engines do, which take as many scores as fit, and not one more.
func TestLongThinBytes(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(40) {
		c := randomConfig(t, rng)
		c.options.Bits, c.options.Family, c.options.Work = stream.AllCodes[rng.IntN(len(stream.AllCodes))].Bits, cpu.Generic, newDisk().work()
		if rng.IntN(5) > 0 {
			c.options.Memory = Least(c.game, c.seeds, c.options.Workers) + rng.Uint64N(1<<20)
		}
		e := must.Get(New(c.game, c.options))(t)
		w := must.Get(e.begin(c.seeds, testBelow))(t)
		blocks, share := w.windows.ThinBlocks(), rng.Float64()
		got, want := ThinBytes(c.game, c.seeds, share), blocks.Most(int(math.Ceil(share*float64(blocks.Lines*board.Side))))
		must.Hold(t, got == want, "%+v: %d bytes for a share of %v, want %d", c, got, share, want)
		room := RoomForScores(c.game, c.seeds, c.options.Bits, c.options.Memory, c.options.Workers) - blocks.Most(0)
		w.windows.Codes = window.Eight // worth it
		for searched, want := range map[int]bool{room: true, room + 1: false} {
			got := w.windows.ThinFits(blocks.Most(searched), 1)
			must.Not(t, got != want && room >= 0, "%+v: %d scores fit: %v, want %v", c, searched, got, want)
		}
		must.OK(t, e.Close())
	}
}
