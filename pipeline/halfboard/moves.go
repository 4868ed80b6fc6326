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
	for panel := range m.panels {
		var p compress.Program
		for pit := range g.q {
			g.addPit(m, &p, panel, pit, index)
		}
		m.programs = append(m.programs, p)
	}
	for i := range m.routes {
		r := &m.routes[i]
		r.pattern = patterns.get(g, g.n-m.sum, r.move)
	}
}

// addPit adds to p what the columns of a panel can play from pit: a group for each number of
// seeds in it. In a group the halves A' that the moves leave ascend with A, since all differ from
// their A by the same.
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
	words   []compress.Word // of the open rows
	byPanel []uint32        // see pattern
	marks   []mark          // of the matrix of the positions
	chunks  int             // of that matrix
}

// An origin is a panel of moving halves of which some columns lead into some of
// the rows of a chunk by the same route: one step each.
type origin struct {
	link  uint32
	panel uint32
	first uint32 // of the steps
}

// step is one move: from the half in a column of a panel to that in a row of a chunk.
type step struct{ column uint8 }

// origins lists the moves that leave the open halves of one sum, by the chunk of rows that these
// are in: chunk k has the origins first[k] to first[k+1].
type origins struct {
	first []uint32
	rows  []uint64 // by origin: a bit for each row with a step
	from  []origin // and one more, where the steps end
	steps []step
}

// newOrigins lists the moves that leave halves of the given sum.
func (g *grid) newOrigins(sum int) *origins {
	chunks := make([]origins, g.chunks(sum, openRows))
	for _, m := range g.matrices[sum:] {
		for panel := range m.programs {
			p := &m.programs[panel]
			for _, group := range p.Groups {
				if m.sum-m.routes[group.Route].seeds == sum {
					from := origin{link: m.links + group.Route, panel: uint32(panel)}
					addOrigins(chunks, from, group.Columns, p.Rows[group.First:])
				}
			}
		}
	}
	return join(chunks)
}

// addOrigins adds the moves of a group to the chunks they lead to; rows ascend.
func addOrigins(chunks []origins, from origin, columns uint64, rows []uint32) {
	chunk := -1
	for i, left := 0, columns; left != 0; i, left = i+1, left&(left-1) {
		o := &chunks[rows[i]/side]
		if int(rows[i]/side) != chunk {
			chunk = int(rows[i] / side)
			from.first = uint32(len(o.steps))
			o.from, o.rows = append(o.from, from), append(o.rows, 0)
		}
		row := rows[i] % side
		o.rows[len(o.rows)-1] |= 1 << row
		o.steps = append(o.steps, step{uint8(bits.TrailingZeros64(left))})
	}
}

// join puts the lists of chunks together.
func join(chunks []origins) *origins {
	all := &origins{}
	for i := range chunks {
		all.first = append(all.first, uint32(len(all.from)))
		for _, from := range chunks[i].from {
			from.first += uint32(len(all.steps))
			all.from = append(all.from, from)
		}
		all.rows = append(all.rows, chunks[i].rows...)
		all.steps = append(all.steps, chunks[i].steps...)
	}
	all.first = append(all.first, uint32(len(all.from)))
	all.from = append(all.from, origin{first: uint32(len(all.steps))})
	return all
}
