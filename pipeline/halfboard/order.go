package halfboard

import "slices"

// sortByWave puts tiles into the order of a sweep. Scores travel against the
// moves, so a sweep should meet a child before its parent:
//
//   - A move that keeps all seeds on the mover's side leads from a seeds in the
//     mover's half to n-a: these two kinds of tiles are swept together.
//   - A move that does not play the last pit of a half never takes seeds out of
//     it: tiles with more seeds in the last pits of both halves come first.
//   - The other moves give seeds away, so the fewer seeds one side has, the
//     earlier.
//
// Only moves of the last pits lead the other way. At 18 seeds this needs 22
// sweeps where the order by the mover's seeds alone needs 28, and fewer the
// smaller the tiles are.
func (g *grid) sortByWave(tiles []*tile) {
	type wave [maxHalf + 2]int
	waves := make(map[*tile]wave, len(tiles))
	for _, t := range tiles {
		w := wave{min(t.sum, g.n-t.sum)}
		a, b := g.columns(t).suffix, g.opponents(t).suffix
		for pit := range g.q {
			w[1+pit] = -int(a[g.q-1-pit]) - int(b[g.q-1-pit])
		}
		w[maxHalf+1] = t.sum
		waves[t] = w
	}
	slices.SortStableFunc(tiles, func(x, y *tile) int {
		wx, wy := waves[x], waves[y]
		return slices.Compare(wx[:], wy[:])
	})
}
