package distance

import (
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// TestCopyPlies: what is written are the distances of complete sweeps, of which all are known.
func TestCopyPlies(t *testing.T) {
	memory := []byte{0, 3, 0, 4, 5, 1, 0, 0, 0xfb, 2, 0, 1}
	s := &sweeper{size: uint64(len(memory) / 2), done: 3, cells: cells{memory: memory}}
	got := make([]int8, s.size)
	must.OK(t, s.copyPlies(got, 0))
	should.List(t, got, []int8{3, 0, 0, 0, 0, 1})
}
