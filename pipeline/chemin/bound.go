package chemin

import (
	"context"
	"maps"
	"math/bits"
	"slices"

	"grenier/io/crew"
	"grenier/layers/chemin"
)

// bounds knows, for each connected set T of empty cells, how much can still be made of
// the numbers around T (package comment, "The bound").
type bounds struct {
	board *chemin.Board
	// sizes[n] has the fronts of the sets of n cells. Sets that are not there have no bound.
	sizes [chemin.MaxCells + 1]fronts
	bytes int64 // of memory
	// growth[n] is a limit for games of n cells.
	growth []uint32
}

// fronts of the canonical sets of one size: sets[i] has vectors[starts[i]:starts[i+1]].
type fronts struct {
	sets    []chemin.Cells // ascending
	starts  []uint32
	vectors []uint32
}

// front is a list of vectors (c, w of the border cells): for any way to fill the set, at least one
// of them is nowhere less.
type front struct {
	border  chemin.Cells // the cells of the set that have a neighbour outside
	vectors []uint32
}

func (f *front) stride() int { return 1 + bits.OnesCount32(f.border) }

// limits say how much bounds may take.
type limits struct {
	bytes   int64 // of memory
	perSize int   // vectors for all sets of one size, about
	workers int
}

// newBounds works out fronts for the sets of one size after the other, as far as there is
// memory. It calls begin before each size. When ctx ends, it returns its error, and the sets that
// are not done are left without a bound.
func newBounds(ctx context.Context, b *chemin.Board, growth []uint32, most limits, begin func(size int)) (*bounds, error) {
	t := &bounds{board: b, growth: growth}
	for size := 1; size <= b.Cells(); size++ {
		begin(size)
		if t.bytes+t.leastBytes(size) > most.bytes {
			break
		}
		sets := t.grow(size)
		fronts, err := t.solve(ctx, sets, t.vectors(sets, size, most), most.workers)
		if err != nil {
			return t, err
		}
		t.sizes[size] = fronts
		t.bytes += fronts.bytes()
	}
	return t, nil
}

// leastBytes returns about the bytes of the fronts of one size that have one vector each, and of
// the memory to find the sets.
func (t *bounds) leastBytes(size int) int64 {
	sets, cells := int64(1), t.board.Cells()
	for i := range size {
		sets = sets * int64(cells-i) / int64(i+1)
	}
	sets = sets/int64(len(t.board.Symmetries())) + 1
	return sets * int64(4*(4+size))
}

// vectors returns how many vectors a front of some sets may have.
func (t *bounds) vectors(sets []chemin.Cells, size int, most limits) int {
	cells := t.board.Cells()
	vector := 4 * (1 + min(size, cells/2))
	// All fronts, also of sizes to come, and the work on one.
	left := (most.bytes-t.bytes)/int64(cells+1-size) - int64(8*len(sets))
	n := min(int64(most.perSize), left/int64(vector)) / int64(len(sets))
	n = min(n, most.bytes/4/int64(most.workers*size*4*vector))
	if 2*size > cells+1 {
		n = min(n/coarser, mostCoarse)
	}
	return int(max(1, n))
}

// Fronts of more than half of the cells are kept small: they are looked up for states with few
// filled cells, which are few, and would take the most time.
const (
	coarser    = 16 // times fewer vectors in all
	mostCoarse = 64 // in one front
)

// bytes returns the memory that fronts take.
func (f *fronts) bytes() int64 { return int64(4 * (len(f.sets) + len(f.starts) + len(f.vectors))) }

// grow returns the canonical connected sets of one size, given the size before.
func (t *bounds) grow(size int) []chemin.Cells {
	smaller := t.sizes[size-1].sets
	if size == 1 {
		smaller = []chemin.Cells{0}
	}
	found := map[chemin.Cells]struct{}{}
	var ways []*chemin.Symmetry
	for _, set := range smaller {
		for rest := t.board.Full() &^ set; rest != 0; rest &= rest - 1 {
			cell := bits.TrailingZeros32(rest)
			if size == 1 || t.board.Near(cell)&set != 0 {
				var canonical chemin.Cells
				canonical, ways = t.board.CanonicalSet(ways[:0], set|1<<cell)
				found[canonical] = struct{}{}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// solve returns the fronts of sets whose smaller sets are solved, or the error of ctx.
func (t *bounds) solve(ctx context.Context, sets []chemin.Cells, most, workers int) (f fronts, err error) {
	vectors := make([][]uint32, len(sets))
	err = crew.Each(ctx, workers, len(sets), func(_, i int) error {
		vectors[i] = t.front(sets[i], most).vectors
		return nil
	})
	if err != nil {
		return fronts{}, err
	}
	f = fronts{sets: slices.Clip(sets), starts: make([]uint32, 1, len(sets)+1), vectors: slices.Concat(vectors...)}
	for _, v := range vectors {
		f.starts = append(f.starts, f.starts[len(f.starts)-1]+uint32(len(v)))
	}
	return f, nil
}

// front works out the front of a set: each of its cells may be the first that is filled, if
// the others hang together.
func (t *bounds) front(set chemin.Cells, most int) *front {
	f := &front{border: t.border(set)}
	if set&(set-1) == 0 {
		f.vectors = t.alone(set)
		return f
	}
	var vectors []uint32
	for rest := set; rest != 0; rest &= rest - 1 {
		first := bits.TrailingZeros32(rest)
		if left := set &^ (1 << first); t.board.Component(left) == left {
			vectors = t.prepend(vectors, f, set, first)
		}
	}
	f.vectors = thin(vectors, f.stride(), most)
	return f
}

// border returns the cells of a set that have a neighbour outside.
func (t *bounds) border(set chemin.Cells) chemin.Cells {
	return t.board.Touching(set, t.board.Full()&^set)
}

// alone returns the vector of a single cell, the last of the game.
func (t *bounds) alone(set chemin.Cells) []uint32 {
	if t.board.Full() == set {
		return []uint32{1} // a board of one cell
	}
	return []uint32{0, 1}
}

// prepend appends the vectors of the set with the given cell filled first.
func (t *bounds) prepend(dst []uint32, f *front, set chemin.Cells, first int) []uint32 {
	left := set &^ (1 << first)
	rest, by := t.lookUp(left)
	limit := t.growth[bits.OnesCount32(set)]
	source := t.board.Near(first)&^set == 0
	place := t.positions(rest, by)
	for v := range slices.Chunk(rest.vectors, rest.stride()) {
		var w [chemin.MaxCells]uint32
		for i, cell := range place {
			w[cell] = v[1+i]
		}
		for around := t.board.Near(first) & left; around != 0; around &= around - 1 {
			w[first] = min(limit, w[first]+w[bits.TrailingZeros32(around)])
		}
		c := v[0]
		if source {
			c = min(limit, c+w[first])
		}
		dst = append(dst, c)
		for rest := f.border; rest != 0; rest &= rest - 1 {
			dst = append(dst, w[bits.TrailingZeros32(rest)])
		}
	}
	return dst
}

// lookUp returns the front of a connected set, nil if there is none, and a symmetry that
// carries the set to the one that it was made for.
func (t *bounds) lookUp(set chemin.Cells) (*front, *chemin.Symmetry) {
	var buffer [8]*chemin.Symmetry
	canonical, ways := t.board.CanonicalSet(buffer[:0], set)
	all := &t.sizes[bits.OnesCount32(set)]
	i, ok := slices.BinarySearch(all.sets, canonical)
	if !ok {
		return nil, nil
	}
	return &front{t.border(canonical), all.vectors[all.starts[i]:all.starts[i+1]]}, ways[0]
}

// positions returns the cells that a symmetry carries to the border of a front.
func (t *bounds) positions(f *front, by *chemin.Symmetry) []int {
	var back [chemin.MaxCells]int
	for cell := range t.board.Cells() {
		back[by[cell]] = cell
	}
	var cells []int
	for rest := f.border; rest != 0; rest &= rest - 1 {
		cells = append(cells, back[bits.TrailingZeros32(rest)])
	}
	return cells
}

// list returns the cells of a set, ascending.
func list(set chemin.Cells) []uint8 {
	cells := make([]uint8, 0, bits.OnesCount32(set))
	for ; set != 0; set &= set - 1 {
		cells = append(cells, uint8(bits.TrailingZeros32(set)))
	}
	return cells
}

// outlook is the bound of all states with the same filled cells.
type outlook struct {
	board *chemin.Board
	parts []part
	// open is set when there is no bound.
	open bool
}

// part is a component of the empty cells.
type part struct {
	*front
	reads [][]uint8 // the filled neighbours of each border cell
}

// outlook returns the bound of states whose empty cells are these.
func (t *bounds) outlook(empty chemin.Cells) outlook {
	o := outlook{board: t.board}
	filled := t.board.Full() &^ empty
	for empty != 0 {
		component := t.board.Component(empty)
		empty &^= component
		f, by := t.lookUp(component)
		if f == nil {
			return outlook{board: t.board, open: true}
		}
		p := part{front: f}
		for _, cell := range t.positions(f, by) {
			p.reads = append(p.reads, list(t.board.Near(cell)&filled))
		}
		o.parts = append(o.parts, p)
	}
	return o
}

// upper returns a number that no cell still to be filled exceeds. It may stop early at a
// number above enough.
func (o *outlook) upper(values *[chemin.MaxCells]uint32, enough uint64) uint64 {
	if o.open {
		return noBound
	}
	best := uint64(0)
	for i := range o.parts {
		best = max(best, o.parts[i].upper(values, enough))
		if best > enough {
			break
		}
	}
	return best
}

// noBound stands for a bound that is not known.
const noBound = 1 << 62

func (p *part) upper(values *[chemin.MaxCells]uint32, enough uint64) uint64 {
	var inflow [chemin.MaxCells]uint64
	for i, cells := range p.reads {
		for _, cell := range cells {
			inflow[i] += uint64(values[cell])
		}
	}
	best, stride := uint64(0), p.stride()
	for v := p.vectors; len(v) > 0; v = v[stride:] {
		total := uint64(v[0])
		for i, w := range v[1:stride] {
			total += inflow[i] * uint64(w)
		}
		if best = max(best, total); best > enough {
			return best
		}
	}
	return best
}
