package kernels_test

import (
	"slices"
	"sync"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/twins"
	"grenier/kernels/internal/shared"
)

// put sets code i of a line of zeros, as package window says.
func put(line []int8, width, i int, code uint8) {
	switch width {
	case 3:
		line[i%16] |= int8((code&1 | code>>2<<1) << (i / 16 * 2))
		line[16+i/8] |= int8((code>>1&1 ^ code>>2) << (i % 8))
	case 6:
		line[i%32] |= int8(code & 15 << (i / 32 * 4))
		line[32+i%16] |= int8(code >> 4 << (i / 16 * 2))
	default:
		size := width * shared.Side / 8
		line[i%size] |= int8(code << (i / size * width))
	}
}

func TestShortSlicesPanic(t *testing.T) {
	var line shared.Line
	short := twins.Aligned(shared.Side - 1)
	must.Panic(t, func() { line.Load(short) })
	must.Panic(t, func() { line.Store(short) })
	for _, width := range []int{2, 3, 4, 6} {
		must.Panic(t, func() { line.Unpack(short[:width*shared.Side/8-1], width) })
	}
}

// TestOthersSeeWholeScores stores lines of equal scores while others load them. The
// race detector complains about anything else than atomic access.
func TestOthersSeeWholeScores(t *testing.T) {
	scores := twins.Aligned(shared.Side)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 1000 {
			var line shared.Line
			for k := range line.Scores() {
				line.Scores()[k] = int8(i % 2 * 85)
			}
			line.Store(scores)
		}
	})
	for range 1000 {
		var line shared.Line
		line.Load(scores)
		for i, x := range line.Scores() {
			must.Not(t, x != 0 && x != 85, "score %d is %d", i, x)
		}
		line.Unpack(scores, 4)
		for i, x := range line.Scores() {
			must.Not(t, x != 0 && x != 5, "code %d is %d", i, x)
		}
	}
	wg.Wait()
}

// TestParts copies the middle one of three parts, changes some bytes of the copy and puts it back.
func TestParts(t *testing.T) {
	for _, n := range []int{8, 16, 24, 32, 48, shared.Side} {
		packed := twins.Aligned(3 * n)
		for i := range packed {
			packed[i] = int8(i)
		}
		want := slices.Clone(packed)
		var line shared.Line
		line.LoadPart(packed[n:2*n], n)
		must.List(t, line.Scores()[:n], packed[n:2*n], "%d bytes: loaded", n)
		if n == shared.Side { // a whole line, which has a way of its own
			var whole shared.Line
			whole.Load(packed[n:])
			must.Equal(t, whole, line, "loaded")
		}
		for _, i := range []int{0, 5, n - 1} {
			line.Scores()[i] = -99
			want[n+i] = -99
		}
		line.StorePart(packed[n:2*n], n)
		should.List(t, packed, want, "%d bytes", n)
		if n == shared.Side {
			copy(packed[n:2*n], packed)
			line.Store(packed[n:])
			should.List(t, packed, want, "a line")
		}
		must.Panic(t, func() { line.LoadPart(packed[2*n+1:], n) })
		must.Panic(t, func() { line.StorePart(packed[2*n+1:], n) })
	}
}

// TestSpreadAndPack gives each code of the second line a value of its own, as far as there are that many, and finds it where package
// window says.
func TestSpreadAndPack(t *testing.T) {
	for _, width := range []int{2, 3, 4, 6} {
		var packed, codes, again, unpacked shared.Line
		size, want := width*shared.Side/8, make([]uint8, shared.Side)
		scores := slices.Repeat([]int8{-1}, 3*size)
		clear(scores[size : 2*size])
		for i := range want {
			want[i] = uint8(i*7+i/8) & (1<<width - 1)
			put(scores[size:], width, i, want[i])
		}
		scores = append(twins.Aligned(3 * size)[:0], scores...)
		packed.LoadPart(scores[size:2*size], size)
		packed.Spread(&codes, width)
		unpacked.Unpack(scores[size:], width)
		should.Hold(t, unpacked == codes, "%d bits: unpacked %v, spread %v", width, unpacked, codes)
		for i, x := range codes.Scores() {
			should.Equal(t, uint8(x), want[i], "%d bits: code %d", width, i)
			codes.Scores()[i] |= int8(-1 << width) // which is left out
		}
		again.Pack(&codes, width)
		should.Hold(t, again == packed, "%d bits: packed %x, want %x", width, again, packed)
	}
}

// TestWords copies bytes that end inside a word, changes two of them in the copy and puts them back:
// whole words are copied, and nothing else is written.
func TestWords(t *testing.T) {
	all := twins.Aligned(64)
	for i := range all {
		all[i] = int8(i)
	}
	want := slices.Clone(all)
	var near [3]uint64
	shared.LoadWords(near[:], all[8:8+13])
	got := shared.Words(near[:])
	must.Hold(t, slices.Equal(got[:16], want[8:24]) && slices.Max(got[16:]) == 0, "loaded %v", got)
	shared.Words(near[:])[0], shared.Words(near[:])[12] = -1, -2
	want[8], want[20] = -1, -2
	shared.StoreWords(all[8:8+13], near[:])
	should.Hold(t, slices.Equal(all, want), "got %v, want %v", all, want)
}
