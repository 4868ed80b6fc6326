// Package kernels_test has the tests of small packages below, which take less time than it takes to link a program for each.
package kernels_test

import (
	"errors"
	"fmt"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/kernels/crc32c"
	"grenier/kernels/fault"
	"grenier/kernels/internal/swar"
)

// TestOf compares with the check value of the catalogue of CRC algorithms (CRC-32/ISCSI).
func TestOf(t *testing.T) {
	const want = 0xe3069283
	data := []byte("123456789")
	h := crc32c.New()
	h.Write(data)
	if crc32c.Of(data) != want || crc32c.Update(crc32c.Of(data[:4]), data[4:]) != want || h.Sum32() != want {
		t.Errorf("%#x, %#x, %#x, want %#x", crc32c.Of(data), crc32c.Update(crc32c.Of(data[:4]), data[4:]), h.Sum32(), want)
	}
}

func TestKinds(t *testing.T) {
	one, two := fault.New(fault.Usage, "codec"), fault.New(fault.Usage, "codec")
	err := errors.Join(errors.New("other"), fmt.Errorf("%w: rot13", one))
	should.Not(t, !errors.Is(err, one) || errors.Is(err, two) || !errors.Is(err, fault.Usage) || errors.Is(err, fault.Difference),
		"%v is of the wrong kind", err)
	should.Hold(t, one.Error() == "codec", "%q", one)
}

// TestNeg tries every pair of a byte and those around it, which a carry would disturb, in every lane.
func TestNeg(t *testing.T) {
	for a := -128; a < 128; a++ {
		for b := -128; b < 128; b++ {
			for lane := range 8 {
				if got, want := swar.Neg(among(lane, a, b)), among(lane, -a, -b); got != want {
					t.Fatalf("lane %d of %d among %d: got %016x, want %016x", lane, a, b, got, want)
				}
			}
		}
	}
}

// among returns a word with a in the given lane and b in all the others.
func among(lane, a, b int) uint64 {
	x := uint64(uint8(b)) * swar.Ones
	return x ^ uint64(uint8(a)^uint8(b))<<(8*lane)
}

func TestLoadStore(t *testing.T) {
	s := []int8{1, -2, 3, -4, 5, -6, 7, -8, 9}
	should.Equal(t, swar.Load(s), 0xf807fa05fc03fe01, "Load")
	swar.Store(s[1:], 0x8877665544332211)
	should.Equal(t, swar.Load(s), 0x7766554433221101, "after Store")
}

// TestSpreadGather tries every set of bytes.
func TestSpreadGather(t *testing.T) {
	for b := range uint64(256) {
		want := uint64(0)
		for i := range 8 {
			want |= b >> i & 1 * 0xff << (8 * i)
		}
		should.Equal(t, swar.Spread(b|0xab00), want, "Spread(%02x)", b)
		should.Equal(t, swar.Gather(want^swar.Lows), b, "Gather")
	}
}

// TestNonZero tries every byte in every lane among zeros and among others.
func TestNonZero(t *testing.T) {
	for a := range 256 {
		for _, around := range []int{0, 1, 0x7f, 0x80, 0xff} {
			for lane := range 8 {
				want := among(lane, min(a, 1)*0x80, min(around, 1)*0x80)
				must.Equal(t, swar.NonZero(among(lane, a, around)), want, "lane %d of %d among %d", lane, a, around)
			}
		}
	}
}

// TestAdd tries every pair of bytes, among those that carry and those that do not.
func TestAdd(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			for lane := range 8 {
				if got, want := swar.Add(among(lane, a, 0xff), among(lane, b, lane)), among(lane, a+b, 0xff+lane); got != want {
					t.Fatalf("lane %d: %d + %d: got %016x, want %016x", lane, a, b, got, want)
				}
			}
		}
	}
}
