package transpose

import (
	"math/bits"

	"grenier/kernels/internal/shared"
	"grenier/kernels/internal/swar"
	"grenier/kernels/window"
)

// packed has the tables of the kernels for codes of one width.
type packed struct {
	bits, line int         // of a code; bytes of a line
	next       [4096]uint8 // by the low 6 bits of least and code: the next code
}

var two, three, four, six = newPacked(window.Two), newPacked(window.Three), newPacked(window.Four), newPacked(window.Six)

// packedOf returns the tables for codes of 2, 3, 4 or 6 bits.
func packedOf(bits int) *packed {
	switch bits {
	case two.bits:
		return two
	case three.bits:
		return three
	case four.bits:
		return four
	case six.bits:
		return six
	}
	panic("transpose: scores have 8 bits, codes 2, 3, 4 or 6")
}

func newPacked(c *window.Codes) *packed {
	p := &packed{bits: c.Bits, line: c.Line()}
	for _, code := range c.All {
		for _, least := range c.All {
			p.next[int(least)<<6|int(code)] = c.Next(code, least)
		}
		p.next[window.None%64<<6|int(code)] = c.Next(code, window.None)
	}
	return p
}

func (p *packed) updateGeneric(lines []int8, block *Block, columns, rows uint64, changes *Changes) {
	changes.turn(block)
	changes.Rows = 0
	var line, codes shared.Line
	for rows &= present(lines, p.line); rows != 0; rows &= rows - 1 {
		r := bits.TrailingZeros64(rows)
		line.LoadPart(lines[r*p.line:], p.line)
		line.Spread(&codes, p.bits)
		changes.Columns[r] = p.replaceCodes(&codes, (*[Side]int8)(changes.turned[r*Side:]), columns)
		if changes.Columns[r] != 0 {
			changes.Rows |= 1 << r
			line.Pack(&codes, p.bits)
			line.StorePart(lines[r*p.line:], p.line)
		}
	}
}

// replaceCodes updates the given columns of a line by a row of least codes and returns
// the columns that changed. Much of a line is the same: codes that do not change are looked up once.
func (p *packed) replaceCodes(codes *shared.Line, row *[Side]int8, columns uint64) (changed uint64) {
	still, by := ^uint64(0), ^uint64(0) // eight codes that stay, and the least codes there
	for i, old := range codes {
		c := i * tile
		least := swar.Load(row[c:])
		if old == still && least == by || columns>>c&0xff == 0 {
			continue
		}
		next := p.nextCodes(old, least)
		if next == old {
			still, by = old, least
			continue
		}
		flips, differ := differences(old, next, columns>>c)
		codes[i] ^= flips
		changed |= differ << c
	}
	return changed
}

// nextCodes returns the new values of eight codes.
func (p *packed) nextCodes(codes, least uint64) uint64 {
	const low = 0x003f003f003f003f
	even, odd := least&low<<6|codes&low, least>>8&low<<6|codes>>8&low
	return uint64(p.next[even&0xfff]) | uint64(p.next[odd&0xfff])<<8 |
		uint64(p.next[even>>16&0xfff])<<16 | uint64(p.next[odd>>16&0xfff])<<24 |
		uint64(p.next[even>>32&0xfff])<<32 | uint64(p.next[odd>>32&0xfff])<<40 |
		uint64(p.next[even>>48&0xfff])<<48 | uint64(p.next[odd>>48&0xfff])<<56
}
