package halfboard

import "slices"

// pieces reads rows of lower layers out of pieces of these, some of which it keeps: for
// one goroutine.
type pieces struct {
	grid  *grid
	lower Lower
	slots []kept // those that are kept
	where map[pieceName]int
	used  []bool // since the hand last passed
	hand  int    // the clock of second chances
	join  []int8 // a row of two pieces
}

// pieceLength is the number of scores in a piece: a block of a layer file.
const pieceLength = 1 << 16

type pieceName struct {
	n      int
	number uint64
}

// kept is a run of scores of a lower layer.
type kept struct {
	name   pieceName
	scores []int8
}

// newPieces keeps at least two pieces and about the given number of bytes.
func newPieces(g *grid, lower Lower, bytes int64) *pieces {
	n := max(2, int(bytes/pieceLength))
	return &pieces{grid: g, lower: lower, slots: make([]kept, n), used: make([]bool, n), where: map[pieceName]int{}}
}

// row implements rowReader. The row is valid until the next call.
func (p *pieces) row(n int, code uint32) ([]int8, error) {
	start := p.grid.rowStart(n, code)
	mover := n - p.grid.pits[code].sum()
	end := start + uint64(columnsOf(p.grid.q, mover))
	first, err := p.get(n, start/pieceLength)
	if err != nil || (end-1)/pieceLength == start/pieceLength {
		return first[min(start%pieceLength, uint64(len(first))):], err
	}
	p.join = append(p.join[:0], first[start%pieceLength:]...)
	for number := start/pieceLength + 1; number <= (end-1)/pieceLength; number++ {
		next, err := p.get(n, number)
		if err != nil {
			return nil, err
		}
		p.join = append(p.join, next...)
	}
	return p.join, nil
}

// get returns a piece.
func (p *pieces) get(n int, number uint64) ([]int8, error) {
	name := pieceName{n, number}
	if i, kept := p.where[name]; kept {
		p.used[i] = true
		return p.slots[i].scores, nil
	}
	for p.used[p.hand] {
		p.used[p.hand] = false
		p.hand = (p.hand + 1) % len(p.slots)
	}
	i := p.hand
	p.hand = (p.hand + 1) % len(p.slots)
	s := &p.slots[i]
	if s.scores != nil {
		delete(p.where, s.name)
	}
	start := number * pieceLength
	length := int(min(pieceLength, p.grid.halves.Board().Size(n)-start))
	s.name, s.scores = name, slices.Grow(s.scores[:0], pieceLength)[:length]
	if err := p.lower.Read(n, start, s.scores); err != nil {
		return nil, err
	}
	p.where[name], p.used[i] = i, true
	return s.scores, nil
}
