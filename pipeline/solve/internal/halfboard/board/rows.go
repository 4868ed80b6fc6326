package board

import "grenier/kernels/colex"

// RowPart is a part of a row.
type RowPart struct {
	Matrix *Matrix
	At     Place
	Skip   int // columns in front of the part
	Length int
}

// Copy copies the part: lines begins with its first line, and the lines of the next panels
// are stride bytes apart. It returns what is left of dst.
func (p RowPart) Copy(dst, lines []int8, stride int) []int8 {
	skip := p.Skip % Side
	for at := 0; p.Length > 0; at += stride {
		n := copy(dst[:p.Length], lines[at+skip:][:Side-skip])
		dst, p.Length, skip = dst[n:], p.Length-n, 0
	}
	return dst
}

// RowParts lists the rows that make up a number of scores, at least 1, from rank start on.
func (g *Layer) RowParts(start uint64, length int) (parts []RowPart, err error) {
	board := make([]uint8, 2*g.Q)
	for _, rank := range []uint64{start + uint64(length) - 1, start} {
		if err := g.Halves.Board().Unrank(g.N, rank, board); err != nil {
			return nil, err
		}
	}
	// A row belongs to the opponent's half B. Rows follow each other like the
	// boards of Q+1 pits whose first pit holds all the mover's seeds.
	row := board[g.Q-1:]
	row[0] = 0
	row[0] = uint8(g.N - sum(row))
	skip := int(start - g.Halves.RowStart(g.N, row[1:]))
	for bv := colex.ListToBV(row); length > 0; bv = colex.NextBV(bv) {
		colex.BVToList(bv, g.N, row)
		var b Half
		copy(b[:], row[1:])
		p := RowPart{Matrix: g.Matrices[row[0]], At: g.Place(g.Code(&b)), Skip: skip}
		p.Length = min(length, p.Matrix.Columns-skip)
		parts = append(parts, p)
		length -= p.Length
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
