package prove

import (
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// TestStates changes states one by one.
func TestStates(t *testing.T) {
	s := newStates(100)
	for i := range uint64(100) {
		must.Not(t, !s.change(i, open, candidate) || s.change(i, open, won) || !s.change(i, candidate, state(i%4)) && i%4 != uint64(candidate),
			"rank %d: %d", i, s.of(i))
	}
	for w := range words(100) {
		bits := s.candidates(w)
		for i := perWord * w; i < min(100, perWord*(w+1)); i++ {
			if got := s.of(i); got != state(i%4) || (bits>>(i%perWord*stateBits)&1 != 0) != (got == candidate) {
				t.Errorf("rank %d: state %d, candidates %x", i, got, bits)
			}
		}
	}
	s.clear()
	should.Hold(t, s.of(99) == open, "not clear")
}
