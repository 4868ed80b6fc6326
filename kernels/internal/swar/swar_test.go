package swar

import (
	"testing"

	"grenier/internal/testkit/should"
)

// TestNeg tries every pair of a byte and those around it, which a carry would
// disturb, in every lane.
func TestNeg(t *testing.T) {
	for a := -128; a < 128; a++ {
		for b := -128; b < 128; b++ {
			for lane := range 8 {
				if got, want := Neg(put(lane, a, b)), put(lane, -a, -b); got != want {
					t.Fatalf("lane %d of %d among %d: got %016x, want %016x", lane, a, b, got, want)
				}
			}
		}
	}
}

// put returns a word with a in the given lane and b in all the others.
func put(lane, a, b int) uint64 {
	x := uint64(uint8(b)) * Ones
	return x ^ uint64(uint8(a)^uint8(b))<<(8*lane)
}

func TestLoadStore(t *testing.T) {
	s := []int8{1, -2, 3, -4, 5, -6, 7, -8, 9}
	x := Load(s)
	should.Hold(t, x == 0xf807fa05fc03fe01, "Load: %016x", x)
	Store(s[1:], 0x8877665544332211)
	x = Load(s)
	should.Hold(t, x == 0x7766554433221101, "after Store: %016x", x)
}
