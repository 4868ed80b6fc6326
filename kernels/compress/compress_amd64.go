//go:build !purego

package compress

import (
	"grenier/kernels/cpu"
	"grenier/kernels/window"
)

// For returns the kernel of the family f, which must be supported, for scores of the given
// width in bits. It panics if the width is not 2, 3, 4, 6 or 8.
func For(f cpu.Family, width int) LeastFunc {
	switch f {
	case cpu.AVX512:
		return leastAVX512(width)
	case cpu.BMI2:
		return leastBMI2(width)
	}
	return leastGeneric(width)
}

func leastAVX512(width int) LeastFunc {
	size := lineBytes(width)
	return func(dst, offers *Block, columns uint64, p *Program, routes []Route, chunk int, lines []int8) {
		if columns == 0 {
			return
		}
		if width == 8 {
			copyColumns(dst, offers, columns)
		} else {
			fillColumns(dst, columns, window.None)
		}
		if len(p.Groups) == 0 {
			return
		}
		ahead := fetchAhead(offers, columns, lines)
		leastGroups(dst, columns, p, &routes[0], chunk, size, ahead.step, ahead.next)
	}
}

// copyColumns copies columns, at least one, of a block.
//
//go:noescape
func copyColumns(dst, src *Block, columns uint64)

// fillColumns sets all scores of columns, at least one, of a block.
//
//go:noescape
func fillColumns(dst *Block, columns uint64, score int8)

// leastGroups applies all groups of p, at least one, to columns, at least one, with lines of
// size bytes. It fetches lines beside those that it reads, as many panels on as the chunk
// has words times step, and, if there are offers, the bytes at next.
//
//go:noescape
func leastGroups(dst *Block, columns uint64, p *Program, routes *Route, chunk, size, step int, next uintptr)

func leastBMI2(width int) LeastFunc {
	size := lineBytes(width)
	return func(dst, offers *Block, columns uint64, p *Program, routes []Route, chunk int, lines []int8) {
		begin(dst, offers, columns)
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
				size, ahead.step*len(words)*r.Stride, ahead.next, &byteMask)
			ahead.next += uintptr(ahead.step * fetched * len(words))
		}
	}
}

// byteMask[b] has the byte i all ones if bit i of b is set, and 0 otherwise.
var byteMask = func() (t [256]uint64) {
	for b := range t {
		for i := range 8 {
			t[b] |= uint64(b>>i&1) * 0xff << (8 * i)
		}
	}
	return t
}()

// leastWords applies words, at least one, to columns, at least one, out of the columns
// of a group, with lines of size bytes. It fetches the lines that are ahead bytes after the lines
// that it reads, and, if there are offers, the bytes at next. masks is byteMask.
//
//go:noescape
func leastWords(dst *Block, columns, of uint64, rows *uint32, scores *int8, stride int, words []Word, size, ahead int, next uintptr, masks *[256]uint64)
