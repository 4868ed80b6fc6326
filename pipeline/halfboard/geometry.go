package halfboard

import (
	"grenier/kernels/colex"
	"grenier/layers/awari"
)

// maxHalf is the largest number of pits in a half.
const maxHalf = awari.MaxPits / 2

// half is a half-board; pits from the game's half size on are 0.
type half [maxHalf]uint8

func (h half) sum() int {
	n := 0
	for _, x := range h {
		n += int(x)
	}
	return n
}

func (h half) hasEmpty(q int) bool {
	for _, x := range h[:q] {
		if x == 0 {
			return true
		}
	}
	return false
}

// rowClass separates the rows whose half has an empty pit from the others.
type rowClass uint8

const (
	openRows rowClass = iota
	fullRows
	classes
)

// A slab is a run of halves with the same number of seeds and consecutive ranks:
// one row or column of tiles. Halves are named by their colex codes, which count
// through all numbers of seeds.
type slab struct {
	first uint32       // code of the slab's first half
	size  int          // halves in it
	rows  [classes]int // open and full ones
	above [classes]int // rows of the class in the slabs before it
}

// code returns the code of the half in column col.
func (s *slab) code(col int) uint32 { return s.first + uint32(col) }

// place says where a half stands: which slab of its sum, which column, and
// which row of its class.
type place struct {
	slab  uint32
	col   uint32
	row   uint32
	class rowClass
}

// geometry cuts the halves with up to n seeds into slabs. How a sum is cut does
// not depend on n.
type geometry struct {
	q      int // pits in a half
	n      int // seeds on the board
	halves *colex.Halves
	slabs  [][]slab            // by sum
	rows   [][classes][]uint32 // by sum: codes of the halves of each class
	pits   []half              // by code
	places []place             // by code
}

// newGeometry cuts halves of q pits into slabs of about size halves at most.
func newGeometry(q, n, size int) (*geometry, error) {
	halves, err := colex.NewHalves(q, n)
	if err != nil {
		return nil, err
	}
	g := &geometry{q: q, n: n, halves: halves, slabs: make([][]slab, n+1), rows: make([][classes][]uint32, n+1)}
	count := halves.Half().First(n + 1)
	g.pits = make([]half, 0, count)
	g.places = make([]place, 0, count)
	for sum := range n + 1 {
		if err := g.addSum(sum, size); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// addSum appends the halves with sum seeds, in rank order, and their slabs.
func (g *geometry) addSum(sum, size int) error {
	boards, err := g.halves.Half().Iterate(sum)
	if err != nil {
		return err
	}
	for _, board := range boards {
		var h half
		copy(h[:], board)
		g.pits = append(g.pits, h)
	}
	for i, size := range cut(g.q, sum, size) {
		g.slabs[sum] = append(g.slabs[sum], g.addSlab(sum, i, size))
	}
	return nil
}

// addSlab gives the next size halves their places and returns their slab.
func (g *geometry) addSlab(sum, index, size int) slab {
	s := slab{first: uint32(len(g.places)), size: size}
	rows := &g.rows[sum]
	for class := range classes {
		s.above[class] = len(rows[class])
	}
	for col := range size {
		class := fullRows
		if g.pits[s.code(col)].hasEmpty(g.q) {
			class = openRows
		}
		row := len(rows[class]) - s.above[class]
		g.places = append(g.places, place{slab: uint32(index), col: uint32(col), row: uint32(row), class: class})
		rows[class] = append(rows[class], s.code(col))
	}
	for class := range classes {
		s.rows[class] = len(rows[class]) - s.above[class]
	}
	return s
}

// rowCodes returns the codes of the halves of one class of the slab of sum.
func (g *geometry) rowCodes(sum int, s *slab, class rowClass) []uint32 {
	return g.rows[sum][class][s.above[class]:][:s.rows[class]]
}

// cut returns the sizes of the slabs of the halves of q pits with sum seeds, in
// rank order. Halves that agree in their last pits have consecutive ranks, and
// moves lead them to halves that agree again: such runs are the slabs, short ones
// joined to the runs beside them that differ in the same pit.
func cut(q, sum, size int) []int {
	count, err := colex.Binomial(sum+q-1, q-1)
	if err != nil {
		panic(err) // far below 64 bits for any half
	}
	if q == 1 || count <= uint64(size) {
		return []int{int(count)}
	}
	var slabs []int
	joinable := false
	for last := sum; last >= 0; last-- {
		run := cut(q-1, sum-last, size)
		if end := len(slabs) - 1; joinable && len(run) == 1 && slabs[end]+run[0] <= size {
			slabs[end] += run[0]
			continue
		}
		slabs = append(slabs, run...)
		joinable = len(run) == 1
	}
	return slabs
}

// code returns the code of h.
func (g *geometry) code(h *half) uint32 { return uint32(g.halves.Half().Code(h[:g.q])) }

// board returns the position with the given halves.
func (g *geometry) board(mover, opponent uint32) awari.Board {
	var b awari.Board
	copy(b[:g.q], g.pits[mover][:g.q])
	copy(b[g.q:], g.pits[opponent][:g.q])
	return b
}
