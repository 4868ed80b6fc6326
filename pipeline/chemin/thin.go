package chemin

import (
	"cmp"
	"slices"
)

// thin returns at most the given number of vectors; for each given one, at least one of them is nowhere less.
// They are the maximal given ones if these are few enough, otherwise maxima, cell by cell, of
// groups of similar vectors.
func thin(vectors []uint32, stride, most int) []uint32 {
	if n := len(vectors) / stride; n > 4*most {
		vectors = merge(vectors, stride, 4*most)
	}
	vectors = maximal(vectors, stride)
	if len(vectors)/stride > most {
		vectors = maximal(merge(vectors, stride, most), stride)
	}
	return slices.Clip(vectors)
}

// split returns the single vectors.
func split(vectors []uint32, stride int) [][]uint32 {
	return slices.Collect(slices.Chunk(vectors, stride))
}

// maximal drops the vectors that another one exceeds or equals.
func maximal(vectors []uint32, stride int) []uint32 {
	rows := split(vectors, stride)
	best := dominant(rows, stride)
	kept := make([]uint32, 0, len(best)*stride)
	for _, row := range best {
		kept = append(kept, row...)
	}
	return kept
}

// window is the number of vectors that each one is compared with. The largest sums come
// first and rule out most; comparing with all would take quadratic time.
const window = 4096

// dominant returns, in place, the rows that no other row dominates in the first width numbers. When
// there are very many, it returns some dominated ones too.
func dominant(rows [][]uint32, width int) [][]uint32 {
	type weighed struct {
		sum uint64
		row []uint32
	}
	list := make([]weighed, len(rows))
	for i, row := range rows {
		list[i].row = row
		for _, x := range row[:width] {
			list[i].sum += uint64(x)
		}
	}
	slices.SortFunc(list, func(a, b weighed) int {
		// Ties are broken so that the result does not depend on the order of rows.
		return cmp.Or(cmp.Compare(b.sum, a.sum), slices.Compare(a.row, b.row))
	})
	kept := rows[:0]
	for _, next := range list {
		if !exceeded(next.row[:width], kept) {
			kept = append(kept, next.row)
		}
	}
	return kept
}

// exceeded reports whether one of the first rows is nowhere less than row.
func exceeded(row []uint32, rows [][]uint32) bool {
	for _, other := range rows[:min(window, len(rows))] {
		if covers(other, row) {
			return true
		}
	}
	return false
}

// covers reports whether a is nowhere less than b.
func covers(a, b []uint32) bool {
	a = a[:len(b)]
	for i, x := range b {
		if a[i] < x {
			return false
		}
	}
	return true
}

// merge returns the maxima of most groups of vectors, grouped by halving again and again along
// the number that varies most.
func merge(vectors []uint32, stride, most int) []uint32 {
	merged := make([]uint32, 0, most*stride)
	var halve func(rows [][]uint32, groups int)
	halve = func(rows [][]uint32, groups int) {
		if len(rows) == 1 || groups == 1 {
			merged = append(merged, maxima(rows)...)
			return
		}
		along := widest(rows)
		slices.SortFunc(rows, func(a, b []uint32) int { return cmp.Or(cmp.Compare(a[along], b[along]), slices.Compare(a, b)) })
		half := groups / 2
		middle := max(1, len(rows)*half/groups)
		halve(rows[:middle], half)
		halve(rows[middle:], groups-half)
	}
	halve(split(vectors, stride), most)
	return merged
}

// maxima returns the largest number of each column.
func maxima(rows [][]uint32) []uint32 {
	top := slices.Clone(rows[0])
	for _, row := range rows[1:] {
		for i, x := range row {
			top[i] = max(top[i], x)
		}
	}
	return top
}

// widest returns the column with the largest ratio of its extremes.
func widest(rows [][]uint32) int {
	low, high := slices.Clone(rows[0]), maxima(rows)
	for _, row := range rows {
		for i, x := range row {
			low[i] = min(low[i], x)
		}
	}
	column, ratio := 0, 0.0
	for i := range low {
		if r := float64(high[i]+1) / float64(low[i]+1); r > ratio {
			column, ratio = i, r
		}
	}
	return column
}
