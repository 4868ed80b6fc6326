//go:build (amd64 || arm64) && !purego

package transpose

import "grenier/kernels/window"

// heights are tables of codes for vector kernels. How far a score or a floor is above the
// least one, -v, is called its height: the height of the new code is the larger one of its
// floor's and of the negated least's. Tables are looked up by the low six bits, which are
// 63 for window.None and for no code, or the low four bits, of codes of 2, 3 or 4.
type heights struct {
	negated table     // by code of the least: the height of its negated score; 0 for None
	floor   table     // by code: the height of its floor
	first   table     // by height: the first code of the score
	middle  [16]uint8 // the height of 0; codes up to here ascend with the floor
}

type table [64]uint8

func newHeights(c *window.Codes) (h heights) {
	for _, code := range c.All {
		h.negated[code] = uint8(c.Values - int(c.Score[code]))
		h.floor[code] = uint8(c.Values + int(c.Floor[code]))
	}
	for score := -c.Values; score <= c.Values; score++ {
		h.first[score+c.Values] = c.Code(score, -c.Values)
	}
	for i := range h.middle {
		h.middle[i] = uint8(c.Values)
	}
	return h
}
