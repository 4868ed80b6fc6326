package halfboard

import "slices"

// sortByWave puts tiles into the order of a sweep. Scores travel against the
// moves, so a sweep should meet children before their parents:
//
//   - Only playing its last pit takes seeds out of the last pit of a half, so
//     tiles with more seeds in the last pits of both halves come first. Tiles
//     that agree in them are swept together also because their children are
//     still in the cache then.
//   - Then, the fewer seeds one side has: moves give seeds to the other side.
//   - A move that keeps all seeds on the mover's side leads from a seeds in the
//     mover's half to n-a; these two kinds come together.
//   - Then the pits before the last, like those.
func (g *grid) sortByWave(tiles []*tile) {
	type wave [maxHalf + 2]int
	waves := make(map[*tile]wave, len(tiles))
	for _, t := range tiles {
		a, b := g.suffix(g.columns(t.strip)), g.suffix(g.opponents(t))
		both := func(pit int) int { return int(a[pit]) + int(b[pit]) }
		w := wave{-both(g.q - 1), min(t.strip.sum, g.n-t.strip.sum)}
		for i := range g.q - 1 {
			w[2+i] = -both(g.q - 2 - i)
		}
		w[maxHalf+1] = t.strip.sum
		waves[t] = w
	}
	slices.SortStableFunc(tiles, func(x, y *tile) int {
		wx, wy := waves[x], waves[y]
		return slices.Compare(wx[:], wy[:])
	})
}

// suffix returns the last pits that the halves of s have in common and the least
// content of the one before; the other pits are 0.
func (g *geometry) suffix(s *slab) half {
	first, last := g.pits[s.first], g.pits[s.code(s.size-1)]
	for pit := g.q - 1; pit > 0; pit-- {
		if first[pit] != last[pit] {
			clear(last[:pit])
			break
		}
	}
	return last
}
