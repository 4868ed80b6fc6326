package halfboard

import (
	"context"
	"maps"
	"math/bits"
	"slices"

	"grenier/io/crew"
	"grenier/kernels/compress"
)

// newGrid lays out the layer of geo.n seeds, with lines of line bytes. Tiles are cut by
// cutTiles; no scores are allocated yet.
func newGrid(ctx context.Context, workers int, geo *geometry, patterns *patterns, line int) (*grid, error) {
	g := &grid{geometry: geo, matrices: make([]*matrix, geo.n+1), origins: make([]*origins, geo.n+1)}
	err := crew.Each(ctx, workers, geo.n+1, func(_, sum int) error {
		g.matrices[sum] = geo.newMatrix(sum, line)
		geo.addMoves(g.matrices[sum], patterns)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, m := range g.matrices {
		g.link(m)
	}
	return g, crew.Each(ctx, workers, geo.n+1, func(_, sum int) error {
		g.origins[sum] = g.newOrigins(sum)
		return nil
	})
}

// link adds the links of m.
func (g *grid) link(m *matrix) {
	m.links = uint32(len(g.links))
	for _, r := range m.routes {
		g.links = append(g.links, link{
			matrix: m, pattern: r.pattern,
			words: r.pattern.words[openRows], byPanel: r.pattern.byPanel, marks: m.marks, chunks: m.chunks[openRows],
		})
	}
}

// cutTiles cuts the matrices into tiles of about size rows and columns.
func (g *grid) cutTiles(size int) {
	g.lookups = make([]lookup, g.n+1)
	for sum, m := range g.matrices {
		panels := g.panelRuns(sum, size)
		open, full := g.chunkRuns(g.n-sum, size), g.fullRuns(g.n-sum, size)
		g.lookups[sum] = newLookup(panels, open, len(g.tiles))
		g.tiles = appendTiles(g.tiles, m, openRows, panels, open)
		g.full = appendTiles(g.full, m, fullRows, panels, full)
	}
}

// findParents lists which tiles read a tile.
func (g *grid) findParents() {
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

// appendTiles appends the tiles of the rows of one class of a matrix.
func appendTiles(tiles []*tile, m *matrix, class rowClass, panels, chunks []run) []*tile {
	for _, c := range chunks {
		for _, p := range panels {
			tiles = append(tiles, &tile{matrix: m, class: class, panels: p, chunks: c})
		}
	}
	return tiles
}

// fullRuns cuts the chunks of full rows of a sum into runs of about size rows.
func (g *geometry) fullRuns(sum, size int) (runs []run) {
	rows := g.rows[sum][fullRows]
	chunks := groups(len(rows))
	for begin := 0; begin < chunks; {
		end := min(begin+max(size/side, 1), chunks)
		r := run{begin: begin, end: end}
		r.suffix[g.q-1] = g.pits[rows[begin*side]][g.q-1]
		runs = append(runs, r)
		begin = end
	}
	return runs
}

// lookup finds the tiles of open rows of a matrix by their panels and chunks.
type lookup struct {
	byPanel, byChunk []int // the run that a panel, or chunk, is in
	runs             int   // of panels
	first            int   // index of the first tile
}

func newLookup(panels, chunks []run, first int) lookup {
	return lookup{byPanel: spread(panels), byChunk: spread(chunks), runs: len(panels), first: first}
}

// spread lists the index of the run of each place.
func spread(runs []run) (index []int) {
	for i, r := range runs {
		for range r.end - r.begin {
			index = append(index, i)
		}
	}
	return index
}

// reads finds out which tiles of open rows a tile reads. It is not safe for concurrent
// use.
type reads struct {
	grid   *grid
	rows   map[panelsRead][]chunksOf
	panels map[chunksRead][]int32
	met    []int32 // by tile: the last tile asked for that reads it
	asked  int32
	list   []int32 // scratch
}

// panelsRead and chunksRead name the sides of tiles.
type panelsRead struct{ sum, panel int }

type chunksRead struct {
	sum   int
	class rowClass
	route int
	chunk int
}

// chunksOf lists the runs of chunks that a route leads to.
type chunksOf struct {
	route  int
	chunks []int32
}

func (g *grid) newReads() *reads {
	return &reads{grid: g, rows: map[panelsRead][]chunksOf{}, panels: map[chunksRead][]int32{}, met: make([]int32, len(g.tiles))}
}

// of returns the indices of the tiles that t reads, each once.
func (r *reads) of(t *tile) []int32 {
	r.asked++
	tiles := r.list[:0]
	for _, to := range r.chunksOf(t) {
		l := &r.grid.lookups[t.matrix.childOf(r.grid.n, to.route)]
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
	key := panelsRead{t.matrix.sum, t.panels.begin}
	known, ok := r.rows[key]
	if ok {
		return known
	}
	m := t.matrix
	met := make([]map[int32]bool, len(m.routes))
	for panel := t.panels.begin; panel < t.panels.end; panel++ {
		p := &m.programs[panel]
		for _, group := range p.Groups {
			if met[group.Route] == nil {
				met[group.Route] = map[int32]bool{}
			}
			byChunk := r.grid.lookups[m.childOf(r.grid.n, int(group.Route))].byChunk
			for _, row := range p.Rows[group.First:][:bits.OnesCount64(group.Columns)] {
				met[group.Route][int32(byChunk[row/side])] = true
			}
		}
	}
	for route, chunks := range met {
		if len(chunks) > 0 {
			known = append(known, chunksOf{route, slices.Sorted(maps.Keys(chunks))})
		}
	}
	r.rows[key] = known
	return known
}

// panelsOf lists the runs of panels that a route leads to from the chunks of t.
func (r *reads) panelsOf(t *tile, route int) []int32 {
	key := chunksRead{t.matrix.sum, t.class, route, t.chunks.begin}
	known, ok := r.panels[key]
	if ok {
		return known
	}
	pattern := t.matrix.routes[route].pattern
	first := pattern.first[t.class]
	byPanel := r.grid.lookups[t.matrix.childOf(r.grid.n, route)].byPanel
	for _, w := range pattern.words[t.class][first[t.chunks.begin]:first[t.chunks.end]] {
		known = append(known, int32(byPanel[w.Panel]))
	}
	slices.Sort(known)
	known = slices.Compact(known)
	r.panels[key] = known
	return known
}

// childOf returns the seeds in the mover's half after a move of the given route, in a
// layer of n seeds.
func (m *matrix) childOf(n, route int) int { return n - m.sum + m.routes[route].seeds }

// aim finds the scores that the moves of m lead to.
func (g *grid) aim(m *matrix) {
	for class := range classes {
		for i, r := range m.routes {
			child := g.matrices[m.childOf(g.n, i)]
			m.targets[class] = append(m.targets[class], compress.Route{
				Scores: child.scores, Stride: child.stride(),
				Words: r.pattern.words[class], First: r.pattern.first[class],
			})
		}
	}
}
