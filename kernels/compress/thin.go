package compress

import (
	"math/bits"

	"grenier/kernels/internal/shared"
	"grenier/kernels/window"
)

// leastThin is the LeastFunc of routes that lead to thin blocks: the one that defines the others.
func leastThin(dst, _ *Block, columns uint64, p *Program, routes []Route, chunk int, _ []int8) {
	begin(dst, nil, columns)
	for i := range p.Groups {
		g := &p.Groups[i]
		if g.Columns&columns == 0 {
			continue
		}
		route := &routes[g.Route]
		words := route.Words[route.First[chunk]:route.First[chunk+1]]
		for k := range words {
			var s spread
			s.set(&words[k])
			s.thinGroup(dst, columns, g, p.Rows[g.First:], route.Scores, route.Blocks[int(words[k].Panel)*route.Stride:])
		}
	}
}

// thinGroup is group for a panel of thin blocks, which begin at the given places of scores.
func (s *spread) thinGroup(dst *Block, columns uint64, g *Group, rows []uint32, scores []int8, blocks []uint64) {
	var line shared.Line
	for i, left := 0, g.Columns; left != 0; i, left = i+1, left&(left-1) {
		c := bits.TrailingZeros64(left)
		if columns>>c&1 == 0 {
			continue
		}
		row := rows[i]
		window.Thin(scores[blocks[row/Side]:]).Load(int(row%Side), &line)
		s.least((*[Side]int8)(dst[c*Side:]), line.Scores())
	}
}

// FetchThin is the FetchFunc of thin blocks. It does nothing: where lines are says a table that would
// have to be read first.
func FetchThin(*Block, uint64, *Program, []Route, int, []int8, uint64) {}
