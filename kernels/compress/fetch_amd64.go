//go:build !purego

package compress

import "grenier/kernels/cpu"

// FetchFor returns the kernel of the family f, which must be supported, for scores of the
// given width in bits. It panics if the width is not 2, 3, 4, 6 or 8.
func FetchFor(f cpu.Family, width int) FetchFunc {
	size := lineBytes(width)
	if f >= cpu.BMI2 {
		return fetchBMI2(size)
	}
	return fetchGeneric
}

func fetchBMI2(size int) FetchFunc {
	return func(offers *Block, columns uint64, p *Program, routes []Route, chunk int, lines []int8, rows uint64) {
		if columns == 0 || len(p.Groups) == 0 {
			return
		}
		fetchOwn(offers, columns, lines, rows, size)
		fetchGroups(columns, p, &routes[0], chunk, size)
	}
}

// fetchGroups fetches the lines that leastGroups reads. Lines are size bytes.
//
//go:noescape
func fetchGroups(columns uint64, p *Program, routes *Route, chunk, size int)
