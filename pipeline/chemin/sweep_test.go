package chemin

import (
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/layers/chemin"
	"grenier/pipeline/internal/runs"
)

// sweepAll runs a sweep to the end and returns the states of each layer, and the bytes of its work
// file, if it has one.
func sweepAll(t *testing.T, s *sweep) (states []int, bytes int64) {
	t.Helper()
	must.OK(t, s.run(t.Context(), func() {
		if s.layer.filled > 0 {
			states = append(states, s.layer.N)
		}
	}, func() ([]byte, error) { return nil, nil }))
	s.store.Drop(s.layer.Run)
	should.Equal(t, s.store.Held(), 0, "bytes are still held")
	if s.store.Dir == nil {
		return states, 0
	}
	return states, s.store.Dir.Size()
}

func newTestSweep(b *chemin.Board, room int64, target uint32) *sweep {
	s := &sweep{board: b, bounds: &bounds{board: b}, best: &incumbent{}, workers: 2, store: &runs.Store{Most: 1 << 30}, room: room}
	if target > 0 {
		s.counting, s.target = true, target
	}
	return s
}

// onDisk gives a sweep a work file.
func (s *sweep) onDisk(t *testing.T) *sweep {
	must.OK(t, must.Err((&solver{Options: Options{Dir: t.TempDir()}, board: s.board, store: s.store}).openDir()))
	t.Cleanup(func() { must.OK(t, s.store.Dir.Close()) })
	return s
}

// TestSpill runs sweeps that have next to no room for records at work: many runs, merged two at
// a time.
func TestSpill(t *testing.T) {
	b := board(t, 3, 3)
	for _, tt := range []struct {
		target  uint32
		optimal uint64
	}{{0, 0}, {57, 32}} {
		large := newTestSweep(b, 1<<30, tt.target)
		want, _ := sweepAll(t, large)
		const little = 2*runs.WriterBytes + 1<<14
		for _, small := range []*sweep{newTestSweep(b, little, tt.target), newTestSweep(b, little, tt.target).onDisk(t)} {
			got, bytes := sweepAll(t, small)
			should.Not(t, small.store.Dir != nil && bytes == 0, "nothing was written")
			if tt.target == 0 {
				// Fewer comparisons leave more states, never less.
				for i := range want {
					should.Not(t, got[i] < want[i], "layer %d: %d states, %d at once", i+1, got[i], want[i])
				}
				should.Hold(t, large.best.score.Load() == 57 && small.best.score.Load() == 57,
					"found %d, at once %d", small.best.score.Load(), large.best.score.Load())
			} else if !slices.Equal(got, want) || small.optimal.Load() != tt.optimal || large.optimal.Load() != tt.optimal {
				t.Errorf("states %v, %d orders; at once %v, %d; want %d orders", got, small.optimal.Load(), want, large.optimal.Load(), tt.optimal)
			}
		}
	}
}

// TestCountingStates compares the states of a sweep that drops none with those found by filling
// boards.
func TestCountingStates(t *testing.T) {
	b := board(t, 2, 3)
	got, _ := sweepAll(t, newTestSweep(b, 1<<30, 1000)) // never reached
	layer := map[chemin.State]bool{{}: true}
	for k := range b.Cells() - 1 {
		next := map[chemin.State]bool{}
		for s := range layer {
			for cell := range b.Cells() {
				if s.Filled>>cell&1 == 0 {
					to, _ := b.Fill(&s, cell)
					to, _ = b.Canonical(&to)
					next[to] = true
				}
			}
		}
		layer = next
		should.Hold(t, got[k] == len(layer), "layer %d: %d states, want %d", k+1, got[k], len(layer))
	}
}
