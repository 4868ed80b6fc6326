package halfboard

import (
	"context"
	"math/bits"

	"grenier/kernels/compress"
)

// newGrid lays out the layer of geo.n seeds and cuts it into tiles of about size
// rows and columns. If it is to be paged, scores of a chunk are whole pages. No scores
// are allocated yet.
func newGrid(ctx context.Context, workers int, geo *geometry, patterns *patterns, size int, paged bool) (*grid, error) {
	g := &grid{geometry: geo, matrices: make([]*matrix, geo.n+1), origins: make([]*origins, geo.n+1)}
	sums := make([]int, geo.n+1)
	for sum := range sums {
		sums[sum] = sum
	}
	err := forEach(ctx, workers, sums, func(_, _, sum int) error {
		g.matrices[sum] = geo.newMatrix(sum, paged)
		geo.addMoves(g.matrices[sum], patterns)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, m := range g.matrices {
		g.link(m)
	}
	if err := forEach(ctx, workers, sums, func(_, _, sum int) error {
		g.origins[sum] = g.newOrigins(sum)
		return nil
	}); err != nil {
		return nil, err
	}
	g.cutTiles(size)
	return g, nil
}

// link adds the links of m.
func (g *grid) link(m *matrix) {
	m.links = uint32(len(g.links))
	for _, r := range m.routes {
		g.links = append(g.links, link{
			words: r.pattern.words[openRows], byPanel: r.pattern.byPanel, marks: m.marks, chunks: m.chunks[openRows],
		})
	}
}

// cutTiles cuts the matrices into tiles and finds out which tiles read which.
func (g *grid) cutTiles(size int) {
	at := make([]lookup, g.n+1)
	for sum, m := range g.matrices {
		panels, chunks := g.panelRuns(sum, size), g.chunkRuns(g.n-sum, size)
		at[sum] = newLookup(panels, chunks, len(g.tiles))
		g.tiles = appendTiles(g.tiles, m, openRows, panels, chunks)
		g.full = appendTiles(g.full, m, fullRows, panels, evenRuns(m.chunks[fullRows], size/side))
	}
	g.lookups = at
	for _, t := range g.tiles {
		g.eachRead(t, func(child *tile) { child.parents = append(child.parents, t) })
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

// evenRuns cuts a number of chunks into runs.
func evenRuns(chunks, size int) (runs []run) {
	for begin := 0; begin < chunks; {
		end := min(begin+max(size, 1), chunks)
		runs = append(runs, run{begin: begin, end: end})
		begin = end
	}
	return runs
}

// lookup finds the tiles of a matrix by their panels and chunks.
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

// span is a range of whole numbers, both ends included.
type span struct{ low, high int }

func (s *span) add(x int) { s.low, s.high = min(s.low, x), max(s.high, x) }

// eachRead calls do once for each tile that t reads.
func (g *grid) eachRead(t *tile, do func(child *tile)) {
	m := t.matrix
	met := map[*tile]bool{}
	for i, rows := range t.rowsRead() {
		r := &m.routes[i]
		words, first := r.pattern.words[t.class], r.pattern.first[t.class]
		words = words[first[t.chunks.begin]:first[t.chunks.end]]
		if rows.low > rows.high || len(words) == 0 {
			continue
		}
		l := &g.lookups[g.n-m.sum+r.seeds]
		panels := span{int(words[0].Panel), int(words[0].Panel)}
		for _, w := range words {
			panels.add(int(w.Panel))
		}
		for c := l.byChunk[rows.low/side]; c <= l.byChunk[rows.high/side]; c++ {
			for p := l.byPanel[panels.low]; p <= l.byPanel[panels.high]; p++ {
				if child := g.tiles[l.first+c*l.runs+p]; !met[child] {
					met[child] = true
					do(child)
				}
			}
		}
	}
}

// rowsRead returns, by route, which rows the moves of t lead to.
func (t *tile) rowsRead() []span {
	rows := make([]span, len(t.matrix.routes))
	for i := range rows {
		rows[i] = span{1, 0}
	}
	for panel := t.panels.begin; panel < t.panels.end; panel++ {
		p := &t.matrix.programs[panel]
		for _, group := range p.Groups {
			s := &rows[group.Route]
			for _, row := range p.Rows[group.First:][:bits.OnesCount64(group.Columns)] {
				if s.low > s.high {
					*s = span{int(row), int(row)}
				}
				s.add(int(row))
			}
		}
	}
	return rows
}

// aim finds the scores that the moves of m lead to.
func (g *grid) aim(m *matrix) {
	for class := range classes {
		for _, r := range m.routes {
			child := g.matrices[g.n-m.sum+r.seeds]
			m.targets[class] = append(m.targets[class], compress.Route{
				Scores: child.scores, Stride: child.stride(),
				Words: r.pattern.words[class], First: r.pattern.first[class],
			})
		}
	}
}
