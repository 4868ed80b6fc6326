package swar

import "testing"

// TestAllPairs tries every pair of bytes in every lane, beside a pair that
// would be disturbed by a carry.
func TestAllPairs(t *testing.T) {
	for a := -128; a < 128; a++ {
		for b := -128; b < 128; b++ {
			for lane := range 8 {
				x, y := put(lane, a, b), put(lane, b, a)
				check(t, "Min", Min(x, y), put(lane, min(a, b), min(a, b)))
				check(t, "Neg", Neg(x), put(lane, -a, -b))
				d := uint64(0)
				if a != b {
					d = Highs
				}
				check(t, "Differing", Differing(x, y), d)
			}
		}
	}
}

// put returns a word with a in the given lane and b in all the others.
func put(lane, a, b int) uint64 {
	x := uint64(uint8(b)) * Ones
	return x ^ uint64(uint8(a)^uint8(b))<<(8*lane)
}

func check(t *testing.T, name string, got, want uint64) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %016x, want %016x", name, got, want)
	}
}

func TestLoadStore(t *testing.T) {
	s := []int8{1, -2, 3, -4, 5, -6, 7, -8, 9}
	if x := Load(s); x != 0xf807fa05fc03fe01 {
		t.Errorf("Load: %016x", x)
	}
	Store(s[1:], 0x8877665544332211)
	if x := Load(s); x != 0x7766554433221101 {
		t.Errorf("after Store: %016x", x)
	}
}
