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
