package halfboard

import (
	"cmp"
	"context"
	"slices"

	"grenier/io/crew"
	"grenier/kernels/compress"
)

// A layer is the matrices of all positions with n seeds, and the moves between them.
type layer struct {
	*geometry
	matrices []*matrix  // by seeds in the mover's half
	origins  []*origins // by the sum of what moves leave
	links    []link
}

// newLayer lays out the layer of geo.n seeds, with lines of line bytes, but takes no memory for scores.
func newLayer(ctx context.Context, workers int, geo *geometry, patterns *patterns, line int) (*layer, error) {
	g := &layer{geometry: geo, matrices: make([]*matrix, geo.n+1), origins: make([]*origins, geo.n+1)}
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
func (g *layer) link(m *matrix) {
	m.links = uint32(len(g.links))
	for _, r := range m.routes {
		g.links = append(g.links, link{
			matrix: m, pattern: r.pattern,
			words: r.pattern.words[openRows], byPanel: r.pattern.byPanel, marks: m.marks, chunks: m.chunks[openRows],
		})
	}
}

// childOf returns the seeds in the mover's half after a move of the given route, in a
// layer of n seeds.
func (m *matrix) childOf(n, route int) int { return n - m.sum + m.routes[route].seeds }

// allocate gives memory to the matrices, offers first, then scores, and aims the moves.
func (g *layer) allocate(memory *region, l layout) (allOffers, allScores []int8) {
	allOffers = memory.take(l.offers[openRows] + l.offers[fullRows])
	allScores = memory.take(l.scores)
	offers, scores := allOffers, allScores
	for _, m := range g.matrices {
		l := m.layout()
		for class := range classes {
			m.offers[class], offers = offers[:l.offers[class]], offers[l.offers[class]:]
		}
		m.scores, scores = scores[:l.scores], scores[l.scores:]
	}
	g.aim()
	return allOffers, allScores
}

// aim finds the scores that moves lead to, when all matrices have memory for theirs.
func (g *layer) aim() {
	for _, m := range g.matrices {
		for class := range classes {
			g.aimRows(m, class)
		}
	}
}

func (g *layer) aimRows(m *matrix, class rowClass) {
	m.targets[class] = m.targets[class][:0]
	for i, r := range m.routes {
		child := g.matrices[m.childOf(g.n, i)]
		m.targets[class] = append(m.targets[class], compress.Route{
			Scores: child.scores, Stride: child.stride(), Blocks: child.blocks,
			Words: r.pattern.words[class], First: r.pattern.first[class],
		})
	}
}

// rowStart returns the rank of the first board of n seeds whose opponent has the given
// half.
func (g *layer) rowStart(n int, code uint32) uint64 {
	return g.halves.RowStart(n, g.pits[code][:g.q])
}

// panelOf is a panel of a matrix.
type panelOf struct {
	matrix *matrix
	panel  int
}

// captureRun is about the number of halves in what captures go through together.
const captureRun = 1024

// panelsInOrder lists all panels in the order of captures. What a panel captures stands in
// rows of lower layers that begin like the halves of the panel, so those that agree in
// their last pits follow each other: they read the same blocks.
func (g *layer) panelsInOrder() (panels []panelOf) {
	type part struct {
		matrix *matrix
		run    run
	}
	var parts []part
	for sum, m := range g.matrices {
		for _, r := range g.panelRuns(sum, captureRun) {
			parts = append(parts, part{m, r})
		}
	}
	slices.SortStableFunc(parts, func(x, y part) int {
		for pit := g.q - 1; pit >= 0; pit-- {
			if c := cmp.Compare(y.run.suffix[pit], x.run.suffix[pit]); c != 0 {
				return c
			}
		}
		return 0
	})
	for _, p := range parts {
		for panel := p.run.begin; panel < p.run.end; panel++ {
			panels = append(panels, panelOf{p.matrix, panel})
		}
	}
	return panels
}
