package swar

import (
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// TestSpreadGather tries every set of bytes.
func TestSpreadGather(t *testing.T) {
	for b := range uint64(256) {
		want := uint64(0)
		for i := range 8 {
			want |= b >> i & 1 * 0xff << (8 * i)
		}
		got := Spread(b | 0xab00)
		should.Hold(t, got == want, "Spread(%02x): got %016x, want %016x", b, got, want)
		got = Gather(want ^ Lows)
		should.Hold(t, got == b, "Gather: got %02x, want %02x", got, b)
	}
}

// TestNonZero tries every byte in every lane among zeros and among others.
func TestNonZero(t *testing.T) {
	for a := range 256 {
		for _, around := range []int{0, 1, 0x7f, 0x80, 0xff} {
			for lane := range 8 {
				want := put(lane, min(a, 1)*0x80, min(around, 1)*0x80)
				got := NonZero(put(lane, a, around))
				must.Hold(t, got == want, "lane %d of %d among %d: got %016x", lane, a, around, got)
			}
		}
	}
}

// TestAdd tries every pair of bytes, among those that carry and those that do not.
func TestAdd(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			for lane := range 8 {
				if got, want := Add(put(lane, a, 0xff), put(lane, b, lane)), put(lane, a+b, 0xff+lane); got != want {
					t.Fatalf("lane %d: %d + %d: got %016x, want %016x", lane, a, b, got, want)
				}
			}
		}
	}
}
