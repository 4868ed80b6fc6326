package board

import "grenier/kernels/colex"

// Layout is the memory for the scores of a layer, or of a matrix of it.
type Layout struct {
	Scores int
	Offers [Classes]int
}

// Total returns the bytes of all of it.
func (l Layout) Total() int {
	return l.Scores + l.Offers[OpenRows] + l.Offers[FullRows]
}

// LayoutOf returns the layout of the layer of n seeds with halves of q pits: that
// of all of its matrices.
func LayoutOf(q, n int) (sum Layout) {
	for mover := range n + 1 {
		l := matrixLayout(ColumnsOf(q, mover), RowsOf(q, n-mover))
		sum.Scores += l.Scores
		for class := range Classes {
			sum.Offers[class] += l.Offers[class]
		}
	}
	return sum
}

// matrixLayout returns the layout of a matrix with the given numbers of columns and
// rows. Lines and blocks are whole.
func matrixLayout(columns int, rows [Classes]int) (l Layout) {
	l.Scores = Groups(columns) * rows[OpenRows] * Side
	for class := range Classes {
		l.Offers[class] = Groups(columns) * Groups(rows[class]) * Side * Side
	}
	return l
}

// ColumnsOf returns the number of halves of q pits with sum seeds.
func ColumnsOf(q, sum int) int { return int(colex.MustBinomial(sum+q-1, q-1)) }

// RowsOf returns the same by class: in full ones every pit has a seed.
func RowsOf(q, sum int) (rows [Classes]int) {
	if sum >= q {
		rows[FullRows] = int(colex.MustBinomial(sum-1, q-1))
	}
	rows[OpenRows] = ColumnsOf(q, sum) - rows[FullRows]
	return rows
}

// CodesBytes returns the bytes of the codes of open rows.
func CodesBytes(q, n, bits int) int { return LayoutOf(q, n).Scores * bits / 8 }
