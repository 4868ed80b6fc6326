//go:build !purego

package compress

import (
	"grenier/kernels/cpu"
	"grenier/kernels/rows"
)

// LeastFor returns the kernel of the family f, which must be supported.
func LeastFor(f cpu.Family) LeastFunc {
	if f == cpu.AVX512 {
		return leastAVX512
	}
	return leastBy(rowFor(f), rows.For(f).Min)
}

func leastAVX512(columns []Column, picks []Pick, scratch []int8) {
	for i := range columns {
		c := &columns[i]
		n := len(c.Dst)
		moves := checkPicks(n, picks[:c.Picks], scratch)
		offers := c.Offers[:n]
		switch {
		case n == 0:
		case moves == 0:
			copy(c.Dst, offers)
		default:
			pickRows(&scratch[0], stride(n), &picks[0], c.Picks, len(picks))
			minRows(&c.Dst[0], &offers[0], n, &scratch[0], stride(n), moves, &columns[min(i+1, len(columns)-1)].Offers[0])
		}
		picks = picks[c.Picks:]
	}
}

// pickRows compresses n picks, those of one move into one row of scratch, and
// fetches rows of the picks that follow, of which there are all in total.
//
//go:noescape
func pickRows(scratch *int8, stride int, picks *Pick, n, all int)

// minRows sets dst, n > 0 scores, to the least of offers and of the rows of
// scratch, rows > 0. It fetches the n scores at next.
//
//go:noescape
func minRows(dst, offers *int8, n int, scratch *int8, stride, rows int, next *int8)
