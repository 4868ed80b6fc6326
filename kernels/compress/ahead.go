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
