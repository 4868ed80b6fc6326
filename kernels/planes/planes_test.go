package planes

import (
	"bytes"
	"math/bits"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/twins"
	"grenier/kernels/cpu"
)

// TestExample packs two lines: -3, 1, 0 and then -3 everywhere, and 5 everywhere.
func TestExample(t *testing.T) {
	scores := append(slices.Repeat([]int8{-3}, Side), slices.Repeat([]int8{5}, Side)...)
	scores[1], scores[2] = 1, 0
	want := []byte{
		3, 0xfd, // three planes above -3
		0b100, 0, 0, 0, 0, 0, 0, 0, // 0 is 3 above
		0b100, 0, 0, 0, 0, 0, 0, 0,
		0b010, 0, 0, 0, 0, 0, 0, 0, // 1 is 4 above
		0, 5, // no planes above 5
	}
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		k, got := For(f), make([]byte, Bound(len(scores)))
		if n := k.Pack(got, scores); n != len(want) || !bytes.Equal(got[:n], want) {
			t.Errorf("packed: % x", got[:n])
		}
		back := make([]int8, len(scores))
		n := k.Unpack(back, want)
		should.Hold(t, n == len(want) && slices.Equal(back, scores), "unpacked %d bytes: %v", n, back)
	})
}

func TestMisusePanics(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		k := For(f)
		for _, n := range []int{1, 63, 65, 200} {
			must.Panic(t, func() { k.Pack(make([]byte, 1000), make([]int8, n)) })
			must.Panic(t, func() { k.Unpack(make([]int8, n), make([]byte, 1000)) })
		}
		for _, n := range []int{64, 640} {
			must.Panic(t, func() { k.Pack(make([]byte, Bound(n)-1), make([]int8, n)) })
		}
	})
}

// packNaive follows the definition, bit by bit.
func packNaive(scores []int8) []byte {
	out := []byte{}
	for line := range slices.Chunk(scores, Side) {
		least := slices.Min(line)
		w := bits.Len(uint(int(slices.Max(line)) - int(least)))
		out = append(out, byte(w), byte(least))
		for k := range w {
			var plane [8]byte
			for i, x := range line {
				plane[i/8] |= byte((int(x)-int(least))>>k&1) << (i % 8)
			}
			out = append(out, plane[:]...)
		}
	}
	return out
}

// unpackNaive returns n scores and the number of bytes that they took, or -1.
func unpackNaive(n int, src []byte) ([]int8, int) {
	out, at := []int8{}, 0
	for len(out) < n {
		if at+2 > len(src) || src[at] > 8 || at+2+8*int(src[at]) > len(src) {
			return nil, -1
		}
		w, least, planes := int(src[at]), src[at+1], src[at+2:]
		for i := range Side {
			x := least
			for k := range w {
				x += planes[8*k+i/8] >> (i % 8) & 1 << k
			}
			out = append(out, int8(x))
		}
		at += 2 + 8*w
	}
	return out, at
}
