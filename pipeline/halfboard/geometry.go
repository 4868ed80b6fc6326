package halfboard

import (
	"fmt"

	"grenier/kernels/colex"
	"grenier/layers/awari"
)

// maxHalf is the largest number of pits in a half.
const maxHalf = 6

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

// A slab is the run of halves with a given number of seeds whose last pits (the
// suffix) are given: one row or column of tiles.
type slab struct {
	suffix half              // the last pits, at their places; the low pits are 0
	low    int               // seeds in the low pits
	start  int               // rank of the slab's first half
	size   int               // halves in it
	first  uint32            // code of the slab's first half
	byRow  [classes][]uint32 // codes of the halves with and without an empty pit
}

// code returns the code of the half in column col.
func (s *slab) code(col int) uint32 { return s.first + uint32(col) }

// rowCodes returns the codes of the halves in the rows of class.
func (s *slab) rowCodes(class rowClass) []uint32 { return s.byRow[class] }

// place says where a half stands: which slab of its sum, which column, and
// which row among the open or the full rows of the slab.
type place struct {
	slab  int32
	col   int32
	row   int32
	class rowClass
}

// geometry cuts the halves with up to n seeds into slabs. Halves are named by
// their colex code, which counts through all sums.
type geometry struct {
	q      int // pits in a half
	suffix int // last pits that name a slab
	n      int // seeds on the board
	halves *colex.Halves
	slabs  [][]slab // by sum
	pits   []half   // by code
	places []place  // by code
}

func newGeometry(q, n, suffix int) (*geometry, error) {
	halves, err := colex.NewHalves(q, n)
	if err != nil {
		return nil, err
	}
	if suffix < 0 || suffix >= q {
		return nil, fmt.Errorf("halfboard: slabs by %d pits of %d", suffix, q)
	}
	g := &geometry{q: q, suffix: suffix, n: n, halves: halves, slabs: make([][]slab, n+1)}
	count := halves.Half().First(n + 1)
	g.pits = make([]half, 0, count)
	g.places = make([]place, 0, count)
	for sum := range n + 1 {
		if err := g.addSum(sum); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// addSum appends the halves with sum seeds, in rank order, and their slabs.
func (g *geometry) addSum(sum int) error {
	boards, err := g.halves.Half().Iterate(sum)
	if err != nil {
		return err
	}
	var slabs []slab
	for rank, board := range boards {
		var h half
		copy(h[:], board)
		suffix := g.suffixOf(h)
		if len(slabs) == 0 || slabs[len(slabs)-1].suffix != suffix {
			slabs = append(slabs, slab{
				suffix: suffix, low: sum - suffix.sum(), start: int(rank), first: uint32(len(g.pits)),
			})
		}
		g.places = append(g.places, slabs[len(slabs)-1].add(g.classOf(h), len(slabs)-1))
		g.pits = append(g.pits, h)
	}
	g.slabs[sum] = slabs
	return nil
}

// add gives the next half of the slab its place.
func (s *slab) add(class rowClass, index int) place {
	p := place{slab: int32(index), col: int32(s.size), row: int32(len(s.byRow[class])), class: class}
	s.byRow[class] = append(s.byRow[class], s.code(s.size))
	s.size++
	return p
}

// classOf tells the rows of a full half from those of the others.
func (g *geometry) classOf(h half) rowClass {
	if h.hasEmpty(g.q) {
		return openRows
	}
	return fullRows
}

// lowPits returns the number of pits that vary inside a slab.
func (g *geometry) lowPits() int { return g.q - g.suffix }

// suffixOf returns h with its low pits emptied.
func (g *geometry) suffixOf(h half) half {
	clear(h[:g.lowPits()])
	return h
}

// code returns the code of h.
func (g *geometry) code(h *half) uint32 { return uint32(g.halves.Half().Code(h[:g.q])) }

// slabOf returns the index of the slab with the given suffix among those of
// halves with sum seeds.
func (g *geometry) slabOf(sum int, suffix half) int {
	suffix[0] = uint8(sum - suffix.sum())
	return int(g.places[g.code(&suffix)].slab)
}

// suffixFor returns the number of suffix pits that keeps the slabs of a layer
// of n seeds near target halves: small enough for a tile to stay in cache,
// large enough for a row to be worth a kernel call.
func suffixFor(q, n, target int) int {
	for suffix := range q - 1 {
		size, err := colex.Binomial(n/2+q-suffix-1, q-suffix-1)
		if err == nil && size <= uint64(target) {
			return suffix
		}
	}
	return q - 1
}

// board returns the position with the given halves.
func (g *geometry) board(mover, opponent uint32) awari.Board {
	var b awari.Board
	copy(b[:g.q], g.pits[mover][:g.q])
	copy(b[g.q:], g.pits[opponent][:g.q])
	return b
}
