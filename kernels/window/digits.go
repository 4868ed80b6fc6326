package window

import (
	"math/bits"

	"grenier/kernels/internal/shared"
	"grenier/kernels/internal/swar"
)

// DigitsFunc turns lines of codes into lines of digits and returns how many of them have a
// score of -v or v, the ends of a window. dst has as many bytes as src, and may be the same.
type DigitsFunc func(dst, src []int8) (ends int)

// digitsGeneric is the DigitsFunc that defines the others. Many codes are Zero.
func (c *Codes) digitsGeneric(dst, src []int8) (ends int) {
	dst = dst[:len(src):len(dst)]
	var codes shared.Line
	for at := 0; at < len(src); at += c.Line() {
		c.load(&codes, src[at:])
		for i, x := range codes {
			codes[i] = 0
			if x != uint64(c.Zero)*swar.Ones {
				codes[i] = lookUp(x, &c.digits)
				ends += bits.OnesCount64(c.atEnd(x))
			}
		}
		c.store(dst[at:], &codes)
	}
	return ends
}

// SumFunc adds lines of digits to the scores in dst, Side for each line, which wrap around
// as int8 does.
type SumFunc func(dst, lines []int8)

// sumGeneric is the SumFunc that defines the others.
func (c *Codes) sumGeneric(dst, lines []int8) {
	var digits shared.Line
	for i := range len(lines) / c.Line() {
		c.load(&digits, lines[i*c.Line():])
		c.sumLine((*[Side]int8)(dst[i*Side:]), &digits)
	}
}

// sumLine adds a line of digits to dst. Many are 0. A sign bit is copied upwards by a
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
