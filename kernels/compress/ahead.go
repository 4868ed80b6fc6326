//go:build (amd64 || arm64) && !purego

package compress

import (
	"math/bits"
	"unsafe"
)

// many is the number of columns from which on a block is computed as a part of
// many: lines that the next one reads are fetched ahead.
const many = 24

// ahead names the lines that a kernel fetches into the cache while it works.
type ahead struct {
	step int     // 1 to fetch the lines that the next chunk may read, or 0
	next uintptr // address of the next offers, if there are any
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

// fetch brings lines, which may be empty, closer.
//
//go:noescape
func fetch(lines []int8)

// fetchOwn fetches the part of a FetchFunc that belongs to the block itself: the offers of columns, at least one, if lines of
// size bytes have offers, and rows of lines.
func fetchOwn(offers *Block, columns uint64, lines []int8, rows uint64, size int) {
	if size == Side {
		fetchLines((*int8)(unsafe.Pointer(offers)), columns, size) // &offers[0] would wait for it
	}
	if rows != 0 && len(lines) > 0 {
		fetchLines(&lines[0], rows, size)
	}
}

// fetchLines fetches the lines of the set bits of mask, at least one. Lines are
// size bytes.
//
//go:noescape
func fetchLines(lines *int8, mask uint64, size int)
