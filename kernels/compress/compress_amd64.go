//go:build !purego

package compress

import (
	"math/bits"
	"unsafe"

	"grenier/kernels/cpu"
)

// For returns the kernel of the family f, which must be supported.
func For(f cpu.Family) LeastFunc {
	if f == cpu.AVX512 {
		return leastAVX512
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
	if bits.OnesCount64(columns) < many {
		leastGroups(dst, columns, p, &routes[0], chunk, 0, &dst[0])
		return
	}
	fetch(lines)
	leastGroups(dst, columns, p, &routes[0], chunk, 1, (*int8)(unsafe.Add(unsafe.Pointer(offers), len(offers))))
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
// fetches lines beside those that it reads, as many words on as the chunk has, times step, and what is
// at next.
//
//go:noescape
func leastGroups(dst *Block, columns uint64, p *Program, routes *Route, chunk, step int, next *int8)
