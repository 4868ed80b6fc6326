package board

import (
	"slices"

	"grenier/kernels/colex"
	"grenier/kernels/compress"
	"grenier/layers/awari"
)

// maxHalf is the largest number of pits in a half.
const maxHalf = awari.MaxPits / 2

// Side is the number of columns in a panel, of rows in a chunk, and of scores in
// a line.
const Side = compress.Side

// Half is a half-board; pits from the game's half size on are 0.
type Half [maxHalf]uint8

// Sum returns the seeds of h.
func (h Half) Sum() int {
	n := 0
	for _, x := range h {
		n += int(x)
	}
	return n
}

// plus and minus add and subtract pit by pit, modulo 256.
func (h Half) plus(x Half) Half {
	for pit := range h {
		h[pit] += x[pit]
	}
	return h
}

func (h Half) minus(x Half) Half {
	for pit := range h {
		h[pit] -= x[pit]
	}
	return h
}

func (h Half) hasEmpty(q int) bool { return slices.Contains(h[:q], 0) }

// RowClass separates the rows whose half has an empty pit from the others.
type RowClass uint8

const (
	OpenRows RowClass = iota
	FullRows
	Classes
)

// Place says which row of its sum and class belongs to a half.
type Place struct {
	Row   uint32
	Class RowClass
}

// packedPlace is a place in less memory: the row, and the class in its lowest bit.
type packedPlace uint32

// Place returns the place of the half with the given code.
func (g *Geometry) Place(code uint32) Place {
	p := g.places[code]
	return Place{uint32(p >> 1), RowClass(p & 1)}
}

// Geometry numbers the halves with up to n seeds. Halves are named by their colex
// codes, which count through all sums: the columns of a matrix are the halves
// of one sum in the order of their codes, and so are its rows, class by class.
type Geometry struct {
	Q      int // pits in a half
	N      int // seeds on the board
	Halves *colex.Halves
	Pits   []Half              // by code
	places []packedPlace       // by code
	Rows   [][Classes][]uint32 // by sum: codes of the halves of each class
}

// NewGeometry numbers the halves of q pits with up to n seeds.
func NewGeometry(q, n int) (*Geometry, error) {
	halves, err := colex.NewHalves(q, n)
	if err != nil {
		return nil, err
	}
	g := &Geometry{Q: q, N: n, Halves: halves, Rows: make([][Classes][]uint32, n+1)}
	count := halves.Half().First(n + 1)
	g.Pits = make([]Half, 0, count)
	g.places = make([]packedPlace, 0, count)
	for sum := range n + 1 {
		if err := g.addSum(sum); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// addSum appends the halves with sum seeds.
func (g *Geometry) addSum(sum int) error {
	boards, err := g.Halves.Half().Iterate(sum)
	if err != nil {
		return err
	}
	for _, board := range boards {
		var h Half
		copy(h[:], board)
		class := FullRows
		if h.hasEmpty(g.Q) {
			class = OpenRows
		}
		rows := &g.Rows[sum][class]
		g.places = append(g.places, packedPlace(len(*rows))<<1|packedPlace(class))
		*rows = append(*rows, uint32(len(g.Pits)))
		g.Pits = append(g.Pits, h)
	}
	return nil
}

// Code returns the code of h.
func (g *Geometry) Code(h *Half) uint32 { return uint32(g.Halves.Half().Code(h[:g.Q])) }

// first returns the code of the first half with sum seeds, the one of column 0.
func (g *Geometry) first(sum int) uint32 { return uint32(g.Halves.Half().First(sum)) }

// columns returns the number of halves with sum seeds.
func (g *Geometry) columns(sum int) int {
	return len(g.Rows[sum][OpenRows]) + len(g.Rows[sum][FullRows])
}

// panels returns the number of groups of 64 columns, chunks of 64 rows, the last
// of which may be smaller.
func (g *Geometry) panels(sum int) int { return Groups(g.columns(sum)) }

// chunks returns the number of chunks of 64 rows of a class, the last
// of which may be smaller.
func (g *Geometry) chunks(sum int, class RowClass) int { return Groups(len(g.Rows[sum][class])) }

// Groups returns the number of groups of 64 of which the last may be smaller.
func Groups(n int) int { return (n + Side - 1) / Side }

// Board returns the position with the given halves.
func (g *Geometry) Board(mover, opponent uint32) awari.Board {
	var b awari.Board
	copy(b[:g.Q], g.Pits[mover][:g.Q])
	copy(b[g.Q:], g.Pits[opponent][:g.Q])
	return b
}

// A Run is a range of panels or of chunks: a side of a tile. Its halves agree in
// their last pits, but for some at its ends.
type Run struct {
	Begin, End int
	Suffix     Half // the pits that agree; the others are 0
}

// PanelRuns and chunkRuns cut the panels, or the chunks of open rows, of a sum
// into runs of about size halves at most.
func (g *Geometry) PanelRuns(sum, size int) []Run {
	return g.runs(sum, size, func(column int) int { return column })
}

func (g *Geometry) ChunkRuns(sum, size int) []Run {
	open := g.Rows[sum][OpenRows]
	return g.runs(sum, size, func(column int) int {
		row, _ := slices.BinarySearch(open, g.first(sum)+uint32(column))
		return row
	})
}

// runs cuts the halves of a sum; place says where the half of a column stands
// among those that are grouped.
func (g *Geometry) runs(sum, size int, place func(column int) int) []Run {
	var runs []Run
	column, end := 0, 0
	for _, count := range cut(g.Q, sum, size) {
		r := Run{Begin: end, Suffix: g.suffix(g.first(sum)+uint32(column), count)}
		if column += count; column == g.columns(sum) {
			end = Groups(place(column))
		} else {
			end = (place(column) + Side/2) / Side
		}
		if r.End = end; r.Begin < r.End {
			runs = append(runs, r)
		}
	}
	return runs
}

// cut returns the sizes of runs of the halves of q pits with sum seeds, in
// rank order. Halves that agree in their last pits have consecutive ranks, and
// moves lead them to halves that agree again: these are the runs, short ones
// joined to the runs beside them that differ in the same pit.
func cut(q, sum, size int) []int {
	count, err := colex.Binomial(sum+q-1, q-1)
	if err != nil {
		panic(err) // far below 64 bits for any half
	}
	if q == 1 || count <= uint64(size) {
		return []int{int(count)}
	}
	var runs []int
	joinable := false
	for last := sum; last >= 0; last-- {
		run := cut(q-1, sum-last, size)
		if end := len(runs) - 1; joinable && len(run) == 1 && runs[end]+run[0] <= size {
			runs[end] += run[0]
			continue
		}
		runs = append(runs, run...)
		joinable = len(run) == 1
	}
	return runs
}

// suffix returns the last pits that count halves have in common and the least
// content of the one before; the other pits are 0.
func (g *Geometry) suffix(code uint32, count int) Half {
	first, last := g.Pits[code], g.Pits[int(code)+count-1]
	for pit := g.Q - 1; pit > 0; pit-- {
		if first[pit] != last[pit] {
			clear(last[:pit])
			break
		}
	}
	return last
}
