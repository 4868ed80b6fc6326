package board

import (
	"math/bits"

	"grenier/kernels/compress"
	"grenier/layers/awari"
	"grenier/layers/awari/halves"
)

// A Route is shared by all moves of the halves of one sum that give the opponent
// the same seeds.
type Route struct {
	move    halves.Move
	seeds   int      // that the opponent receives
	Pattern *pattern // what the move does to the opponent's half
}

// addMoves lists the moves of the halves of m: its routes and the programs of
// its panels.
func (g *Geometry) addMoves(m *Matrix, patterns *Patterns) {
	index := map[halves.Move]uint32{}
	m.Programs = make([]compress.Program, 0, m.Panels)
	var p compress.Program
	for panel := range m.Panels {
		p.Groups, p.Rows = p.Groups[:0], p.Rows[:0]
		for pit := range g.Q {
			g.addPit(m, &p, panel, pit, index)
		}
		m.Programs = append(m.Programs, compress.Program{Groups: exact(p.Groups), Rows: exact(p.Rows)})
	}
	for i := range m.Routes {
		r := &m.Routes[i]
		r.Pattern = patterns.get(g, g.N-m.Sum, r.move)
	}
}

// exact returns a copy that takes no more memory than it needs.
func exact[T any](list []T) []T { return append(make([]T, 0, len(list)), list...) }

// addPit adds to p what the columns of a panel can play from pit: a group for each
// number of seeds in it. In a group the halves A' that the moves leave ascend with A,
// since all differ from their A by the same.
func (g *Geometry) addPit(m *Matrix, p *compress.Program, panel, pit int, index map[halves.Move]uint32) {
	halvesOf := g.Pits[int(m.First)+panel*Side:][:m.Width(panel)]
	var with [awari.MaxSeeds + 1]uint64 // the columns by the seeds in the pit
	for c := range halvesOf {
		with[halvesOf[c][pit]] |= 1 << c
	}
	for movers := m.All(panel) &^ with[0]; movers != 0; {
		first := halvesOf[bits.TrailingZeros64(movers)]
		left := first
		group := compress.Group{Columns: with[first[pit]], First: uint32(len(p.Rows)), Route: m.route(halves.Sow(left[:g.Q], pit), g.Q, index)}
		difference := left.minus(first)
		for rest := group.Columns; rest != 0; rest &= rest - 1 {
			h := halvesOf[bits.TrailingZeros64(rest)].plus(difference)
			p.Rows = append(p.Rows, g.Place(g.Code(&h)).Row)
		}
		p.Groups = append(p.Groups, group)
		movers &^= group.Columns
	}
}

// route returns the index of the route of move, adding it if it is new.
func (m *Matrix) route(move halves.Move, q int, index map[halves.Move]uint32) uint32 {
	i, known := index[move]
	if !known {
		i = uint32(len(m.Routes))
		index[move] = i
		m.Routes = append(m.Routes, Route{move: move, seeds: move.Seeds(q)})
	}
	return i
}

// A Link is a route seen from where it leads: it finds the positions that make the move.
type Link struct {
	matrix  *Matrix // of the positions
	pattern *pattern
	words   []compress.Word // of the open rows
	byPanel []uint32        // see pattern
	marks   []Mark          // of the matrix
	chunks  int             // likewise
}

// Mark marks what a column reads by the link of the changed scores of a line of the given panel.
func (l *Link) Mark(column uint32, panel int, changed uint64) {
	marks := l.marks[int(column/Side)*l.chunks:][:l.chunks]
	for _, w := range l.words[l.byPanel[panel]:l.byPanel[panel+1]] {
		if w.Pick&changed != 0 {
			marks[w.Chunk].Add(1<<(column%Side), w.Place)
		}
	}
}

// A Step is a move seen from where it leads: the column of the half that makes it, in the low
// columnBits bits, and above them how it is made, a place in origins.links. Layers have at most
// 2869685 columns in a matrix, with 48 seeds, and 288 links in origins.
type Step uint32

const columnBits = 22

// Column returns the column of the half that makes the move.
func (s Step) Column() uint32 { return uint32(s) & (1<<columnBits - 1) }

// origins lists the moves that leave the open halves of one sum: those that leave
// row r are steps[first[r]:first[r+1]].
type origins struct {
	links []*Link
	First []uint32
	Steps []Step
}

// Link returns how a move is made.
func (o *origins) Link(s Step) *Link { return o.links[s>>columnBits] }

// newOrigins lists the moves that leave halves of the given sum.
func (g *Layer) newOrigins(sum int) *origins {
	o := &origins{First: make([]uint32, len(g.Rows[sum][OpenRows])+2)}
	g.eachGroup(sum, o, func(rows []uint32, _ uint64, _ Step) {
		for _, row := range rows {
			o.First[row+2]++
		}
	})
	for row := range o.First[1:] {
		o.First[row+1] += o.First[row]
	}
	o.Steps = make([]Step, o.First[len(o.First)-1])
	g.eachGroup(sum, o, func(rows []uint32, columns uint64, first Step) {
		for _, row := range rows { // first[r+1] goes from the first step of row r to its end
			o.Steps[o.First[row+1]] = first + Step(bits.TrailingZeros64(columns))
			o.First[row+1]++
			columns &= columns - 1
		}
	})
	o.First = o.First[:len(o.First)-1]
	return o
}

// eachGroup calls do for the moves that leave halves of the given sum, a group of a panel at a time: the rows of these
// halves, the columns of the panel that make the moves, and the step of a move from its column 0. It sets the links of o.
func (g *Layer) eachGroup(sum int, o *origins, do func(rows []uint32, columns uint64, first Step)) {
	o.links = o.links[:0]
	var at []int // by route: its place in links, -1 if it leads elsewhere
	for _, m := range g.Matrices[sum:] {
		at = at[:0]
		for i := range m.Routes {
			if m.Sum-m.Routes[i].seeds != sum {
				at = append(at, -1)
				continue
			}
			at = append(at, len(o.links))
			o.links = append(o.links, &g.links[int(m.links)+i])
		}
		for panel := range m.Programs {
			p := &m.Programs[panel]
			for _, group := range p.Groups {
				if how := at[group.Route]; how >= 0 {
					do(p.Rows[group.First:][:bits.OnesCount64(group.Columns)], group.Columns, Step(how)<<columnBits|Step(panel*Side))
				}
			}
		}
	}
}
