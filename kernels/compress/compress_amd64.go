//go:build !purego

package compress

import (
	"math/bits"
	"unsafe"

	"grenier/kernels/cpu"
)

// For returns the kernel of the family f, which must be supported.
func For(f cpu.Family) LeastFunc {
	switch f {
	case cpu.AVX512:
		return leastAVX512
	case cpu.BMI2:
		return leastBMI2
	}
	return leastGeneric
}

// many is the number of columns from which on a block is computed as a part of
// many: what the next one reads is fetched ahead.
const many = 24

func leastAVX512(dst, offers *Block, columns uint64, p *Program, routes []Route, chunk int, lines []int8) {
	if columns == 0 {
		return
	}
	copyColumns(dst, offers, columns)
	if len(p.Groups) == 0 {
		return
	}
	ahead := fetchAhead(offers, columns, lines)
	leastGroups(dst, columns, p, &routes[0], chunk, ahead.step, ahead.next)
}

// ahead says what a kernel fetches into the cache while it works.
type ahead struct {
	step int     // 1 to fetch the lines that the next chunk may read, or 0
	next uintptr // address of the next offers
}

// fetchAhead fetches lines if there are many columns, and says how to go on.
func fetchAhead(offers *Block, columns uint64, lines []int8) ahead {
	here := uintptr(unsafe.Pointer(offers))
	if bits.OnesCount64(columns) < many {
		return ahead{0, here}
	}
	fetch(lines)
	return ahead{1, here + Side*Side}
}

// copyColumns copies columns, at least one, of a block.
//
//go:noescape
func copyColumns(dst, src *Block, columns uint64)

// fetch brings lines closer.
//
//go:noescape
func fetch(lines []int8)

// leastGroups applies all groups of p, at least one, to columns, at least one. It
// fetches lines beside those that it reads, as many panels on as the chunk has words
// times step, and what is at next.
//
//go:noescape
func leastGroups(dst *Block, columns uint64, p *Program, routes *Route, chunk, step int, next uintptr)

func leastBMI2(dst, offers *Block, columns uint64, p *Program, routes []Route, chunk int, lines []int8) {
	for left := columns; left != 0; left &= left - 1 {
		at := bits.TrailingZeros64(left) * Side
		*(*[Side]int8)(dst[at:]) = *(*[Side]int8)(offers[at:])
	}
	ahead := fetchAhead(offers, columns, lines)
	for i := range p.Groups {
		g := &p.Groups[i]
		asked := g.Columns & columns
		if asked == 0 {
			continue
		}
		r := &routes[g.Route]
		words := r.Words[r.First[chunk]:r.First[chunk+1]]
		if len(words) == 0 {
			continue
		}
		leastWords(dst, asked, g.Columns, &p.Rows[g.First], &r.Scores[0], r.Stride, words,
			ahead.step*len(words)*r.Stride, ahead.next, &byteMask)
		ahead.next += uintptr(ahead.step * fetched * len(words))
	}
}

// fetched is the number of bytes of the next offers that are fetched with each
// word.
const fetched = 2 * Side

// byteMask[b] has the byte i all ones if bit i of b is set, and 0 otherwise.
var byteMask = func() (t [256]uint64) {
	for b := range t {
		for i := range 8 {
			t[b] |= uint64(b>>i&1) * 0xff << (8 * i)
		}
	}
	return t
}()

// leastWords applies words, at least one, to columns, at least one, out of those of
// a group. It fetches the lines that are ahead bytes after those that it reads, and
// what is at next. masks is byteMask.
//
//go:noescape
func leastWords(dst *Block, columns, of uint64, rows *uint32, scores *int8, stride int, words []Word, ahead int, next uintptr, masks *[256]uint64)
