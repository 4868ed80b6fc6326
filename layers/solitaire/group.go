package solitaire

import (
	"math/bits"

	"grenier/layers/symmetry"
)

// Group is symmetries of a board that are a group, with tables for their images of positions. It
// does not change and is safe for concurrent use.
//
// An image of the position after a jump is the image before with three bits changed,
// which depend on the jump and the symmetry alone: with the images of a position at hand, the
// least image after a jump takes one operation for each symmetry.
type Group struct {
	board  *Board
	maps   []*symmetry.Map
	images [][256]images // of the pegs in eight holes
	flips  []images      // the holes that each jump changes
}

// images of a position under each of the symmetries. The first ones stand for all
// that a group has less than eight of.
type images [8]Position

// Group returns the symmetries of the board that carry a set of holes to itself: all of them for
// the empty set.
func (b *Board) Group(holes Position) *Group {
	g := &Group{board: b, images: make([][256]images, (b.Holes()+7)/8), flips: make([]images, len(b.jumps))}
	for i := range b.symmetries {
		if m := &b.symmetries[i]; symmetry.Image(m, holes) == holes {
			g.maps = append(g.maps, m)
		}
	}
	for i := range g.images {
		for pegs := range g.images[i] {
			g.images[i][pegs] = g.each(Position(pegs) << (8 * i) & b.Full())
		}
	}
	for number, j := range b.jumps {
		g.flips[number] = g.each(j.Pegs())
	}
	return g
}

// each returns the images of a position, hole by hole: the definition of the tables.
func (g *Group) each(p Position) (all images) {
	for i := range all {
		all[i] = symmetry.Image(g.by(i), p)
	}
	return all
}

// by returns the symmetry of an image.
func (g *Group) by(i int) *symmetry.Map {
	if i < len(g.maps) {
		return g.maps[i]
	}
	return g.maps[0]
}

// of returns the images of a position.
func (g *Group) of(p Position) images {
	all := g.images[0][p&255]
	for i := 1; i < len(g.images); i++ {
		part := &g.images[i][p>>(8*uint(i))&255]
		for k := range all {
			all[k] |= part[k]
		}
	}
	return all
}

// least returns the least of the images after a change of all of them.
func (a *images) least(flip *images) Position {
	return min(a[0]^flip[0], a[1]^flip[1], a[2]^flip[2], a[3]^flip[3], a[4]^flip[4], a[5]^flip[5], a[6]^flip[6], a[7]^flip[7])
}

// Size returns the number of symmetries.
func (g *Group) Size() int { return len(g.maps) }

// Canonical returns the least image of a position.
func (g *Group) Canonical(p Position) Position {
	all := g.of(p)
	return all.least(&images{})
}

// Orbit returns the number of different images of a position.
func (g *Group) Orbit(p Position) int {
	all, kept := g.of(p), 0
	for i := range g.maps {
		if all[i] == p {
			kept++
		}
	}
	return len(g.maps) / kept
}

// Children appends to dst the least image of the position after each jump of a position, and
// returns the extended slice.
func (g *Group) Children(dst []Position, p Position) []Position {
	all := g.of(p)
	b := g.board
	for i := range b.shifts {
		s := &b.shifts[i]
		for from := s.from & p & back(p, s.over) &^ back(p, s.to); from != 0; from &= from - 1 {
			dst = append(dst, all.least(&g.flips[s.number[bits.TrailingZeros64(from)]]))
		}
	}
	return dst
}

// Place returns the least image of the position that jump leads from p to or comes from, and where
// the given hole is in it: one place for each symmetry that leads there.
func (g *Group) Place(p Position, jump, hole int) (least Position, holes Position) {
	all, flip := g.of(p), &g.flips[jump]
	least = all.least(flip)
	for i, m := range g.maps {
		if all[i]^flip[i] == least {
			holes |= 1 << m[hole]
		}
	}
	return least, holes
}
