//go:build !purego

package compress

import "grenier/kernels/cpu"

// FetchFor returns the kernel of the family f, which must be supported, for scores of the
// given width in bits. It panics if the width is not 2, 3, 4, 6 or 8.
func FetchFor(f cpu.Family, width int) FetchFunc {
	size := lineBytes(width)
	if f == cpu.NEON {
		return fetchNEON(size)
	}
	return fetchGeneric
}

func fetchNEON(size int) FetchFunc {
	return func(offers *Block, columns uint64, p *Program, routes []Route, chunk int, lines []int8, rows uint64) {
		if columns == 0 || len(p.Groups) == 0 {
			return
		}
		fetchOwn(offers, columns, lines, rows, size)
		var list places
		for i := range p.Groups {
			g := &p.Groups[i]
			r := &routes[g.Route]
			words := r.Words[r.First[chunk]:r.First[chunk+1]]
			n := list.set(columns, g, p.Rows, size)
			if n > 0 && len(words) > 0 {
				fetchPlaces(&list, n, &r.Scores[0], r.Stride, words, size)
			}
		}
	}
}

// fetchPlaces fetches the lines that leastWords reads.
//
//go:noescape
func fetchPlaces(list *places, n int, scores *int8, stride int, words []Word, size int)
