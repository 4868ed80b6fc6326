package distance

import (
	"sort"

	"grenier/kernels/colex"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
)

// rows are the boards of a layer in the order of their ranks: a row is the boards with the same half of the opponent, the halves
// of the mover are the same in each row with as many seeds. Looking a board up is faster than unranking it.
type rows struct {
	halves [][]packed.Half // of the mover, by their seeds
	starts []uint64        // the rank with which each row begins, and the size of the layer
	others []packed.Half   // of the opponent, by row
	seeds  int
}

// rowBytes returns the memory of the rows of a layer of n seeds with halves of some pits.
func rowBytes(half, n int) uint64 { return 3 * 8 * colex.MustBinomial(n+half, half) }

func newRows(space *awari.Space, rules *packed.Rules, n int) *rows {
	r := &rows{halves: make([][]packed.Half, n+1), seeds: n}
	half := space.Half()
	for seeds := range r.halves {
		h := packed.Half(seeds) << (8 * (half - 1))
		r.halves[seeds] = append(r.halves[seeds], h)
		for h>>8 != 0 {
			h = h.Next()
			r.halves[seeds] = append(r.halves[seeds], h)
		}
	}
	board, size := rules.Pack(space.Unrank(n, 0)), space.Size(n)
	for start := uint64(0); ; {
		r.starts, r.others = append(r.starts, start), append(r.others, board.Other)
		seeds := n - board.Other.Seeds()
		if start += uint64(len(r.halves[seeds])); start == size {
			r.starts = append(r.starts, size)
			return r
		}
		board = packed.Board{Own: packed.Half(seeds), Other: board.Other}.NextRow(half)
	}
}

// walk goes through rows by increasing rank.
type walk struct {
	*rows
	row   int
	start uint64
	end   uint64
	own   []packed.Half
	other packed.Half
	past  *packed.Past
	stale bool // past is of another row
}

// begin makes the row of a rank the one at hand.
func (w *walk) begin(rank uint64) {
	w.row = sort.Search(len(w.others), func(i int) bool { return w.starts[i] > rank }) - 1
	w.set()
}

// next makes the row of a rank behind the row at hand the one at hand.
func (w *walk) next(rank uint64) {
	for w.row++; w.starts[w.row+1] <= rank; w.row++ {
	}
	w.set()
}

func (w *walk) set() {
	w.start, w.end, w.other = w.starts[w.row], w.starts[w.row+1], w.others[w.row]
	w.own, w.stale = w.halves[w.seeds-w.other.Seeds()], true
}

// board returns a board of the row at hand.
func (w *walk) board(rank uint64) packed.Board {
	return packed.Board{Own: w.own[rank-w.start], Other: w.other}
}

// before appends the ranks of the boards from which quiet moves lead to that of a rank in the row at hand or behind it.
func (w *walk) before(dst []uint64, rank uint64) []uint64 {
	if rank >= w.end {
		w.next(rank)
	}
	if w.stale {
		w.past.Set(w.board(rank))
		w.stale = false
	}
	return w.past.Before(dst, w.own[rank-w.start])
}
