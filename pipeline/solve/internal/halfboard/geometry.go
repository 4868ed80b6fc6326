package halfboard

import (
	"slices"

	"grenier/kernels/colex"
	"grenier/kernels/compress"
	"grenier/layers/awari"
)

// maxHalf is the largest number of pits in a half.
const maxHalf = awari.MaxPits / 2

// side is the number of columns in a panel, of rows in a chunk, and of scores in
// a line.
const side = compress.Side

// half is a half-board; pits from the game's half size on are 0.
type half [maxHalf]uint8

func (h half) sum() int {
	n := 0
	for _, x := range h {
		n += int(x)
	}
	return n
}

func (h half) hasEmpty(q int) bool { return slices.Contains(h[:q], 0) }

// rowClass separates the rows whose half has an empty pit from the others.
type rowClass uint8

const (
	openRows rowClass = iota
	fullRows
	classes
)

// place says which row, among those of its sum and class, belongs to a half.
type place struct {
	row   uint32
	class rowClass
}

// packedPlace is a place in less memory: the row, and the class in its lowest bit.
type packedPlace uint32

// place returns the place of the half with the given code.
func (g *geometry) place(code uint32) place {
	p := g.places[code]
	return place{uint32(p >> 1), rowClass(p & 1)}
}

// geometry numbers the halves with up to n seeds. Halves are named by their colex
// codes, which count through all sums: the columns of a matrix are the halves
// of one sum in the order of their codes, and so are its rows, class by class.
type geometry struct {
	q      int // pits in a half
	n      int // seeds on the board
	halves *colex.Halves
	pits   []half              // by code
	places []packedPlace       // by code
	rows   [][classes][]uint32 // by sum: codes of the halves of each class
}

// newGeometry numbers the halves of q pits with up to n seeds.
func newGeometry(q, n int) (*geometry, error) {
	halves, err := colex.NewHalves(q, n)
	if err != nil {
		return nil, err
	}
	g := &geometry{q: q, n: n, halves: halves, rows: make([][classes][]uint32, n+1)}
	count := halves.Half().First(n + 1)
	g.pits = make([]half, 0, count)
	g.places = make([]packedPlace, 0, count)
	for sum := range n + 1 {
		if err := g.addSum(sum); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// addSum appends the halves with sum seeds.
func (g *geometry) addSum(sum int) error {
	boards, err := g.halves.Half().Iterate(sum)
	if err != nil {
		return err
	}
	for _, board := range boards {
		var h half
		copy(h[:], board)
		class := fullRows
		if h.hasEmpty(g.q) {
			class = openRows
		}
		rows := &g.rows[sum][class]
		g.places = append(g.places, packedPlace(len(*rows))<<1|packedPlace(class))
		*rows = append(*rows, uint32(len(g.pits)))
		g.pits = append(g.pits, h)
	}
	return nil
}

// code returns the code of h.
func (g *geometry) code(h *half) uint32 { return uint32(g.halves.Half().Code(h[:g.q])) }

// first returns the code of the first half with sum seeds: that of column 0.
func (g *geometry) first(sum int) uint32 { return uint32(g.halves.Half().First(sum)) }

// columns returns the number of halves with sum seeds.
func (g *geometry) columns(sum int) int {
	return len(g.rows[sum][openRows]) + len(g.rows[sum][fullRows])
}

// panels returns the number of groups of 64 columns, chunks of 64 rows, the last
// of which may be smaller.
func (g *geometry) panels(sum int) int { return groups(g.columns(sum)) }

func (g *geometry) chunks(sum int, class rowClass) int { return groups(len(g.rows[sum][class])) }

func groups(n int) int { return (n + side - 1) / side }

// board returns the position with the given halves.
func (g *geometry) board(mover, opponent uint32) awari.Board {
	var b awari.Board
	copy(b[:g.q], g.pits[mover][:g.q])
	copy(b[g.q:], g.pits[opponent][:g.q])
	return b
}

// A run is a range of panels or of chunks: a side of a tile. Its halves agree in
// their last pits, but for some at its ends.
type run struct {
	begin, end int
	suffix     half // the pits that agree; the others are 0
}

// panelRuns and chunkRuns cut the panels, or the chunks of open rows, of a sum
// into runs of about size halves at most.
func (g *geometry) panelRuns(sum, size int) []run {
	return g.runs(sum, size, func(column int) int { return column })
}

func (g *geometry) chunkRuns(sum, size int) []run {
	open := g.rows[sum][openRows]
	return g.runs(sum, size, func(column int) int {
		row, _ := slices.BinarySearch(open, g.first(sum)+uint32(column))
		return row
	})
}

// runs cuts the halves of a sum; place says where the half of a column stands
// among those that are grouped.
func (g *geometry) runs(sum, size int, place func(column int) int) []run {
	var runs []run
	column, end := 0, 0
	for _, count := range cut(g.q, sum, size) {
		r := run{begin: end, suffix: g.suffix(g.first(sum)+uint32(column), count)}
		if column += count; column == g.columns(sum) {
			end = groups(place(column))
		} else {
			end = (place(column) + side/2) / side
		}
		if r.end = end; r.begin < r.end {
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
func (g *geometry) suffix(code uint32, count int) half {
	first, last := g.pits[code], g.pits[int(code)+count-1]
	for pit := g.q - 1; pit > 0; pit-- {
		if first[pit] != last[pit] {
			clear(last[:pit])
			break
		}
	}
	return last
}
