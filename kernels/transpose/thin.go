package transpose

import (
	"math/bits"

	"grenier/kernels/window"
)

// updateThin is the UpdateFunc of thin blocks that defines the others. Few positions are searched:
// each is updated by itself, and the block is not turned.
func updateThin(lines []int8, block *Block, columns, rows uint64, changes *Changes) {
	thin := window.Thin(lines)
	changes.Rows = 0
	var near window.ThinCodes
	for rows &= ^uint64(0) >> (Side - thin.Lines()); rows != 0; rows &= rows - 1 {
		r := bits.TrailingZeros64(rows)
		mask := thin.Mask(r)
		if mask&columns == 0 {
			continue
		}
		codes, changed := near.Load(thin, r), uint64(0)
		for left := mask & columns; left != 0; left &= left - 1 {
			c := bits.TrailingZeros64(left)
			i := bits.OnesCount64(mask & (1<<c - 1))
			if next := int8(nextThin[uint8(block[c*Side+r])][uint8(codes[i])]); next != codes[i] {
				codes[i] = next
				changed |= 1 << c
			}
		}
		if changed != 0 {
			near.Store(thin, r)
			changes.Rows |= 1 << r
			changes.Columns[r] = changed
		}
	}
}

// nextThin has the results of window.Eight.Next, by least and code.
var nextThin = func() *[256][256]uint8 {
	next := &[256][256]uint8{}
	for _, code := range window.Eight.All {
		for _, least := range window.Eight.All {
			next[least][code] = window.Eight.Next(code, least)
		}
		next[window.None][code] = window.Eight.Next(code, window.None)
	}
	return next
}()
