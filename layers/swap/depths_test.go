package swap

import (
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
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
		g := must.Get(NewGrid(size[0], size[1]))(t)
		depths := depthsOf(g)
		should.Be(t, g.CheckDepths(depths, true), nil, "%v", size)
		for d := range depths {
			should.Be(t, g.CheckDepths(depths[:d], false), nil, "%v, %d depths", size, d)
			should.Be(t, g.CheckDepths(depths[:d], true), ErrDepths, "%v, %d depths", size, d)
			for _, wrong := range []uint64{0, depths[d] + 1, depths[d] - 1, 1 << 63, 1<<64 - 1} {
				bad := slices.Clone(depths)
				bad[d] = wrong
				should.Be(t, g.CheckDepths(bad, true), ErrDepths, "%v, %d at depth %d", size, wrong, d)
			}
		}
		should.Be(t, g.CheckDepths(append(depths, 1), false), ErrDepths, "%v: a depth more", size)
	}
}
