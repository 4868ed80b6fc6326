package shared

import (
	"sync"
	"testing"
	"unsafe"

	"grenier/kernels/internal/twins"
)

// aligned returns n scores that start at a multiple of 64 bytes.
func aligned(n int) []int8 {
	s := make([]int8, n+Side)
	s = s[-uintptr(unsafe.Pointer(&s[0]))%Side:]
	return s[:n:n]
}

// TestLoadStore copies the middle one of three lines, changes some scores of the
// copy and puts it back.
func TestLoadStore(t *testing.T) {
	scores := aligned(3 * Side)
	for i := range scores {
		scores[i] = int8(i)
	}
	var line Line
	line.Load(scores[Side:])
	for i, x := range line.Scores() {
		if x != int8(Side+i) {
			t.Fatalf("loaded %d as score %d", x, i)
		}
	}
	changed := map[int]int8{0: -128, 7: 127, 8: -1, 33: 0, 63: 5}
	for i, x := range changed {
		line.Scores()[i] = x
	}
	line.Store(scores[Side:])
	for i, x := range scores {
		want, ok := changed[i-Side]
		if !ok {
			want = int8(i)
		}
		if x != want {
			t.Errorf("score %d became %d, want %d", i, x, want)
		}
	}
}

func TestShortSlicesPanic(t *testing.T) {
	var line Line
	short := aligned(Side - 1)
	twins.MustPanic(t, func() { line.Load(short) })
	twins.MustPanic(t, func() { line.Store(short) })
}

// TestOthersSeeWholeScores stores lines of equal scores while others load them. The
// race detector complains about anything else than atomic access.
func TestOthersSeeWholeScores(t *testing.T) {
	scores := aligned(Side)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 1000 {
			var line Line
			for k := range line.Scores() {
				line.Scores()[k] = int8(i % 2 * 85)
			}
			line.Store(scores)
		}
	})
	for range 1000 {
		var line Line
		line.Load(scores)
		for i, x := range line.Scores() {
			if x != 0 && x != 85 {
				t.Fatalf("score %d is %d", i, x)
			}
		}
	}
	wg.Wait()
}
