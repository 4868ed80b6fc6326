package fixpoint

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"grenier/pipeline/solve/internal/halfboard/board"
)

// A Grid is a layer cut into tiles.
type Grid struct {
	*board.Layer
	lookups []lookup // by the sum of the matrix
	tiles   []*tile
}

// A tile is a part of the open rows of a matrix.
type tile struct {
	matrix  *board.Matrix
	panels  board.Run
	chunks  board.Run
	parents []int32     // those that read this one
	all     atomic.Bool // everything is out of date
}

// cutTiles cuts the matrices into tiles of about size rows and columns.
func (g *Grid) cutTiles(size int) {
	g.lookups = make([]lookup, g.N+1)
	for sum, m := range g.Matrices {
		panels, chunks := g.PanelRuns(sum, size), g.ChunkRuns(g.N-sum, size)
		g.lookups[sum] = lookup{byPanel: spread(panels), byChunk: spread(chunks), runs: len(panels), first: len(g.tiles)}
		for _, c := range chunks {
			for _, p := range panels {
				g.tiles = append(g.tiles, &tile{matrix: m, panels: p, chunks: c})
			}
		}
	}
}

// findParents lists which tiles read a tile.
func (g *Grid) findParents() {
	r := g.newReads()
	reads, readers := make([][]int32, len(g.tiles)), make([]int32, len(g.tiles))
	for i, t := range g.tiles {
		reads[i] = r.of(t)
		for _, child := range reads[i] {
			readers[child]++
		}
	}
	for i, t := range g.tiles {
		t.parents = make([]int32, 0, readers[i])
	}
	for i := range g.tiles {
		for _, child := range reads[i] {
			g.tiles[child].parents = append(g.tiles[child].parents, int32(i))
		}
	}
}

// lookup finds the tiles of open rows of a matrix by their panels and chunks.
type lookup struct {
	byPanel, byChunk []int // the run that a panel, or chunk, is in
	runs             int   // of panels
	first            int   // index of the first tile
}

// spread lists the index of the run of each place.
func spread(runs []board.Run) (index []int) {
	for i, r := range runs {
		for range r.End - r.Begin {
			index = append(index, i)
		}
	}
	return index
}

// reads finds out which tiles of open rows a tile reads. It is not safe for concurrent
// use.
type reads struct {
	grid   *Grid
	rows   map[panelsRead][]chunksOf
	panels map[chunksRead][]int32
	met    []int32 // by tile: the last tile asked for that reads it
	asked  int32
	list   []int32 // scratch
}

// panelsRead and chunksRead name the sides of tiles.
type panelsRead struct{ sum, panel int }

type chunksRead struct{ sum, route, chunk int }

// chunksOf lists the runs of chunks that a route leads to.
type chunksOf struct {
	route  int
	chunks []int32
}

func (g *Grid) newReads() *reads {
	return &reads{grid: g, rows: map[panelsRead][]chunksOf{}, panels: map[chunksRead][]int32{}, met: make([]int32, len(g.tiles))}
}

// of returns the indices of the tiles that t reads, each once.
func (r *reads) of(t *tile) []int32 {
	r.asked++
	tiles := r.list[:0]
	for _, to := range r.chunksOf(t) {
		l := &r.grid.lookups[t.matrix.ChildOf(r.grid.N, to.route)]
		for _, chunk := range to.chunks {
			for _, panel := range r.panelsOf(t, to.route) {
				child := int32(l.first) + chunk*int32(l.runs) + panel
				if r.met[child] != r.asked {
					r.met[child] = r.asked
					tiles = append(tiles, child)
				}
			}
		}
	}
	r.list = tiles
	return slices.Clone(tiles)
}

// chunksOf lists the runs of chunks that the moves of t lead to: the same for all tiles
// of its panels.
func (r *reads) chunksOf(t *tile) []chunksOf {
	key := panelsRead{t.matrix.Sum, t.panels.Begin}
	known, ok := r.rows[key]
	if ok {
		return known
	}
	m := t.matrix
	met := make([][]int32, len(m.Routes))
	for panel := t.panels.Begin; panel < t.panels.End; panel++ {
		p := &m.Programs[panel]
		for _, group := range p.Groups {
			chunks, byChunk := met[group.Route], r.grid.lookups[m.ChildOf(r.grid.N, int(group.Route))].byChunk
			for _, row := range p.Rows[group.First:][:bits.OnesCount64(group.Columns)] {
				chunk := int32(byChunk[row/board.Side])
				if last := len(chunks) - 1; last < 0 || chunks[last] != chunk {
					chunks = append(chunks, chunk)
				}
			}
			met[group.Route] = chunks
		}
	}
	for route, chunks := range met {
		if len(chunks) > 0 {
			known = append(known, chunksOf{route, sortedSet(chunks)})
		}
	}
	r.rows[key] = known
	return known
}

// panelsOf lists the runs of panels that a route leads to from the chunks of t.
func (r *reads) panelsOf(t *tile, route int) []int32 {
	key := chunksRead{t.matrix.Sum, route, t.chunks.Begin}
	known, ok := r.panels[key]
	if ok {
		return known
	}
	pattern := t.matrix.Routes[route].Pattern
	first := pattern.First[board.OpenRows]
	byPanel := r.grid.lookups[t.matrix.ChildOf(r.grid.N, route)].byPanel
	for _, w := range pattern.Words[board.OpenRows][first[t.chunks.Begin]:first[t.chunks.End]] {
		known = append(known, int32(byPanel[w.Panel]))
	}
	known = sortedSet(known)
	r.panels[key] = known
	return known
}

// sortedSet sorts a list in its place and leaves each of its numbers once.
func sortedSet(list []int32) []int32 {
	slices.Sort(list)
	return slices.Compact(list)
}
