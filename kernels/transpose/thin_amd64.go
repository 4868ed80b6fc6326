//go:build !purego

package transpose

import (
	"grenier/kernels/cpu"
	"grenier/kernels/window"
)

// ForThin returns the kernel of the family f, which must be supported, for lines that are a thin
// block (window.Thin) instead: positions that are not searched do not change.
func ForThin(f cpu.Family) UpdateFunc {
	if f == cpu.AVX512 {
		return updateThinAVX512
	}
	return updateThin
}

func updateThinAVX512(lines []int8, block *Block, columns, rows uint64, changes *Changes) {
	rows &= ^uint64(0) >> (Side - window.Thin(lines).Lines())
	switch {
	case rows == 0 || columns == 0:
		changes.Rows = 0
	case sparse(columns, rows, turningAVX512):
		updateThin(lines, block, columns, rows, changes)
	default:
		turnAVX512(&changes.turned, block, rows)
		changes.Rows = replaceThinAVX512(&lines[0], rows, &changes.turned, columns, heightsThin, &changes.Columns)
	}
}

// thinHeights are heights for codes of Eight.
type thinHeights struct {
	negated [256]uint8 // by code of the least: the height of its negated score; 0 for None
	floor   [256]uint8 // by code: the height of its floor
	first   table      // by height: the first code of the score
	middle  [16]uint8  // the height of 0; codes up to here ascend with the floor
}

var heightsThin = func() *thinHeights {
	h := &thinHeights{}
	for _, code := range window.Eight.All {
		h.negated[code] = uint8(window.Eight.Values - int(window.Eight.Score[code]))
		h.floor[code] = uint8(window.Eight.Values + int(window.Eight.Floor[code]))
	}
	for score := -window.Eight.Values; score <= window.Eight.Values; score++ {
		h.first[score+window.Eight.Values] = window.Eight.Code(score, -window.Eight.Values)
	}
	for i := range h.middle {
		h.middle[i] = uint8(window.Eight.Values)
	}
	return h
}()

// replaceThinAVX512 updates at least one line of a thin block by a block of least codes, row by row;
// it returns Rows.
//
//go:noescape
func replaceThinAVX512(lines *int8, rows uint64, block *Block, columns uint64, h *thinHeights, changed *[Side]uint64) uint64
