package shared

import (
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/twins"
)

// TestParts copies the middle one of three parts, changes some bytes of the copy and
// puts it back.
func TestParts(t *testing.T) {
	for _, n := range []int{8, 16, 24, 32, 48, Side} {
		packed := twins.Aligned(3 * n)
		for i := range packed {
			packed[i] = int8(i)
		}
		want := slices.Clone(packed)
		var line Line
		line.LoadPart(packed[n:2*n], n)
		must.List(t, line.Scores()[:n], packed[n:2*n], "%d bytes: loaded", n)
		for _, i := range []int{0, 5, n - 1} {
			line.Scores()[i] = -99
			want[n+i] = -99
		}
		line.StorePart(packed[n:2*n], n)
		should.List(t, packed, want, "%d bytes", n)
		must.Panic(t, func() { line.LoadPart(packed[2*n+1:], n) })
		must.Panic(t, func() { line.StorePart(packed[2*n+1:], n) })
	}
}

// TestSpreadAndPack gives each code of a line a value of its own, as far as there are that
// many, and finds it where package window says.
func TestSpreadAndPack(t *testing.T) {
	for _, width := range []int{2, 3, 4, 6} {
		var packed, codes, again Line
		want := make([]uint8, Side)
		for i := range want {
			want[i] = uint8(i*7+i/8) & (1<<width - 1)
			put(packed.Scores()[:], width, i, want[i])
		}
		packed.Spread(&codes, width)
		for i, x := range codes.Scores() {
			should.Equal(t, uint8(x), want[i], "%d bits: code %d", width, i)
			codes.Scores()[i] |= int8(-1 << width) // which is left out
		}
		again.Pack(&codes, width)
		should.Hold(t, again == packed, "%d bits: packed %x, want %x", width, again, packed)
	}
}
