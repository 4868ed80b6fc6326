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

// strip is a column of tiles: the A of one slab with all B.
type strip struct {
	sum    int // seeds of A
	index  int // of the slab among those of sum
	routes []route
	// The moves of column c are edges[first[c]:first[c+1]].
	first []uint32
	edges []edge

	// offers holds what captures and the end of the game are worth, negated,
	// by class and column: that of a position is offers[class][col*rows + row],
	// with rows counted through all slabs of B. It is blocked when there is no
	// such move.
	offers [classes][]int8
}

// moves returns the moves of column c.
func (s *strip) moves(c int) []edge { return s.edges[s.first[c]:s.first[c+1]] }

// newStrip lists the moves of the halves of a slab.
func (g *geometry) newStrip(sum, index int) *strip {
	s := &g.slabs[sum][index]
	columns := g.pits[s.first:][:s.size]
	strip := &strip{
		sum: sum, index: index,
		first: make([]uint32, 1, s.size+1), edges: make([]edge, 0, g.countMoves(columns)),
	}
	for _, h := range columns {
		for pit, seeds := range h[:g.q] {
			if seeds > 0 {
				strip.edges = append(strip.edges, g.edge(strip, h, pit))
			}
		}
		strip.first = append(strip.first, uint32(len(strip.edges)))
	}
	return strip
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
func (g *geometry) edge(s *strip, h half, pit int) edge {
	m := halves.Sow(h[:g.q], pit)
	code := g.code(&h)
	at := g.places[code]
	r := route{move: m, seeds: m.Seeds(g.q), rows: int(at.slab)}
	index := slices.Index(s.routes, r)
	if index < 0 {
		index = len(s.routes)
		s.routes = append(s.routes, r)
	}
	return edge{row: at.row, code: code, route: uint16(index)}
}
