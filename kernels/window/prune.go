package window

import (
	"grenier/kernels/internal/shared"
	"grenier/kernels/internal/swar"
)

// Clip replaces capture values by their parts beyond a base, 0 to 48, in place: values within
// it become 0, others come closer to 0 by as much. Later windows need no more: with a base b above it,
// they begin with these parts at base b less the base as they do with the values themselves at base b.
// The parts pack better. There are whole lines of values.
func Clip(captures []int8, base int) {
	if base == 0 {
		return
	}
	var table [256]uint8
	for x := range table {
		table[x] = uint8(beyond(int8(x), base))
	}
	for ; len(captures) > 0; captures = captures[tile:] {
		swar.Store(captures, lookUp(swar.Load(captures), &table))
	}
}

// beyond returns the part of a stored capture value beyond base.
func beyond(stored int8, base int) int8 {
	only := int8(0)
	if stored < OnlyCaptures {
		only = OnlyCaptures
	}
	switch v := int(stored - only); {
	case v >= 0:
		return int8(max(v-base, 0))
	case v == NoCapture:
		return stored
	case v+base < NoCapture:
		return int8(v+base) + only
	}
	return 0
}

// Prune replaces capture values that do not matter in the windows after one by 0, which packs better:
// captures, Side for each of lines, are the parts of them beyond the window whose codes lines has
// at its end. Scores that are not at an end of it are known, and those at the upper end cannot fall below
// the base of the next one.
func (c *Codes) Prune(captures, lines []int8) {
	bytes, last := c.Line(), uint64(c.All[len(c.All)-1])*swar.Ones
	var codes shared.Line
	for ; len(lines) > 0; lines, captures = lines[bytes:], captures[Side:] {
		c.load(&codes, lines)
		for i := range codes {
			values, below := swar.Load(captures[i*tile:]), swar.NonZero(codes[i]^last)
			keep := c.atEnd(codes[i]) & (below | ^values)
			swar.Store(captures[i*tile:], values&(keep>>7*0xff))
		}
	}
}

// PruneZeros replaces the capture values by 0 of scores that are 0 in a window: captures, Side for each of lines, are the parts of
// them beyond its base, and lines has its codes at its end. The window finds the same with them, and no later one needs them.
func (c *Codes) PruneZeros(captures, lines []int8) {
	bytes := c.Line()
	var codes shared.Line
	for ; len(lines) > 0; lines, captures = lines[bytes:], captures[Side:] {
		c.load(&codes, lines)
		for i := range codes {
			shown := swar.NonZero(lookUp(codes[i], &c.sizes))
			swar.Store(captures[i*tile:], swar.Load(captures[i*tile:])&(shown>>7*0xff))
		}
	}
}
