package halfboard

import "grenier/kernels/colex"

// layout is the memory for the scores of a layer, or of a matrix of it.
type layout struct {
	scores int
	offers [classes]int
}

func (l layout) total() int {
	return l.scores + l.offers[openRows] + l.offers[fullRows]
}

// layoutOf returns the layout of the layer of n seeds with halves of q pits: that
// of all of its matrices.
func layoutOf(q, n int) (sum layout) {
	for mover := range n + 1 {
		l := matrixLayout(columnsOf(q, mover), rowsOf(q, n-mover))
		sum.scores += l.scores
		for class := range classes {
			sum.offers[class] += l.offers[class]
		}
	}
	return sum
}

// matrixLayout returns the layout of a matrix with the given numbers of columns and
// rows. Lines and blocks are whole.
func matrixLayout(columns int, rows [classes]int) (l layout) {
	l.scores = groups(columns) * rows[openRows] * side
	for class := range classes {
		l.offers[class] = groups(columns) * groups(rows[class]) * side * side
	}
	return l
}

// columnsOf returns the number of halves of q pits with sum seeds.
func columnsOf(q, sum int) int { return int(colex.MustBinomial(sum+q-1, q-1)) }

// rowsOf returns the same by class: in full ones every pit has a seed.
func rowsOf(q, sum int) (rows [classes]int) {
	if sum >= q {
		rows[fullRows] = int(colex.MustBinomial(sum-1, q-1))
	}
	rows[openRows] = columnsOf(q, sum) - rows[fullRows]
	return rows
}
