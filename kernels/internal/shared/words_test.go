package shared

import (
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/twins"
)

// TestWords copies bytes that end inside a word, changes two of them in the copy and puts them back:
// whole words are copied, and nothing else is written.
func TestWords(t *testing.T) {
	all := twins.Aligned(64)
	for i := range all {
		all[i] = int8(i)
	}
	want := slices.Clone(all)
	var near [3]uint64
	LoadWords(near[:], all[8:8+13])
	got := Words(near[:])
	must.Hold(t, slices.Equal(got[:16], want[8:24]) && slices.Max(got[16:]) == 0, "loaded %v", got)
	Words(near[:])[0], Words(near[:])[12] = -1, -2
	want[8], want[20] = -1, -2
	StoreWords(all[8:8+13], near[:])
	should.Hold(t, slices.Equal(all, want), "got %v, want %v", all, want)
}
