package fixpoint

import (
	"slices"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
	"grenier/pipeline/solve/internal/halfboard/board"
)

// at returns the block of a spot of an open row.
func (s spot) at() block { return block{s.m.Sum, s.panel, s.chunk} }

// block names a block of open rows.
type block struct{ sum, panel, chunk int }

// byBlock returns the tile of each block, which must be in one only.
func (g *Grid) byBlock(t *testing.T) map[block]*tile {
	t.Helper()
	tiles := map[block]*tile{}
	for _, x := range g.tiles {
		for panel := x.panels.Begin; panel < x.panels.End; panel++ {
			for chunk := x.chunks.Begin; chunk < x.chunks.End; chunk++ {
				at := block{x.matrix.Sum, panel, chunk}
				if tiles[at] != nil {
					t.Fatalf("block %+v is in two tiles", at)
				}
				tiles[at] = x
			}
		}
	}
	return tiles
}

// TestLongTilesCoverAllBlocks: each block of open rows is in one tile.
func TestLongTilesCoverAllBlocks(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(150) {
		c := randomConfig(t, rng)
		w := c.begin(t)
		tiles, blocks := w.Grid.byBlock(t), 0
		w.eachBlock(func(m *board.Matrix, panel, chunk int) {
			x := tiles[block{m.Sum, panel, chunk}]
			must.Not(t, x == nil || x.matrix != m, "%+v: %d seeds, panel %d, chunk %d is in no tile", c, m.Sum, panel, chunk)
			blocks++
		})
		must.Hold(t, len(tiles) == blocks, "%+v: %d blocks in tiles, %d in all", c, len(tiles), blocks)
	}
}

// quietChildren returns where the moves of p without captures lead.
func (e *laidOut) quietChildren(p position) (children []position) {
	for _, play := range e.game.Plays(e.Grid.Board(p.mover, p.opponent)) {
		if play.Legal && play.Captured == 0 {
			children = append(children, positionOf(e.Grid.Geometry, play.Child))
		}
	}
	return children
}

// wave is what sorts a tile: for each pit, from the last one on, the seeds that both
// halves have in it and those of the half with fewer; then those of the side that has
// less, then those of the mover.
func (g *Grid) wave(t *tile) (key []int) {
	for pit := g.Q - 1; pit >= 0; pit-- {
		a, b := int(t.panels.Suffix[pit]), int(t.chunks.Suffix[pit])
		key = append(key, -a-b, -min(a, b))
	}
	return append(key, min(t.matrix.Sum, g.N-t.matrix.Sum), t.matrix.Sum)
}

// TestLongOrderFollowsTheWave sorts shuffled tiles: none is lost, and those of later
// waves come later.
func TestLongOrderFollowsTheWave(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(150) {
		c := randomConfig(t, rng)
		g := c.begin(t).Grid
		tiles := awaritest.Shuffled(rng, g.tiles)
		before := slices.Clone(tiles)
		g.sortByWave(tiles)
		place := map[*tile]int{}
		for i, x := range tiles {
			place[x] = i
			if i == 0 {
				continue
			}
			if last := tiles[i-1]; slices.Compare(g.wave(last), g.wave(x)) > 0 {
				t.Fatalf("%+v: a tile of wave %v comes after %v", c, g.wave(x), g.wave(last))
			}
		}
		for i, x := range before {
			if at, found := place[x]; !found {
				t.Fatalf("%+v: a tile is lost", c)
			} else if i > 0 && slices.Equal(g.wave(before[i-1]), g.wave(x)) && at < place[before[i-1]] {
				t.Fatalf("%+v: tiles of wave %v change places", c, g.wave(x))
			}
		}
		must.Hold(t, len(tiles) == len(place), "%+v: %d tiles in order, %d of them different", c, len(tiles), len(place))
	}
}
