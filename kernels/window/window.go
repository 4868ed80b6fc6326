// Package window packs the knowledge of a solver about a score while it looks at a window of
// values only: 2, 3, 4 or 6 bits a position instead of bytes, or where few positions are left to be
// searched, bytes for these alone (Thin).
//
// A window with base b and v values shows a score s as sign(s) * min(max(|s|-b, 0), v).
// Clipping is odd and never turns the order of two scores around, so it commutes with
// negation and with the maximum: the result of a solver for clipped captures is the clipped
// score. The results of the windows of bases 0, v, 2v, ... sum to the score.
//
// A code says two things of a position: its clipped score as far as it is known, and the
// floor below which the score cannot fall, since the best capture gives as much. While
// they are searched, scores only move away from 0, so above 0 the score is its own floor.
// That leaves v + (v+1)(v+2)/2 codes: 4 for one value, 8 for two, 13 for three, 53 for eight, 251 for
// twenty.
//
// Codes ascend with the score, and among equal scores with the floor, so the least code of
// some positions has their least score. Codes of 2, 3 and 4 bits are numbered from 0 on.
//
// Results are kept as digits: only the clipped scores. Digits of the window of base 0
// are signed, in as many bits as a code, two's complement. In the windows after it the sign is
// known, so their digits are not signed and take fewer bits: 1 of Two, 2 of Three and Four, 4 of Six;
// digits of Eight, which is never the first, take bytes. A line of zeros is all zero bytes.
//
// A line is 64 codes or digits. Of 2 bits each, bits 2k and 2k+1 of byte j are code 16k+j;
// of 4 bits each, the low half of byte j is code j and the high half is code 32+j. So a
// kernel unpacks a line by a broadcast, a shift and a mask. Of digits of 1 bit, bit k of byte j is
// digit 8j+k. Other lines have two parts. Of 6 bits each, it is a line of the low 4 bits and then one
// of the high 2 bits. Of 3 bits each, it is a line of 2 bits, bits 0 and 2 of a code, and then one of
// 1 bit: bit 1, inverted where bit 2 is set.
//
// Lines are read while they are searched. Who changes codes of two parts stores the first one
// first, and who reads them loads the second one first: so a reader may see a new first part
// with an old second part, but never the reverse. This shows a score between 0 and the new one,
// as TestReadWhileWritten tries. Of 6 bits it does because codes of scores up to 0 are 3 to 47
// and codes of scores above are 55 to 62: scores up to 0 share no high bits with scores above, and the
// low bits of scores above are low bits of scores of 0. Of 3 bits, where all numbers are codes, it would
// not if the second part were a bit of the code. A score that seems closer to 0 than it
// has been is one that is out of date, and who reads it will do so again. Its floor can be any: who
// keeps copies of lines takes floors from elsewhere (Resume). Codes of thin blocks are
// bytes, which are written at once, and nothing else of such a block changes.
package window

import "grenier/kernels/internal/shared"

// Side is the number of codes in a line.
const Side = shared.Side

// None stands for the best of no moves, where there is no code. It is larger than any
// code.
const None = 127

// maxValues is the most values of any width.
const maxValues = 20

// Codes are the codes of one width. They are shared and must not be changed.
type Codes struct {
	Bits    int                    // of a code: 2, 3, 4, 6, or 8 in thin blocks
	Values  int                    // v
	All     []uint8                // the codes, ascending
	Score   [256]int8              // by code
	Floor   [256]int8              // by code
	Zero    uint8                  // the code of a score that is known to be 0
	first   [2*maxValues + 1]uint8 // by score + v: the first code of the score
	digits  [256]uint8             // by code: the signed digit
	sizes   [256]uint8             // by code: the digit that is not signed
	resumed [1 << 6][1 << 6]uint8  // the results of resume, but of Eight
	half    *Codes                 // those with as many bits as digits that are not signed; nil for Two and Eight
}

// The codes of all widths. Codes of Eight are bytes with a sign, and only in thin blocks.
var (
	Two   = newCodes(2, 1, 0, 3, nil)
	Three = newCodes(3, 2, 0, 6, Two)
	Four  = newCodes(4, 3, 0, 10, Two)
	Six   = newCodes(6, 8, 3, 55, Four)
	Eight = newCodes(8, maxValues, 0x80, 103, nil)
)

// newCodes numbers codes of scores up to 0 from least on, and those above from above on. The codes
// in half have as many bits as digits that are not signed.
func newCodes(bits, v int, least, above uint8, half *Codes) *Codes {
	c := &Codes{Bits: bits, Values: v, half: half}
	code := least
	for score := -v; score <= 0; score++ {
		c.first[score+v] = code
		for floor := -v; floor <= score; floor++ {
			c.add(code, score, floor)
			code++
		}
	}
	for score := 1; score <= v; score++ {
		c.first[score+v] = above
		c.add(above, score, score)
		above++
	}
	c.Zero = c.Code(0, 0)
	if bits < 8 {
		for _, code := range c.All {
			for _, found := range c.All {
				c.resumed[code][found] = c.resume(code, found)
			}
		}
	}
	return c
}

func (c *Codes) add(code uint8, score, floor int) {
	c.Score[code], c.Floor[code] = int8(score), int8(floor)
	c.digits[code], c.sizes[code] = uint8(score)&(1<<c.Bits-1), uint8(max(score, -score))
	c.All = append(c.All, code)
}

// Code returns the code of a score and its floor, both from -v to v, the floor at most the
// score. For scores above 0 the floor does not matter.
func (c *Codes) Code(score, floor int) uint8 {
	code := c.first[score+c.Values]
	if score <= 0 {
		code += uint8(floor + c.Values)
	}
	return code
}

// Next returns the new code when the best quiet move leaves the opponent with the score
// of the code least, None without a quiet move. The new score is the negated one, or the
// floor if that is higher.
func (c *Codes) Next(code, least uint8) uint8 {
	score, floor := int(c.Floor[code]), int(c.Floor[code])
	if least != None {
		score = max(score, -int(c.Score[least]))
	}
	return c.Code(score, min(floor, score))
}

// Line returns the bytes of a line.
func (c *Codes) Line() int { return c.Bits * Side / 8 }

// DigitLine returns the bytes of a line of digits.
func (c *Codes) DigitLine(signed bool) int {
	switch {
	case signed, c.Bits == 8:
		return c.Line()
	case c.half == nil:
		return Side / 8
	}
	return c.half.Line()
}

// place returns the byte and the shift of code i of a line of 2 or 4 bits each.
func place(i, bits int) (at, shift int) {
	line := bits * Side / 8
	return i % line, i / line * bits
}

// Get returns code i of a line.
func (c *Codes) Get(line []int8, i int) uint8 {
	switch c.Bits {
	case 3:
		low, high := Two.Get(line, i), uint8(line[Two.Line()+i/8])>>(i%8)&1
		return low&1 | (high^low>>1)<<1 | low>>1<<2
	case 6:
		return Four.Get(line, i) | Two.Get(line[Four.Line():], i)<<4
	}
	at, shift := place(i, c.Bits)
	return uint8(line[at]) >> shift & (1<<c.Bits - 1)
}

// Put replaces code i of a line.
func (c *Codes) Put(line []int8, i int, code uint8) {
	switch c.Bits {
	case 3:
		Two.Put(line, i, code&1|code>>2<<1)
		high := &line[Two.Line()+i/8]
		*high = int8(uint8(*high)&^(1<<(i%8)) | (code>>1&1^code>>2)<<(i%8))
		return
	case 6:
		Four.Put(line, i, code&15)
		Two.Put(line[Four.Line():], i, code>>4)
		return
	}
	at, shift := place(i, c.Bits)
	mask := uint8(1<<c.Bits-1) << shift
	line[at] = int8(uint8(line[at])&^mask | code<<shift)
}

// Capture values are the values of the best capture of a position for the player to move. They
// are stored so that frequent ones lie close together: from 0 up a value is itself, one below 0
// is less by 1. Further:
const (
	// NoCapture says that there is no capture.
	NoCapture = -1
	// OnlyCaptures is added to a stored value below NoCapture when there is no quiet move
	// either: the score is the value.
	OnlyCaptures = -64
)

// Begin returns the code of a position with the given stored capture value in the window
// with the given base, before anything is known of its quiet moves.
func (c *Codes) Begin(stored int8, base int) uint8 {
	v := int(stored)
	switch {
	case v > base:
		return c.Code(min(v-base, c.Values), 0)
	case v >= 0:
		return c.Zero
	case v == NoCapture:
		return c.Code(0, -c.Values)
	}
	only := v < OnlyCaptures
	if only {
		v -= OnlyCaptures
	}
	floor := min(max(v+1+base, -c.Values), 0)
	if only {
		return c.Code(floor, floor)
	}
	return c.Code(0, floor)
}

// maxBase is the largest base: a window above it shows no score.
const maxBase = 48

// TurnFunc begins a window with the given base, 0 to 48, in lines, of which there are at
// most 64: each code becomes the result of Begin for its capture value; captures has Side of
// them for each line. If again is set, the lines are those at the end of the window before,
// whose values end where this one's begin: scores that are not at an end of that window, -v
// or v, lie within the base, and their codes become Zero.
//
// It sets sources, for each of the lines, to the columns whose score is not 0 now, and
// returns the columns of which some line has a score that was at an end: all if again is
// not set. Nobody else may use the lines meanwhile.
type TurnFunc func(lines, captures []int8, base int, again bool, sources *[Side]uint64) (alive uint64)
