package halfboard

import (
	"slices"

	"grenier/layers/awari/halves"
)

// A route is shared by all moves out of one slab of A that give the opponent
// the same seeds and leave a half in the same slab.
type route struct {
	move  halves.Move
	seeds int // that the opponent receives
	rows  int // slab of A' among the halves of its sum: the child's rows
}

// An edge is one move of one A: its route and the A' that it leaves, by code and
// by row. A' has an empty pit, the origin, so the row is an open one.
type edge struct {
	row   uint32
	code  uint32
	route uint16
}

// slabMoves holds the moves of every A of a slab: those of column c are
// edges[first[c]:first[c+1]].
type slabMoves struct {
	routes []route
	first  []uint32
	edges  []edge
}

// of returns the moves of column c.
func (s *slabMoves) of(c int) []edge { return s.edges[s.first[c]:s.first[c+1]] }

// movesOf lists the moves of the halves of s, which have sum seeds.
func (g *geometry) movesOf(sum int, s *slab) slabMoves {
	base := g.halves.Half().First(sum) + uint64(s.start)
	columns := g.pits[base : base+uint64(s.size)]
	moves := slabMoves{first: make([]uint32, 1, s.size+1), edges: make([]edge, 0, g.countMoves(columns))}
	for _, h := range columns {
		for pit, seeds := range h[:g.q] {
			if seeds > 0 {
				moves.edges = append(moves.edges, g.edge(&moves, h, pit))
			}
		}
		moves.first = append(moves.first, uint32(len(moves.edges)))
	}
	return moves
}

// countMoves returns the number of pits with seeds.
func (g *geometry) countMoves(columns []half) int {
	moves := 0
	for _, h := range columns {
		for _, seeds := range h[:g.q] {
			moves += min(int(seeds), 1)
		}
	}
	return moves
}

// edge sows pit of h and returns the edge, adding its route if it is new.
func (g *geometry) edge(moves *slabMoves, h half, pit int) edge {
	m := halves.Sow(h[:g.q], pit)
	code := g.code(&h)
	at := g.places[code]
	r := route{move: m, seeds: m.Seeds(g.q), rows: int(at.slab)}
	index := slices.Index(moves.routes, r)
	if index < 0 {
		index = len(moves.routes)
		moves.routes = append(moves.routes, r)
	}
	return edge{row: uint32(at.row), code: code, route: uint16(index)}
}
