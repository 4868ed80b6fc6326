package halfboard

import (
	"testing"

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
	w, err := e.layOut(t.Context(), geo, 2)
	if err != nil {
		t.Fatal(err)
	}
	least := int(leastOffers(q, n))
	one := narrowest(game, n)
	for memory, many := one, 0; ; memory += one / 32 {
		o := Options{Memory: memory, Workers: 1}
		room, rounds := o.roomForOffers(q, n), 0
		r := w.newRound(nil, make([]int8, room))
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

// narrowest returns the least memory for the layer of n seeds in windows.
func narrowest(game awari.Game, n int) uint64 { return narrow(game, n, 1, widths[len(widths)-1]) }

// TestWindowsArePredicted: a layer takes the windows that plans count.
func TestWindowsArePredicted(t *testing.T) {
	rng := newRand(t)
	for range runs(40) {
		c := randomConfig(t, rng)
		codes := widths[rng.IntN(len(widths))]
		c.options.Bits, c.options.Work = codes.Bits, newDisk().work()
		if got, want := c.solve(t).Stats().Windows, windowsOf(c.seeds, codes); got != want {
			t.Errorf("%+v: %d windows, want %d", c, got, want)
		}
	}
}
