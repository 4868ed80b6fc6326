package window

import (
	"math/bits"

	"grenier/kernels/internal/shared"
	"grenier/kernels/internal/swar"
)

// DigitsFunc turns lines of codes into lines of digits and returns how many of them have a
// score of -v or v, the ends of a window. dst has as many lines as src.
type DigitsFunc func(dst, src []int8) (ends int)

// digitsGeneric is the DigitsFunc that defines the others. Many codes are Zero.
func (c *Codes) digitsGeneric(signed bool) DigitsFunc {
	table, line := c.tableOf(signed), c.DigitLine(signed)
	return func(dst, src []int8) (ends int) {
		dst = dst[: len(src)/c.Line()*line : len(dst)]
		var codes shared.Line
		for at := 0; at < len(src); at += c.Line() {
			c.load(&codes, src[at:])
			for i, x := range codes {
				codes[i] = 0
				if x != uint64(c.Zero)*swar.Ones {
					codes[i] = lookUp(x, table)
					ends += bits.OnesCount64(c.atEnd(x))
				}
			}
			c.storeDigits(dst, &codes, signed)
			dst = dst[line:]
		}
		return ends
	}
}

// SumFunc adds lines of digits to the scores in dst, Side for each line, which wrap around
// as int8 does. Digits that are not signed have the signs of the scores; a score of 0 stays.
type SumFunc func(dst, lines []int8)

// sumGeneric is the SumFunc that defines the others.
func (c *Codes) sumGeneric(signed bool) SumFunc {
	line := c.DigitLine(signed)
	return func(dst, lines []int8) {
		var digits shared.Line
		for i := range len(lines) / line {
			c.loadDigits(&digits, lines[i*line:], signed)
			if scores := (*[Side]int8)(dst[i*Side:]); signed {
				c.sumLine(scores, &digits)
			} else {
				addSizes(scores, &digits)
			}
		}
	}
}

// sumLine adds a line of signed digits to dst. Many are 0. A sign bit is copied upwards by a
// product.
func (c *Codes) sumLine(dst *[Side]int8, line *shared.Line) {
	sign := uint64(1) << (c.Bits - 1)
	for i, digits := range line {
		if digits != 0 {
			digits |= digits & (sign * swar.Ones) * (256/sign - 2)
			swar.Store(dst[i*tile:], swar.Add(swar.Load(dst[i*tile:]), digits))
		}
	}
}

// addSizes adds a line of digits that are not signed to dst.
func addSizes(dst *[Side]int8, line *shared.Line) {
	for i, sizes := range line {
		if sizes != 0 {
			scores := swar.Load(dst[i*tile:])
			below := swar.Spread(swar.Gather(scores))
			above := swar.Spread(swar.Gather(swar.NonZero(scores))) &^ below
			swar.Store(dst[i*tile:], swar.Add(scores, sizes&above|swar.Neg(sizes)&below))
		}
	}
}

// tableOf returns the table of digits that are signed or not.
func (c *Codes) tableOf(signed bool) *[256]uint8 {
	if signed {
		return &c.digits
	}
	return &c.sizes
}

// loadDigits and storeDigits are load and store for digits that are signed or not.
func (c *Codes) loadDigits(digits *shared.Line, line []int8, signed bool) {
	switch {
	case c.Bits == 8:
		for i := range digits {
			digits[i] = swar.Load(line[i*tile:])
		}
	case signed:
		c.load(digits, line)
	case c.half != nil:
		c.half.load(digits, line)
	default:
		set := swar.Load(line)
		for i := range digits {
			digits[i] = swar.Spread(set>>(i*tile)) & swar.Ones
		}
	}
}

func (c *Codes) storeDigits(line []int8, digits *shared.Line, signed bool) {
	switch {
	case signed:
		c.store(line, digits)
	case c.half != nil:
		c.half.store(line, digits)
	default:
		set := uint64(0)
		for i := range digits {
			set |= swar.Gather(digits[i]<<7) << (i * tile)
		}
		swar.Store(line, set)
	}
}
