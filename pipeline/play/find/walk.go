package find

import (
	"math/bits"

	"grenier/kernels/colex"
	"grenier/layers/awari"
	"grenier/layers/awari/halves"
)

// Half a board is packed into a word, a byte a pit, the first pit in the lowest. A word
// times ones has the sums of the first 1, 2, 3, ... pits in its bytes (no sum exceeds 48):
// what colex ranks are made of.
const ones = 0x0101010101010101

// maxHalf is the largest number of pits of a player.
const maxHalf = awari.MaxPits / 2

// counts is the number of values that a pit can have, rounded up so that indices need no check.
const counts = 64

// rules is what moves do to packed halves, and to ranks. It is immutable.
type rules struct {
	q int
	// term[i][c] is what a board with c seeds in pits 0 to i adds to its rank for pit i; 0
	// beyond the last but one pit.
	term [awari.MaxPits][counts]uint64
	// behind[i] is term[q+i].
	behind [maxHalf][counts]uint64
	// own[pit][seeds] is what sowing adds to the other pits of the mover.
	own [maxHalf][counts]uint64
	// other[pit][seeds] is what it adds to those of the opponent, and last the pit of the
	// opponent where it ends, or -1.
	other [maxHalf][counts]uint64
	last  [maxHalf][counts]int8
}

// newRules returns the rules for boards of 2q pits with at most n seeds.
func newRules(q, n int) (*rules, error) {
	r := &rules{q: q}
	for i := range 2*q - 1 {
		for c := range n + 1 {
			b, err := colex.Binomial(c+i, i+1)
			if err != nil {
				return nil, err
			}
			r.term[i][c] = b
		}
		if i >= q {
			r.behind[i-q] = r.term[i]
		}
	}
	for pit := range q {
		for seeds := 1; seeds <= n; seeds++ {
			half := make([]uint8, q)
			half[pit] = uint8(seeds)
			m := halves.Sow(half, pit)
			r.own[pit][seeds], r.last[pit][seeds] = pack(half), m.Last
			for i := range half {
				half[i] = m.Gain(i)
			}
			r.other[pit][seeds] = pack(half)
		}
	}
	return r, nil
}

// pack returns pits as a word.
func pack(pits []uint8) uint64 {
	w := uint64(0)
	for i, x := range pits {
		w |= uint64(x) << (8 * i)
	}
	return w
}

// next returns the pits that follow w in colex order, with as many seeds; there must be any
// but the first that is not empty. It is advance of package exchange without a branch.
func next(w uint64) uint64 {
	at := bits.TrailingZeros64(w&^0xff) &^ 7 // of the pit that loses a seed
	first := w & 0xff
	return w - first - 1<<at + (first+1)<<(at-8)
}

// place is a board on a walk through a layer in the order of ranks.
type place struct {
	own uint64 // the mover's half
	row uint64 // the mover's seeds, and behind them the opponent's half
}

// place returns where a board is.
func (r *rules) place(b awari.Board) place {
	p := place{own: pack(b[:r.q]), row: pack(b[r.q:2*r.q]) << 8}
	for _, x := range b[:r.q] {
		p.row += uint64(x)
	}
	return p
}

// board is the inverse of place.
func (r *rules) board(p place) awari.Board {
	var b awari.Board
	for i := range r.q {
		b[i], b[r.q+i] = uint8(p.own>>(8*i)), uint8(p.row>>(8*i+8))
	}
	return b
}

// step moves on to the next rank, if there is one, and reports whether the row is another.
func (p *place) step(q int) bool {
	if p.own>>8 != 0 {
		p.own = next(p.own)
		return false
	}
	if p.row>>8 != 0 {
		p.row = next(p.row)
		p.own = (p.row & 0xff) << (8 * (q - 1))
	}
	return true
}

// effect is what sowing does to a given half of the opponent. After the move it is the
// mover's.
type effect struct {
	base     uint64 // part of the rank that it determines
	sums     uint64 // its seeds in every byte
	captured uint8
	starves  bool // nothing is left of it
}

// effects are those of all sowings on the opponent's half of a row.
type effects [maxHalf][counts]effect

// fill works out the effects on the half of the opponent in a row.
func (r *rules) fill(e *effects, row uint64) {
	for pit := range r.q {
		for seeds := range row & 0xff {
			r.effect(&e[pit][seeds+1], row>>8, pit, int(seeds)+1)
		}
	}
}

func (r *rules) effect(e *effect, half uint64, pit, seeds int) {
	half += r.other[pit][seeds]
	captured := uint64(0)
	for at := 8 * int(r.last[pit][seeds]); at >= 0; at -= 8 {
		x := half >> at & 0xff
		if !halves.Capturable(uint8(x)) {
			break
		}
		half -= x << at
		captured += x
	}
	sums := half * ones
	all := sums >> 56
	base := r.term[r.q-1][all%counts]
	for i := range r.q - 1 {
		base += r.term[i][sums>>(8*i)%counts]
	}
	*e = effect{base: base, sums: all * ones, captured: uint8(captured), starves: half == 0}
}

// child is what a move leads to: rank, seeds captured and pit in one word.
type child uint64

const (
	capturedAt = 48
	pitAt      = 56
	rankMask   = 1<<capturedAt - 1
)

func newChild(rank uint64, captured, pit int) child {
	return child(rank | uint64(captured)<<capturedAt | uint64(pit)<<pitAt)
}

func (c child) rank() uint64  { return uint64(c) & rankMask }
func (c child) captured() int { return int(c >> capturedAt & 0xff) }
func (c child) pit() int      { return int(c >> pitAt) }

// children puts what the moves of a half lead to into dst, those that leave the opponent a
// seed, and returns how many there are.
func (r *rules) children(dst *[maxHalf]child, e *effects, own uint64) int {
	n := 0
	for pit := range r.q {
		seeds := own >> (8 * pit) % counts
		if seeds == 0 {
			continue
		}
		x := &e[pit][seeds]
		if x.starves {
			continue
		}
		sums := (own-seeds<<(8*pit)+r.own[pit][seeds])*ones + x.sums
		rank := x.base + r.behind[0][sums%counts] + r.behind[1][sums>>8%counts] + r.behind[2][sums>>16%counts] +
			r.behind[3][sums>>24%counts] + r.behind[4][sums>>32%counts]
		dst[n] = newChild(rank, int(x.captured), pit)
		n++
	}
	return n
}
