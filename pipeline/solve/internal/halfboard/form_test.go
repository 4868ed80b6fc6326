package halfboard

import (
	"errors"
	"math"
	"math/bits"
	"sync/atomic"
	"testing"

	"grenier/kernels/cpu"
	"grenier/kernels/window"
	"grenier/layers/awari"
)

// TestPasses: captures take the predicted rounds, apart from what panels leave over.
func TestPasses(t *testing.T) {
	game, err := awari.New(12, awari.Awari)
	if err != nil {
		t.Fatal(err)
	}
	const n, q = 15, 6
	e, err := New(game, Options{})
	if err != nil {
		t.Fatal(err)
	}
	geo, err := newGeometry(q, n)
	if err != nil {
		t.Fatal(err)
	}
	w, err := e.layOut(t.Context(), geo, testBelow, 2)
	if err != nil {
		t.Fatal(err)
	}
	least := int(leastOffers(q, n))
	one := narrowest(game, n)
	for memory, many := one, 0; ; memory += one / 32 {
		o := Options{Memory: memory, Workers: 1}
		room, rounds := o.roomForOffers(q, n), 0
		r := newRound(w.grid.layer, w.game, 1, true, nil, make([]int8, room))
		for panels := w.grid.panelsInOrder(); len(panels) > 0; rounds++ {
			panels = panels[r.fit(panels):]
		}
		got := o.passes(q, n)
		most := (offersBytes(q, n) + room - least) / max(1, room-least+1)
		if got > rounds || room > least && rounds > most {
			t.Errorf("%d bytes, %d for offers: %d rounds, want %d to %d", memory, room, rounds, got, most)
		}
		if many = max(many, got); got == 1 {
			if many < 3 || rounds != 1 {
				t.Errorf("at most %d rounds, in the end %d", many, rounds)
			}
			break
		}
	}
}

// unread gives no scores, and notes how many were asked for.
type unread struct{ scores atomic.Uint64 }

func (u *unread) Read(_ int, _ uint64, dst []int8) error {
	u.scores.Add(uint64(len(dst)))
	return nil
}

func (u *unread) Close() error { return nil }

// TestLongLowerRead: passes read the layers below about as often as predicted, not all of them each time.
func TestLongLowerRead(t *testing.T) {
	n, q := 15, 6
	if long() {
		n = 21
	}
	game := mustGame(t, 2*q, awari.Awari)
	e, err := New(game, Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := e.layOut(t.Context(), mustGeometry(t, q, n), testBelow, 2)
	if err != nil {
		t.Fatal(err)
	}
	lower := uint64(0)
	for k := max(0, n-3*q); k <= n-2; k++ {
		lower += Positions(game, k)
	}
	for part := 1; part <= 9; part += 4 {
		u := &unread{}
		r := newRound(w.grid.layer, w.game, 1, true, newPieces(w.grid.layer, u, make([]int8, pieceBytes(q, 1))), make([]int8, (offersBytes(q, n)+int(leastOffers(q, n)))/part))
		passes := 0
		for panels := w.grid.panelsInOrder(); len(panels) > 0; passes++ {
			fit := r.fit(panels)
			if err := r.run(t.Context(), panels[:fit], func(float64) {}); err != nil {
				t.Fatal(err)
			}
			panels = panels[fit:]
		}
		got, want := float64(u.scores.Load())/float64(lower), lowerRead(q, n, passes)
		if !(got > want*0.85 && got < want*1.15) {
			t.Errorf("%d passes: the layers below are read %.3f times, want about %.3f", passes, got, want)
		}
		t.Logf("%d passes: %.3f times, %.3f predicted", passes, got, want)
	}
}

// narrowest returns the least memory for the layer of n seeds in windows.
func narrowest(game awari.Game, n int) uint64 { return narrow(game, n, 1, widths[len(widths)-1]) }

// windowsOf returns the most windows of the layer of n seeds: as many if none is thin, since it has
// scores of n.
func windowsOf(n int, codes *window.Codes) int { return max(1, windowsFrom(0, n, codes)) }

// TestLongWindowsArePredicted: a layer takes as many windows as its width needs, or fewer if some are
// thin: then from the second one on if memory is for all.
func TestLongWindowsArePredicted(t *testing.T) {
	rng := newRand(t)
	for range runs(40) {
		c := randomConfig(t, rng)
		codes := widths[rng.IntN(len(widths))]
		c.options.Bits, c.options.Work = codes.Bits, newDisk().work()
		if got, most := c.solve(t).Stats().Windows, windowsOf(c.seeds, codes); got < 1 || got > most {
			t.Errorf("%+v: %d windows, want at most %d", c, got, most)
		}
		c.options.thin, c.options.Work = true, newDisk().work()
		want := min(1+windowsFrom(codes.Values, c.seeds, window.Eight), windowsOf(c.seeds, codes))
		if got := c.solve(t).Stats().Windows; got != want {
			t.Errorf("%+v: %d windows, want %d", c, got, want)
		}
	}
}

// TestLongThinBytes: plans count the blocks and lines of thin windows as engines do, which take as many
// scores as fit, and not one more.
func TestLongThinBytes(t *testing.T) {
	rng := newRand(t)
	for range runs(40) {
		c := randomConfig(t, rng)
		c.options.Bits, c.options.Family, c.options.Work = widths[rng.IntN(len(widths))].Bits, cpu.Generic, newDisk().work()
		if rng.IntN(2) == 0 {
			c.options.Memory = Least(c.game, c.seeds, c.options.Workers) + rng.Uint64N(1<<20)
		}
		e, err := New(c.game, c.options)
		if err != nil {
			t.Fatal(err)
		}
		w, err := e.begin(t.Context(), c.seeds, testBelow)
		if err != nil {
			t.Fatal(err)
		}
		blocks, share := w.windows.thinBlocks(), rng.Float64()
		if got, want := ThinBytes(c.game, c.seeds, share), blocks.most(int(math.Ceil(share*float64(blocks.lines*side)))); got != want {
			t.Fatalf("%+v: %d bytes for a share of %v, want %d", c, got, share, want)
		}
		room := RoomForScores(c.game, c.seeds, c.options.Bits, c.options.Memory, c.options.Workers) - blocks.most(0)
		w.windows.codes = window.Eight // worth it
		for searched, want := range map[int]bool{room: true, room + 1: false} {
			if got := w.windows.thinFits(blocks.most(searched), 1); got != want && room >= 0 {
				t.Fatalf("%+v: %d scores fit: %v, want %v", c, searched, got, want)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLongMasksDoNotOverlapBlocks lays thin blocks out over their own masks, in as little memory as the
// bound says, and refuses more scores than fit.
func TestLongMasksDoNotOverlapBlocks(t *testing.T) {
	rng := newRand(t)
	for range runs(40) {
		c := randomConfig(t, rng)
		c.options.Bits, c.options.Work = 2, newDisk().work()
		e, err := New(c.game, c.options)
		if err != nil {
			t.Fatal(err)
		}
		w, err := e.begin(t.Context(), c.seeds, testBelow)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]uint64, w.windows.thinBlocks().lines)
		searched, share := 0, rng.Float64()
		for i := range want {
			if rng.Float64() < share {
				want[i] = rng.Uint64()
			}
			searched += bits.OnesCount64(want[i])
		}
		layOut := func(size int) error {
			blocks := w.windows.thinBlocks()
			if w.windows.memory, err = newRegion((size + 7) / 8 * 8); err != nil {
				t.Fatal(err)
			}
			w.windows.scores = w.windows.memory.rest
			masks := asWords(w.windows.scores[len(w.windows.scores)-8*blocks.lines:])
			copy(masks, want)
			return w.windows.layThin(&blocks, masks)
		}
		blocks := w.windows.thinBlocks()
		if err := layOut(max(blocks.most(searched), blocks.tables+8*blocks.lines)); err != nil {
			t.Fatalf("%+v, %d scores: %v", c, searched, err)
		}
		line := 0
		w.eachBlock(func(m *matrix, panel, chunk int) {
			b := window.Thin(m.lines(panel, chunk))
			for i := range b.Lines() {
				if b.Mask(i) != want[line] {
					t.Fatalf("%+v: line %d has mask %x, want %x", c, line, b.Mask(i), want[line])
				}
				line++
			}
		})
		if line != len(want) {
			t.Fatalf("%+v: %d lines, want %d", c, line, len(want))
		}
		if err := w.windows.memory.close(); err != nil {
			t.Fatal(err)
		}
		if less := blocks.most(0) - blocks.blocks*14 - window.SlackThin + searched - 8; searched > 8 && less > blocks.tables+8*blocks.lines {
			if err := layOut(less); !errors.Is(err, errThin) {
				t.Fatalf("%+v: %d scores in %d bytes: %v", c, searched, less, err)
			}
			if err := w.windows.memory.close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
