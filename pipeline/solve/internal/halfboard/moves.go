package halfboard

import (
	"math/bits"
	"slices"

	"grenier/kernels/compress"
	"grenier/layers/awari/halves"
)

// A route is shared by all moves of the halves of one sum that give the opponent
// the same seeds.
type route struct {
	move    halves.Move
	seeds   int      // that the opponent receives
	pattern *pattern // what the move does to the opponent's half
}

// addMoves lists the moves of the halves of m: its routes and the programs of
// its panels.
func (g *geometry) addMoves(m *matrix, patterns *patterns) {
	index := map[halves.Move]uint32{}
	m.programs = make([]compress.Program, 0, m.panels)
	var p compress.Program
	for panel := range m.panels {
		p.Groups, p.Rows = p.Groups[:0], p.Rows[:0]
		for pit := range g.q {
			g.addPit(m, &p, panel, pit, index)
		}
		m.programs = append(m.programs, compress.Program{Groups: exact(p.Groups), Rows: exact(p.Rows)})
	}
	for i := range m.routes {
		r := &m.routes[i]
		r.pattern = patterns.get(g, g.n-m.sum, r.move)
	}
}

// exact returns a copy that takes no more memory than it needs.
func exact[T any](list []T) []T { return append(make([]T, 0, len(list)), list...) }

// addPit adds to p what the columns of a panel can play from pit: a group for each
// number of seeds in it. In a group the halves A' that the moves leave ascend with A,
// since all differ from their A by the same.
func (g *geometry) addPit(m *matrix, p *compress.Program, panel, pit int, index map[halves.Move]uint32) {
	halvesOf := g.pits[int(m.first)+panel*side:][:m.width(panel)]
	movers := uint64(0)
	for c := range halvesOf {
		if halvesOf[c][pit] > 0 {
			movers |= 1 << c
		}
	}
	for movers != 0 {
		first := halvesOf[bits.TrailingZeros64(movers)]
		group := compress.Group{First: uint32(len(p.Rows)), Route: m.route(halves.Sow(slices.Clone(first[:g.q]), pit), g.q, index)}
		for left := movers; left != 0; left &= left - 1 {
			c := bits.TrailingZeros64(left)
			if h := halvesOf[c]; h[pit] == first[pit] {
				halves.Sow(h[:g.q], pit)
				group.Columns |= 1 << c
				p.Rows = append(p.Rows, g.place(g.code(&h)).row)
			}
		}
		p.Groups = append(p.Groups, group)
		movers &^= group.Columns
	}
}

// route returns the index of the route of move, adding it if it is new.
func (m *matrix) route(move halves.Move, q int, index map[halves.Move]uint32) uint32 {
	i, known := index[move]
	if !known {
		i = uint32(len(m.routes))
		index[move] = i
		m.routes = append(m.routes, route{move: move, seeds: move.Seeds(q)})
	}
	return i
}

// A link is a route seen from where it leads: it finds the positions that make the move.
type link struct {
	matrix  *matrix // of the positions
	pattern *pattern
	words   []compress.Word // of the open rows
	byPanel []uint32        // see pattern
	marks   []mark          // of the matrix
	chunks  int             // likewise
}

// A step is a move seen from where it leads: the column of the half that makes it, in the low
// columnBits bits, and above them how it is made, a place in origins.links. Layers have at most
// 2869685 columns in a matrix, that of 48 seeds, and 288 links in origins.
type step uint32

const columnBits = 22

// column returns the column of the half that makes the move.
func (s step) column() uint32 { return uint32(s) & (1<<columnBits - 1) }

// origins lists the moves that leave the open halves of one sum: those that leave
// row r are steps[first[r]:first[r+1]].
type origins struct {
	links []*link
	first []uint32
	steps []step
}

// link returns how a move is made.
func (o *origins) link(s step) *link { return o.links[s>>columnBits] }

// newOrigins lists the moves that leave halves of the given sum.
func (g *layer) newOrigins(sum int) *origins {
	o := &origins{first: make([]uint32, len(g.rows[sum][openRows])+2)}
	g.eachStep(sum, o, func(row uint32, _ step) { o.first[row+2]++ })
	for row := range o.first[1:] {
		o.first[row+1] += o.first[row]
	}
	o.steps = make([]step, o.first[len(o.first)-1])
	g.eachStep(sum, o, func(row uint32, s step) { // first[r+1] goes from the first step of row r to its end
		o.steps[o.first[row+1]] = s
		o.first[row+1]++
	})
	o.first = o.first[:len(o.first)-1]
	return o
}

// eachStep calls do for the moves that leave halves of the given sum, with the rows
// of these, and lists the links of o.
func (g *layer) eachStep(sum int, o *origins, do func(row uint32, s step)) {
	o.links = o.links[:0]
	for _, m := range g.matrices[sum:] {
		routes := m.routesTo(sum)
		begin := len(o.links)
		for _, r := range routes {
			o.links = append(o.links, &g.links[m.links+r])
		}
		for panel := range m.programs {
			p := &m.programs[panel]
			for _, group := range p.Groups {
				at, leads := slices.BinarySearch(routes, group.Route)
				if !leads {
					continue
				}
				rows, how := p.Rows[group.First:], step(begin+at)<<columnBits
				for i, left := 0, group.Columns; left != 0; i, left = i+1, left&(left-1) {
					do(rows[i], how|step(panel*side+bits.TrailingZeros64(left)))
				}
			}
		}
	}
}

// routesTo returns the routes that leave halves of the given sum.
func (m *matrix) routesTo(sum int) (routes []uint32) {
	for i := range m.routes {
		if m.sum-m.routes[i].seeds == sum {
			routes = append(routes, uint32(i))
		}
	}
	return routes
}
