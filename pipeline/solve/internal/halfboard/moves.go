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
				p.Rows = append(p.Rows, g.places[g.code(&h)].row)
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

// A step is a move seen from where it leads: how it is made, and the column of the
// half that makes it.
type step struct{ link, column uint32 }

// origins lists the moves that leave the open halves of one sum: those that leave
// row r are steps[first[r]:first[r+1]].
type origins struct {
	first []uint32
	steps []step
}

// newOrigins lists the moves that leave halves of the given sum.
func (g *grid) newOrigins(sum int) *origins {
	o := &origins{first: make([]uint32, len(g.rows[sum][openRows])+2)}
	g.eachStep(sum, func(row uint32, _ step) { o.first[row+2]++ })
	for row := range o.first[1:] {
		o.first[row+1] += o.first[row]
	}
	o.steps = make([]step, o.first[len(o.first)-1])
	g.eachStep(sum, func(row uint32, s step) { // first[r+1] goes from the first step of row r to its end
		o.steps[o.first[row+1]] = s
		o.first[row+1]++
	})
	o.first = o.first[:len(o.first)-1]
	return o
}

// eachStep calls do for the moves that leave halves of the given sum, with the rows
// of these.
func (g *grid) eachStep(sum int, do func(row uint32, s step)) {
	for _, m := range g.matrices[sum:] {
		for panel := range m.programs {
			p := &m.programs[panel]
			for _, group := range p.Groups {
				if m.sum-m.routes[group.Route].seeds != sum {
					continue
				}
				rows := p.Rows[group.First:]
				for i, left := 0, group.Columns; left != 0; i, left = i+1, left&(left-1) {
					do(rows[i], step{m.links + group.Route, uint32(panel*side + bits.TrailingZeros64(left))})
				}
			}
		}
	}
}
