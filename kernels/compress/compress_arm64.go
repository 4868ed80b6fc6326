//go:build !purego

package compress

import (
	"math/bits"

	"grenier/kernels/cpu"
)

// For returns the kernel of the family f, which must be supported, for scores of the given
// width in bits. It panics if the width is not 2, 3, 4, 6 or 8.
func For(f cpu.Family, width int) LeastFunc {
	if f == cpu.NEON {
		return leastNEON(width)
	}
	return leastGeneric(width)
}

// fetched is the number of bytes of the next offers that are fetched with each
// word.
const fetched = 2 * Side

func leastNEON(width int) LeastFunc {
	size := lineBytes(width)
	return func(_ *Scratch, dst, offers *Block, columns uint64, p *Program, routes []Route, chunk int, lines []int8) {
		begin(dst, offers, columns)
		ahead := fetchAhead(offers, columns, lines)
		var list places
		for i := range p.Groups {
			g := &p.Groups[i]
			r := &routes[g.Route]
			words := r.Words[r.First[chunk]:r.First[chunk+1]]
			n := list.set(columns, g, p.Rows, size)
			if n == 0 || len(words) == 0 {
				continue
			}
			leastWords(dst, &list, n, &r.Scores[0], r.Stride, words,
				size, ahead.step*len(words)*r.Stride, ahead.next, &positions)
			ahead.next += uintptr(ahead.step * fetched * len(words))
		}
	}
}

// place is where a column of a block is, and its line in each panel, both in bytes.
type place struct{ column, line int }

// places has one for each column of a group that is asked for.
type places [Side]place

// set lists those columns of g that are asked for, with lines of size bytes, and returns how
// many there are.
func (l *places) set(columns uint64, g *Group, rows []uint32, size int) int {
	n := uint(0)
	for left := g.Columns & columns; left != 0; left &= left - 1 {
		c := bits.TrailingZeros64(left)
		before := g.Columns & (1<<(c%Side) - 1)
		row := rows[int(g.First)+bits.OnesCount64(before)]
		l[n%Side] = place{c * Side, int(row) * size}
		n++
	}
	return int(n)
}

// positions[b] has the numbers of the set bits of b, a byte each, and then zeros.
var positions = func() (t [256]uint64) {
	for b := range t {
		for i, left := 0, uint(b); left != 0; i, left = i+8, left&(left-1) {
			t[b] |= uint64(bits.TrailingZeros(left)) << i
		}
	}
	return t
}()

// leastWords applies words, at least one, to the first n places of list, at least one, with
// lines of size bytes. It fetches the lines that are ahead bytes after those that it reads, and
// if there are offers the bytes at next. positions is the table.
//
//go:noescape
func leastWords(dst *Block, list *places, n int, scores *int8, stride int, words []Word, size, ahead int, next uintptr, positions *[256]uint64)

// kept is nothing: kernels find all out again.
type kept struct{}
