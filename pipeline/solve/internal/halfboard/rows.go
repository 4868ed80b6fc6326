package halfboard

import "grenier/kernels/colex"

// rowPart is a part of a row.
type rowPart struct {
	matrix *matrix
	at     place
	skip   int // columns in front of the part
	length int
}

// copy copies the part: lines begins with its first line, and those of the next panels
// are stride bytes apart. It returns what is left of dst.
func (p rowPart) copy(dst, lines []int8, stride int) []int8 {
	skip := p.skip % side
	for at := 0; p.length > 0; at += stride {
		n := copy(dst[:p.length], lines[at+skip:][:side-skip])
		dst, p.length, skip = dst[n:], p.length-n, 0
	}
	return dst
}

// rowParts lists the rows that make up a number of scores, at least 1, from rank start on.
func (g *layer) rowParts(start uint64, length int) (parts []rowPart, err error) {
	board := make([]uint8, 2*g.q)
	for _, rank := range []uint64{start + uint64(length) - 1, start} {
		if err := g.halves.Board().Unrank(g.n, rank, board); err != nil {
			return nil, err
		}
	}
	// A row belongs to the opponent's half B. Rows follow each other like the
	// boards of Q+1 pits whose first pit holds all the mover's seeds.
	row := board[g.q-1:]
	row[0] = 0
	row[0] = uint8(g.n - sum(row))
	skip := int(start - g.halves.RowStart(g.n, row[1:]))
	for bv := colex.ListToBV(row); length > 0; bv = colex.NextBV(bv) {
		colex.BVToList(bv, g.n, row)
		var b half
		copy(b[:], row[1:])
		p := rowPart{matrix: g.matrices[row[0]], at: g.place(g.code(&b)), skip: skip}
		p.length = min(length, p.matrix.columns-skip)
		parts = append(parts, p)
		length -= p.length
		skip = 0
	}
	return parts, nil
}

func sum(pits []uint8) int {
	n := 0
	for _, x := range pits {
		n += int(x)
	}
	return n
}
