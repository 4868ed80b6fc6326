package chemin

import (
	"math/bits"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/layers/chemin"
)

// rest returns the largest number that can still be written, by trying everything.
func rest(b *chemin.Board, s *chemin.State, known map[chemin.State]uint32) uint32 {
	if best, ok := known[*s]; ok {
		return best
	}
	best := uint32(0)
	for cell := range b.Cells() {
		if s.Filled>>cell&1 == 0 {
			next, value := b.Fill(s, cell)
			best = max(best, value, rest(b, &next, known))
		}
	}
	known[*s] = best
	return best
}

// TestBound compares the bound of every state with what is possible: never less, and the same
// as long as no vectors are merged.
func TestBound(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 5}, {2, 3}, {2, 4}, {3, 3}} {
		b := board(t, size[0], size[1])
		known := map[chemin.State]uint32{}
		rest(b, &chemin.State{}, known)
		for _, perSize := range []int{1, 100, 1 << 20} {
			bounds := must.Get(newBounds(t.Context(), b, growth(b), limits{1 << 30, perSize, 2}, func(int) {}))(t)
			for s, want := range known {
				if s.Filled == b.Full() {
					continue
				}
				look := bounds.outlook(b.Full() &^ s.Filled)
				got := look.upper(&s.Values, noBound)
				few := 2*bits.OnesCount32(b.Full()&^s.Filled) <= b.Cells()+1
				must.Not(t, got < uint64(want) || few && perSize == 1<<20 && got != uint64(want),
					"%v, %d vectors: bound %d of %v, %d is possible", size, perSize, got, s, want)
			}
		}
	}
}

// TestDominance raises values of states: what is possible must not fall.
func TestDominance(t *testing.T) {
	random := tries.Rand(t)
	b := board(t, 2, 4)
	known := map[chemin.State]uint32{}
	rest(b, &chemin.State{}, known)
	states := make([]chemin.State, 0, len(known))
	for s := range known {
		states = append(states, s)
	}
	for _, s := range states {
		more := s
		for cell := range b.Cells() {
			if s.Values[cell] > 0 {
				more.Values[cell] += random.Uint32N(3)
			}
		}
		less, got := known[s], rest(b, &more, known)
		must.Not(t, got < less, "%v leads to %d, %v only to %d", s, less, more, got)
	}
}

// TestThin checks that every vector is covered by one that is kept.
func TestThin(t *testing.T) {
	random := tries.Rand(t)
	for range 200 {
		stride, n, most := 1+random.IntN(5), 1+random.IntN(300), 1+random.IntN(40)
		vectors := make([]uint32, n*stride)
		for i := range vectors {
			vectors[i] = random.Uint32N(50)
		}
		kept := split(thin(slices.Clone(vectors), stride, most), stride)
		must.Not(t, len(kept) > most, "%d vectors, %d allowed", len(kept), most)
		for _, v := range split(vectors, stride) {
			must.Hold(t, slices.ContainsFunc(kept, func(other []uint32) bool { return covers(other, v) }),
				"%v is not covered by %v", v, kept)
		}
	}
}

// TestGrowth compares the limit with the maxima that are known.
func TestGrowth(t *testing.T) {
	for _, tt := range []struct {
		rows, cols int
		maximum    uint32
	}{{1, 1, 1}, {1, 8, 2}, {2, 2, 4}, {2, 8, 2916}, {3, 3, 57}, {3, 4, 300}, {3, 5, 1500}, {4, 4, 2473}, {3, 6, 7557}, {4, 5, 22634}} {
		g := growth(board(t, tt.rows, tt.cols))
		got := g[tt.rows*tt.cols]
		should.Not(t, got < tt.maximum, "%d x %d: limit %d, %d is possible", tt.rows, tt.cols, got, tt.maximum)
	}
}
