package fixpoint

import (
	"cmp"
	"slices"
)

// sortByWave puts tiles into the order of a sweep. Scores travel against the
// moves, so a sweep should meet children before their parents:
//
//   - Only playing its last pit takes seeds out of the last pit of a half, so
//     tiles with more seeds in the last pits of both halves come first, and so
//     on with the pits before. Tiles that agree in them are swept together also because
//     their children are still in the cache then.
//   - Tiles with s and t seeds in a pit lead to those with t and s: pairs of them come
//     together.
//   - Then, the fewer seeds one side has: moves give seeds to the other side.
//   - A move that keeps all seeds on the mover's side leads from a seeds in the
//     mover's half to n-a; these two kinds come together.
func (g *Grid) sortByWave(tiles []*tile) {
	slices.SortStableFunc(tiles, func(x, y *tile) int {
		for pit := g.Q - 1; pit >= 0; pit-- {
			if c := cmp.Or(cmp.Compare(y.seeds(pit), x.seeds(pit)), cmp.Compare(y.least(pit), x.least(pit))); c != 0 {
				return c
			}
		}
		a, b := x.matrix.Sum, y.matrix.Sum
		return cmp.Or(cmp.Compare(min(a, g.N-a), min(b, g.N-b)), cmp.Compare(a, b))
	})
}

// seeds returns the seeds in a pit of both halves, as far as the positions of
// the tile agree in it.
func (t *tile) seeds(pit int) int { return int(t.panels.Suffix[pit]) + int(t.chunks.Suffix[pit]) }

// least returns the smaller of the two, in the same way.
func (t *tile) least(pit int) uint8 { return min(t.panels.Suffix[pit], t.chunks.Suffix[pit]) }
