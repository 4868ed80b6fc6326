package swap

import (
	"errors"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
)

// depthsOf counts the states of a grid at each depth, the plain way.
func depthsOf(g *Grid) (depths []uint64) {
	newest, seen := []State{g.Goal()}, map[State]bool{g.Goal(): true}
	for len(newest) > 0 {
		depths = append(depths, uint64(len(newest)))
		var next []State
		for _, s := range newest {
			for _, m := range g.Swaps() {
				if to := g.Apply(s, m); !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
		newest = next
	}
	return depths
}

// TestCheckDepths: the depths of all small grids pass, up to any depth, and no number of them
// can be much different.
func TestCheckDepths(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 2}, {1, 3}, {2, 2}, {1, 6}, {2, 3}, {2, 4}, {4, 2}} {
		g, err := NewGrid(size[0], size[1])
		must.OK(t, err)
		depths := depthsOf(g)
		if err := g.CheckDepths(depths, true); err != nil {
			t.Errorf("%v: %v", size, err)
		}
		for d := range depths {
			if err := g.CheckDepths(depths[:d], false); err != nil {
				t.Errorf("%v, %d depths: %v", size, d, err)
			}
			if err := g.CheckDepths(depths[:d], true); !errors.Is(err, ErrDepths) {
				t.Errorf("%v, %d depths: error %v", size, d, err)
			}
			for _, wrong := range []uint64{0, depths[d] + 1, depths[d] - 1, 1 << 63, 1<<64 - 1} {
				bad := slices.Clone(depths)
				bad[d] = wrong
				if err := g.CheckDepths(bad, true); !errors.Is(err, ErrDepths) {
					t.Errorf("%v, %d at depth %d: error %v", size, wrong, d, err)
				}
			}
		}
		if err := g.CheckDepths(append(depths, 1), false); !errors.Is(err, ErrDepths) {
			t.Errorf("%v: a depth more: error %v", size, err)
		}
	}
}
