package window

import (
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"

	"grenier/kernels/internal/shared"
	"grenier/kernels/internal/swar"
)

// tile is the number of codes that the generic code takes at once, one in each byte of a
// word.
const tile = 8

// load sets codes to the codes of a line, each in a byte.
func (c *Codes) load(codes *shared.Line, line []int8) {
	var packed shared.Line
	for i := range c.Bits { // as many words as a code has bits
		packed[i] = swar.Load(line[i*tile:])
	}
	packed.Spread(codes, c.Bits)
}

// store replaces a line by codes, each in a byte whose other bits do not matter.
func (c *Codes) store(line []int8, codes *shared.Line) {
	var packed shared.Line
	packed.Pack(codes, c.Bits)
	for i := range c.Bits {
		swar.Store(line[i*tile:], packed[i])
	}
}

// atEnd returns, of eight codes, the sign bits of the ones that have a score of -v or v: the
// first code and the last one.
func (c *Codes) atEnd(x uint64) uint64 {
	first, last := uint64(c.All[0])*swar.Ones, uint64(c.All[len(c.All)-1])*swar.Ones
	return swar.Highs &^ (swar.NonZero(x^first) & swar.NonZero(x^last))
}

// Copy copies lines of codes of any width, or of scores, that others may be writing. They start at a
// multiple of 8 bytes. Codes of two parts can be of two moments, as the package comment says.
func Copy(dst, src []int8) {
	from := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(src))), len(src)/8)
	for i := len(from) - 1; i >= 0; i-- { // second parts first
		swar.Store(dst[i*8:], atomic.LoadUint64(&from[i]))
	}
}

// Resume gives lines as they begin a window the scores of a copy that was made while the window was
// searched. Floors stay: the floors of the copy can be of another moment than its scores.
func (c *Codes) Resume(lines, found []int8) {
	if c.Bits == 8 { // of one part
		copy(lines, found)
		return
	}
	var begin, other shared.Line
	for at := 0; at < len(lines); at += c.Line() {
		c.load(&begin, lines[at:])
		c.load(&other, found[at:])
		codes, others := begin.Scores(), other.Scores()
		for i, code := range codes {
			codes[i] = int8(c.resumed[code][others[i]])
		}
		c.store(lines[at:], &begin)
	}
}

// resume returns the code of a score that the code found shows, with the floor that code shows.
func (c *Codes) resume(code, found uint8) uint8 {
	score, floor := int(c.Score[found]), int(c.Floor[code])
	score = max(score, floor)
	return c.Code(score, floor)
}

// Valid reports whether some lines hold nothing but codes, or of Eight any number of bytes.
func (c *Codes) Valid(lines []int8) bool {
	if c.Bits == 8 {
		return !slices.ContainsFunc(lines, func(code int8) bool { return code > int8(c.All[len(c.All)-1]) })
	}
	least, above := from(c.first[0]), from(c.first[c.Values+1])
	gap, end := from(c.Zero+1), from(c.All[len(c.All)-1]+1)
	var codes shared.Line
	others := uint64(0)
	for at := 0; at < len(lines); at += c.Line() {
		c.load(&codes, lines[at:])
		for i := range codes {
			x := codes[i]
			others |= ^(x + least) | (x+gap)&^(x+above) | (x + end)
		}
	}
	return others&swar.Highs == 0
}

// ValidDigits reports whether some lines hold nothing but digits of the window, and how many
// of them are -v or v: at an end of the window.
func (c *Codes) ValidDigits(lines []int8, signed bool) (valid bool, ends int) {
	v, mask, offset := uint64(c.Values)*swar.Ones, ^uint64(0), uint64(0)
	if signed {
		mask, offset = uint64(1<<c.Bits-1)*swar.Ones, v
	}
	above := from(uint8(c.Values + 1 + int(uint8(offset))))
	var digits shared.Line
	var others uint64
	for ; len(lines) > 0; lines = lines[c.DigitLine(signed):] {
		c.loadDigits(&digits, lines, signed)
		for i := range digits {
			x := (digits[i] + offset) & mask // from 0 to 2v, or to v
			others |= x | (x&swar.Lows + above)
			ends += bits.OnesCount64(swar.Highs &^ swar.NonZero(x^(v+offset)))
			if signed {
				ends += bits.OnesCount64(swar.Highs &^ swar.NonZero(x))
			}
		}
	}
	return others&swar.Highs == 0, ends
}

// Ends returns the columns of a line of digits that are at an end of the window.
func (c *Codes) Ends(line []int8, signed bool) (columns uint64) {
	mask := ^uint64(0)
	if signed {
		mask = uint64(1<<c.Bits-1) * swar.Ones
	}
	var digits shared.Line
	c.loadDigits(&digits, line, signed)
	for i := range digits {
		within := swar.NonZero(digits[i] ^ uint64(c.Values)*swar.Ones)
		if signed {
			within &= swar.NonZero((digits[i] + uint64(c.Values)*swar.Ones) & mask)
		}
		columns |= swar.Gather(swar.Highs&^within) << (i * tile)
	}
	return columns
}

// from returns a summand: added to eight numbers below 128, it sets the sign bits of the
// numbers that are at least n.
func from(n uint8) uint64 { return uint64(128-n) * swar.Ones }

// lookUp looks eight bytes up.
func lookUp(x uint64, table *[256]uint8) uint64 {
	return uint64(table[uint8(x)]) | uint64(table[uint8(x>>8)])<<8 |
		uint64(table[uint8(x>>16)])<<16 | uint64(table[uint8(x>>24)])<<24 |
		uint64(table[uint8(x>>32)])<<32 | uint64(table[uint8(x>>40)])<<40 |
		uint64(table[uint8(x>>48)])<<48 | uint64(table[uint8(x>>56)])<<56
}
