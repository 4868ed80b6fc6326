package colex

// Halves ranks boards of 2Q pits through their halves A (pits 0..Q-1) and B
// (pits Q..2Q-1). For a fixed B the boards (A, B) of a layer are one run of
// ranks, ordered by the rank of A among the halves with as many seeds:
//
//	rank(A, B) = RowStart(n, B) + rank(A)
//
// so a layer is a matrix with a row for each B and a column for each A.
type Halves struct {
	half  *Ranking
	board *Ranking
}

// NewHalves returns the half-board tables of boards of 2*q pits with at most
// seeds seeds. It fails like New.
func NewHalves(q, seeds int) (*Halves, error) {
	half, err := New(q, seeds)
	if err != nil {
		return nil, err
	}
	board, err := New(2*q, seeds)
	if err != nil {
		return nil, err
	}
	return &Halves{half: half, board: board}, nil
}

// Half returns the ranking of single halves of Q pits.
func (h *Halves) Half() *Ranking { return h.half }

// Board returns the ranking of whole boards of 2Q pits.
func (h *Halves) Board() *Ranking { return h.board }

// RowStart returns the rank of the first board with n seeds whose upper half
// is b: the rank of (0, ..., 0, n-|b|, b). b must hold at most n seeds.
func (h *Halves) RowStart(n int, b []uint8) uint64 {
	c := n
	for _, x := range b {
		c -= int(x)
	}
	q := h.half.pits
	start := h.board.binom[q-1][c+q-1] // the term of pit Q-1
	for i, x := range b[:q-1] {
		c += int(x)
		start += h.board.binom[q+i][c+q+i]
	}
	return start
}

// Mask returns a bit for each board with n seeds, in rank order: bit p%64 of
// word p/64 is set when keep holds for the board of rank p. It fails like
// Iterate.
func (r *Ranking) Mask(n int, keep func(board []uint8) bool) ([]uint64, error) {
	boards, err := r.Iterate(n)
	if err != nil {
		return nil, err
	}
	mask := make([]uint64, (r.Size(n)+63)/64)
	for rank, board := range boards {
		if keep(board) {
			mask[rank/64] |= 1 << (rank % 64)
		}
	}
	return mask, nil
}

// ReachMask is the compress mask of a sowing that adds add[i] seeds to pit i:
// the bits of the boards with n seeds that hold at least add, and for which
// keep holds when it is not nil. Because the rank of b+add grows with the rank
// of b, listing the marked boards in order lists the boards b = board-add in
// order (DESIGN fact 2: reading children is a compress). It fails like Iterate.
func (r *Ranking) ReachMask(n int, add []uint8, keep func(board []uint8) bool) ([]uint64, error) {
	return r.Mask(n, func(board []uint8) bool {
		for i, a := range add {
			if board[i] < a {
				return false
			}
		}
		return keep == nil || keep(board)
	})
}
