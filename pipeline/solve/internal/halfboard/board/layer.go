// Package board lays out a layer of awari, halves of the board instead of boards, and computes its captures. It is the
// lowest room of the engine (package halfboard tells the whole story) and knows neither sweeps nor files.
//
// Start with Geometry, which numbers the halves, and Matrix, which says where a position stands: its mover's half is a
// column, its opponent's half a row. NewLayer makes the matrices of a layer, ListMoves lists the moves between them
// (moves.go, patterns.go). Allocate gives them memory (Region), and kernels find the children of a block by Matrix.Programs and
// Matrix.Targets. A Round computes offers, the best captures, of some panels, from pieces of the layers below.
package board

import (
	"cmp"
	"context"
	"slices"

	"grenier/io/crew"
	"grenier/kernels/compress"
)

// A Layer is the matrices of all positions with n seeds, and the moves between them.
type Layer struct {
	*Geometry
	Matrices []*Matrix  // by seeds in the mover's half
	Origins  []*origins // by the sum of what moves leave
	links    []Link
}

// NewLayer lays out the layer of geo.n seeds, with lines of line bytes, but lists no moves and takes no memory for scores.
func NewLayer(geo *Geometry, line int) *Layer {
	g := &Layer{Geometry: geo, Matrices: make([]*Matrix, geo.N+1), Origins: make([]*origins, geo.N+1)}
	for sum := range g.Matrices {
		g.Matrices[sum] = geo.newMatrix(sum, line)
	}
	return g
}

// ListMoves lists the moves, which only reading scores does not need.
func (g *Layer) ListMoves(ctx context.Context, workers int, patterns *Patterns) error {
	err := crew.Each(ctx, workers, len(g.Matrices), func(_, i int) error {
		g.addMoves(g.Matrices[g.N-i], patterns) // the widest ones first, so that no worker ends late
		return nil
	})
	if err != nil {
		return err
	}
	for _, m := range g.Matrices {
		g.link(m)
	}
	return crew.Each(ctx, workers, len(g.Origins), func(_, sum int) error {
		g.Origins[sum] = g.newOrigins(sum)
		return nil
	})
}

// link adds the links of m.
func (g *Layer) link(m *Matrix) {
	m.links = uint32(len(g.links))
	for _, r := range m.Routes {
		g.links = append(g.links, Link{
			matrix: m, pattern: r.Pattern,
			words: r.Pattern.Words[OpenRows], byPanel: r.Pattern.byPanel, marks: m.Marks, chunks: m.Chunks[OpenRows],
		})
	}
}

// ChildOf returns the seeds in the mover's half after a move of the given route, in a
// layer of n seeds.
func (m *Matrix) ChildOf(n, route int) int { return n - m.Sum + m.Routes[route].seeds }

// Allocate gives memory to the matrices, offers first, then scores.
func (g *Layer) Allocate(memory *Region, l Layout) (allOffers, allScores []int8) {
	allOffers = memory.Take(l.Offers[OpenRows] + l.Offers[FullRows])
	allScores = memory.Take(l.Scores)
	offers, scores := allOffers, allScores
	for _, m := range g.Matrices {
		l := m.layout()
		for class := range Classes {
			m.offers[class], offers = offers[:l.Offers[class]], offers[l.Offers[class]:]
		}
		m.Scores, scores = scores[:l.Scores], scores[l.Scores:]
	}
	return allOffers, allScores
}

// Aim finds the scores that moves lead to, when all matrices have memory for theirs.
func (g *Layer) Aim() {
	for _, m := range g.Matrices {
		for class := range Classes {
			g.aimRows(m, class)
		}
	}
}

func (g *Layer) aimRows(m *Matrix, class RowClass) {
	m.Targets[class] = m.Targets[class][:0]
	for i, r := range m.Routes {
		child := g.Matrices[m.ChildOf(g.N, i)]
		m.Targets[class] = append(m.Targets[class], compress.Route{
			Scores: child.Scores, Stride: child.Stride(), Blocks: child.Blocks,
			Words: r.Pattern.Words[class], First: r.Pattern.First[class],
		})
	}
}

// RowStart returns the rank of the first board of n seeds whose opponent has the given
// half.
func (g *Layer) RowStart(n int, code uint32) uint64 {
	return g.Halves.RowStart(n, g.Pits[code][:g.Q])
}

// PanelOf is a panel of a matrix.
type PanelOf struct {
	Matrix *Matrix
	Panel  int
}

// CaptureRun is about the number of halves in what captures go through together.
const CaptureRun = 1024

// PanelsInOrder lists all panels in the order of captures. What a panel captures stands in
// rows of lower layers that begin like the halves of the panel, so those that agree in
// their last pits follow each other: they read the same blocks.
func (g *Layer) PanelsInOrder() (panels []PanelOf) {
	type part struct {
		matrix *Matrix
		run    Run
	}
	var parts []part
	for sum, m := range g.Matrices {
		for _, r := range g.PanelRuns(sum, CaptureRun) {
			parts = append(parts, part{m, r})
		}
	}
	slices.SortStableFunc(parts, func(x, y part) int {
		for pit := g.Q - 1; pit >= 0; pit-- {
			if c := cmp.Compare(y.run.Suffix[pit], x.run.Suffix[pit]); c != 0 {
				return c
			}
		}
		return 0
	})
	for _, p := range parts {
		for panel := p.run.Begin; panel < p.run.End; panel++ {
			panels = append(panels, PanelOf{p.matrix, panel})
		}
	}
	return panels
}
