//go:build !purego

package compress

import "grenier/kernels/cpu"

// FetchFor returns the kernel of the family f, which must be supported.
func FetchFor(f cpu.Family) FetchFunc {
	if f >= cpu.BMI2 {
		return fetchBMI2
	}
	return fetchGeneric
}

func fetchBMI2(offers *Block, columns uint64, p *Program, routes []Route, chunk int, lines []int8, rows uint64) {
	if columns == 0 || len(p.Groups) == 0 {
		return
	}
	fetchLines(&offers[0], columns)
	if rows != 0 && len(lines) > 0 {
		fetchLines(&lines[0], rows)
	}
	fetchGroups(columns, p, &routes[0], chunk)
}

// fetchLines fetches the lines of the set bits of mask, at least one.
//
//go:noescape
func fetchLines(lines *int8, mask uint64)

// fetchGroups fetches what leastGroups reads.
//
//go:noescape
func fetchGroups(columns uint64, p *Program, routes *Route, chunk int)
