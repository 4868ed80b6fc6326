//go:build !purego

package window

import (
	"grenier/kernels/cpu"
	"grenier/kernels/internal/shared"
)

// TurnFor returns the kernel of the family f, which must be supported, for codes c.
func TurnFor(f cpu.Family, c *Codes) TurnFunc {
	t := newTurner(c)
	switch f {
	case cpu.AVX512:
		return t.avx512(newVectors(c, &c.digits))
	case cpu.BMI2:
		return t.avx2(newVectors(c, &c.digits))
	}
	return t.generic
}

func (t *turner) avx512(v *vectors) TurnFunc {
	turn := map[int]func(lines, captures *int8, count int, begin *[256]uint8, v *vectors, alive uint64, sources *uint64) uint64{
		2: turn2AVX512, 3: turn3AVX512, 4: turn4AVX512, 6: turn6AVX512}[t.c.Bits]
	return func(lines, captures []int8, base int, again bool, sources *[Side]uint64) uint64 {
		n, begin := len(lines)/t.c.Line(), &t.begin[base]
		if n == 0 {
			return alive(again)
		}
		captures = captures[: n*Side : len(captures)]
		return turn(&lines[0], &captures[0], n, begin, v, alive(again), &sources[:n][0])
	}
}

func (t *turner) avx2(v *vectors) TurnFunc {
	turn := map[int]func(lines, captures *int8, count, base int, v *vectors, alive uint64, sources *uint64) uint64{
		2: turn2AVX2, 3: turn3AVX2, 4: turn4AVX2, 6: turn6AVX2}[t.c.Bits]
	return func(lines, captures []int8, base int, again bool, sources *[Side]uint64) uint64 {
		n, _ := len(lines)/t.c.Line(), &t.begin[base] // the same bases are allowed
		if n == 0 {
			return alive(again)
		}
		captures = captures[: n*Side : len(captures)]
		return turn(&lines[0], &captures[0], n, base, v, alive(again), &sources[:n][0])
	}
}

// alive returns the columns that a TurnFunc returns for no lines.
func alive(again bool) uint64 {
	if again {
		return 0
	}
	return ^uint64(0)
}

// DigitsFor returns the kernel of the family f, which must be supported, for codes c and digits
// that are signed or not.
func DigitsFor(f cpu.Family, c *Codes, signed bool) DigitsFunc {
	type kernels = map[bool]map[int]func(dst, src *int8, count int, v *vectors) int
	switch f {
	case cpu.AVX512:
		return c.digitsBy(signed, kernels{
			true:  {2: digits2AVX512, 3: digits3AVX512, 4: digits4AVX512, 6: digits6AVX512},
			false: {2: sizes2AVX512, 3: sizes3AVX512, 4: sizes4AVX512, 6: sizes6AVX512},
		}[signed][c.Bits])
	case cpu.BMI2:
		return c.digitsBy(signed, kernels{
			true:  {2: digits2AVX2, 3: digits3AVX2, 4: digits4AVX2, 6: digits6AVX2},
			false: {2: sizes2AVX2, 3: sizes3AVX2, 4: sizes4AVX2, 6: sizes6AVX2},
		}[signed][c.Bits])
	}
	return c.digitsGeneric(signed)
}

// digitsBy returns a DigitsFunc by a kernel for at least one line.
func (c *Codes) digitsBy(signed bool, kernel func(dst, src *int8, count int, v *vectors) int) DigitsFunc {
	v, line := newVectors(c, c.tableOf(signed)), c.DigitLine(signed)
	return func(dst, src []int8) (ends int) {
		if n := len(src) / c.Line(); n != 0 {
			dst = dst[: n*line : len(dst)]
			ends = kernel(&dst[0], &src[0], n, v)
		}
		return ends
	}
}

// SumFor returns the kernel of the family f, which must be supported, for digits of
// codes c that are signed or not.
func SumFor(f cpu.Family, c *Codes, signed bool) SumFunc {
	if c.Bits == 8 {
		return c.sumGeneric(signed)
	}
	type kernels = map[bool]map[int]func(dst, lines *int8, count int, v *vectors)
	switch f {
	case cpu.AVX512:
		return c.sum(signed, kernels{
			true:  {2: sum2AVX512, 3: sum3AVX512, 4: sum4AVX512, 6: sum6AVX512},
			false: {2: sumSizes1AVX512, 3: sumSizes2AVX512, 4: sumSizes2AVX512, 6: sumSizes4AVX512},
		}[signed][c.Bits])
	case cpu.BMI2:
		return c.sum(signed, kernels{
			true:  {2: sum2AVX2, 3: sum3AVX2, 4: sum4AVX2, 6: sum6AVX2},
			false: {2: sumSizes1AVX2, 3: sumSizes2AVX2, 4: sumSizes2AVX2, 6: sumSizes4AVX2},
		}[signed][c.Bits])
	}
	return c.sumGeneric(signed)
}

// sum returns a SumFunc by a kernel for at least one line.
func (c *Codes) sum(signed bool, kernel func(dst, lines *int8, count int, v *vectors)) SumFunc {
	line, v := c.DigitLine(signed), newVectors(c, &c.digits)
	if !signed && c.half != nil {
		v = newVectors(c.half, &c.digits)
	}
	return func(dst, lines []int8) {
		if n := len(lines) / line; n != 0 {
			dst = dst[: n*Side : len(dst)]
			kernel(&dst[0], &lines[0], n, v)
		}
	}
}

// vectors are the operands of vector kernels. Of codes of two parts, mask and shift belong to
// the first one.
type vectors struct {
	mask      [32]uint8   // the bits of a code
	shift     [8]uint64   // for each eight codes: where they are in the bytes of a line
	half      [8]uint64   // the same for lines of digits of half the bits
	high      [8]uint64   // of 6 bits: the same for their high bits, by rotation to bits 4 and 5
	up, down  [4]uint64   // the same by a shift to the left in a first half, to the right in the other
	highMask  [32]uint8   // bits 4 and 5
	zeros     [64]int8    // lines of Zero
	zero      [32]uint8   // Zero
	first     [32]uint8   // the first code
	last      [32]uint8   // the last code
	sign      [32]uint8   // the sign bit of a digit
	above     [32]uint8   // by clipped capture value from 0 up: as in turner
	below     [32]uint8   // by the low three bits of one below 0, and 8 if there are only captures
	most      [32]int8    // v
	least     [32]int8    // -v
	noCapture [32]int8    // NoCapture
	only      [32]int8    // OnlyCaptures
	seven     [32]int8    // 7
	eight     [32]int8    // 8
	digits    [64]uint8   // by code: the digit, or size
	steps     [64]uint8   // digits, each 16 XOR the 16 before
	sixteen   [32]int8    // 16
	ones      [32]int8    // 1
	byteOf    [32]uint8   // of a line of 1 bit each: the byte of each of the first 32 digits
	bitOf     [32]uint8   // and the bit in it
	four      [32]uint8   // 4
	threes    [Side]uint8 // of 3 bits: as shared.Threes has these
	parts     [Side]uint8
	places    [Side]uint8
}

// newVectors returns those for codes c, of which digits tells the digits.
func newVectors(c *Codes, digits *[256]uint8) *vectors {
	v := &vectors{}
	v.threes, v.parts, v.places = shared.Threes()
	low := min(c.Bits, 4) &^ 1 // the bits of a code that a line begins with
	for i := range v.mask {
		v.mask[i], v.highMask[i] = 1<<low-1, 3<<4
		v.zero[i], v.first[i], v.last[i], v.sign[i] = c.Zero, c.All[0], c.All[len(c.All)-1], 1<<(c.Bits-1)
		v.most[i], v.least[i], v.seven[i], v.eight[i] = int8(c.Values), int8(-c.Values), 7, 8
		v.noCapture[i], v.only[i], v.sixteen[i], v.ones[i] = NoCapture, OnlyCaptures, 16, 1
		v.byteOf[i], v.bitOf[i], v.four[i] = uint8(i/8), 1<<(i%8), 4
	}
	for half := 0; half < 32; half += 16 { // shuffles look up in each half
		for score := range c.Values + 1 {
			v.above[half+score] = c.start(score, 0)
		}
		for score := -c.Values; score < 0; score++ {
			v.below[half+score&7] = c.start(0, score)
			v.below[half+score&7+8] = c.start(score, score)
		}
	}
	for i := range v.shift {
		_, shift := place(i*tile, low)
		v.shift[i] = uint64(shift)
		_, shift = place(i*tile, max(c.Bits/2, 2))
		v.half[i] = uint64(shift)
		_, shift = place(i*tile, 2)
		v.high[i] = uint64(shift-4) % 64
		if i < len(v.up) {
			v.up[i] = uint64(4 - shift)
		} else {
			v.down[i-len(v.up)] = uint64(shift - 4)
		}
	}
	for i := range v.steps {
		v.digits[i], v.steps[i] = digits[i], digits[i]
		if i >= 16 {
			v.steps[i] ^= digits[i-16]
		}
	}
	for i := range len(v.zeros) / c.Line() {
		for k := range Side {
			c.Put(v.zeros[i*c.Line():], k, c.Zero)
		}
	}
	return v
}

// turn4AVX512 is a TurnFunc for at least one line of codes of 4 bits. Of the columns
// alive, it takes none to begin again and all otherwise.
//
//go:noescape
func turn4AVX512(lines, captures *int8, count int, begin *[256]uint8, v *vectors, alive uint64, sources *uint64) uint64

// turn2AVX512 is turn4AVX512 for codes of 2 bits.
//
//go:noescape
func turn2AVX512(lines, captures *int8, count int, begin *[256]uint8, v *vectors, alive uint64, sources *uint64) uint64

// turn3AVX512 is turn4AVX512 for codes of 3 bits.
//
//go:noescape
func turn3AVX512(lines, captures *int8, count int, begin *[256]uint8, v *vectors, alive uint64, sources *uint64) uint64

// turn6AVX512 is turn4AVX512 for codes of 6 bits.
//
//go:noescape
func turn6AVX512(lines, captures *int8, count int, begin *[256]uint8, v *vectors, alive uint64, sources *uint64) uint64

// turn4AVX2 is turn4AVX512 by AVX2. It clips captures itself.
//
//go:noescape
func turn4AVX2(lines, captures *int8, count, base int, v *vectors, alive uint64, sources *uint64) uint64

// turn2AVX2 is turn4AVX2 for codes of 2 bits.
//
//go:noescape
func turn2AVX2(lines, captures *int8, count, base int, v *vectors, alive uint64, sources *uint64) uint64

// turn3AVX2 is turn4AVX2 for codes of 3 bits.
//
//go:noescape
func turn3AVX2(lines, captures *int8, count, base int, v *vectors, alive uint64, sources *uint64) uint64

// turn6AVX2 is turn4AVX2 for codes of 6 bits.
//
//go:noescape
func turn6AVX2(lines, captures *int8, count, base int, v *vectors, alive uint64, sources *uint64) uint64

// sum4AVX512 is a SumFunc for at least one line of digits of 4 bits.
//
//go:noescape
func sum4AVX512(dst, lines *int8, count int, v *vectors)

// sum2AVX512 is sum4AVX512 for digits of 2 bits.
//
//go:noescape
func sum2AVX512(dst, lines *int8, count int, v *vectors)

// sum3AVX512 is sum4AVX512 for digits of 3 bits.
//
//go:noescape
func sum3AVX512(dst, lines *int8, count int, v *vectors)

// sum6AVX512 is sum4AVX512 for digits of 6 bits.
//
//go:noescape
func sum6AVX512(dst, lines *int8, count int, v *vectors)

// sum4AVX2 is sum4AVX512 by AVX2.
//
//go:noescape
func sum4AVX2(dst, lines *int8, count int, v *vectors)

// sum2AVX2 is sum4AVX2 for digits of 2 bits.
//
//go:noescape
func sum2AVX2(dst, lines *int8, count int, v *vectors)

// sum3AVX2 is sum4AVX2 for digits of 3 bits.
//
//go:noescape
func sum3AVX2(dst, lines *int8, count int, v *vectors)

// sum6AVX2 is sum4AVX2 for digits of 6 bits.
//
//go:noescape
func sum6AVX2(dst, lines *int8, count int, v *vectors)

// digits2AVX512 is a DigitsFunc for at least one line of codes of 2 bits.
//
//go:noescape
func digits2AVX512(dst, src *int8, count int, v *vectors) int

// digits3AVX512 is digits2AVX512 for codes of 3 bits.
//
//go:noescape
func digits3AVX512(dst, src *int8, count int, v *vectors) int

// digits4AVX512 is digits2AVX512 for codes of 4 bits.
//
//go:noescape
func digits4AVX512(dst, src *int8, count int, v *vectors) int

// digits6AVX512 is digits2AVX512 for codes of 6 bits.
//
//go:noescape
func digits6AVX512(dst, src *int8, count int, v *vectors) int

// digits2AVX2 is digits2AVX512 by AVX2.
//
//go:noescape
func digits2AVX2(dst, src *int8, count int, v *vectors) int

// digits3AVX2 is digits2AVX2 for codes of 3 bits.
//
//go:noescape
func digits3AVX2(dst, src *int8, count int, v *vectors) int

// digits4AVX2 is digits4AVX512 by AVX2.
//
//go:noescape
func digits4AVX2(dst, src *int8, count int, v *vectors) int

// digits6AVX2 is digits6AVX512 by AVX2.
//
//go:noescape
func digits6AVX2(dst, src *int8, count int, v *vectors) int

// sizes2AVX512 is a DigitsFunc for at least one line of codes of 2 bits and digits that are not signed.
//
//go:noescape
func sizes2AVX512(dst, src *int8, count int, v *vectors) int

// sizes3AVX512 is sizes2AVX512 for codes of 3 bits.
//
//go:noescape
func sizes3AVX512(dst, src *int8, count int, v *vectors) int

// sizes4AVX512 is sizes2AVX512 for codes of 4 bits.
//
//go:noescape
func sizes4AVX512(dst, src *int8, count int, v *vectors) int

// sizes6AVX512 is sizes2AVX512 for codes of 6 bits.
//
//go:noescape
func sizes6AVX512(dst, src *int8, count int, v *vectors) int

// sizes2AVX2 is sizes2AVX512 by AVX2.
//
//go:noescape
func sizes2AVX2(dst, src *int8, count int, v *vectors) int

// sizes3AVX2 is sizes2AVX2 for codes of 3 bits.
//
//go:noescape
func sizes3AVX2(dst, src *int8, count int, v *vectors) int

// sizes4AVX2 is sizes4AVX512 by AVX2.
//
//go:noescape
func sizes4AVX2(dst, src *int8, count int, v *vectors) int

// sizes6AVX2 is sizes6AVX512 by AVX2.
//
//go:noescape
func sizes6AVX2(dst, src *int8, count int, v *vectors) int

// sumSizes1AVX512 is a SumFunc for at least one line of digits of 1 bit that are not signed.
//
//go:noescape
func sumSizes1AVX512(dst, lines *int8, count int, v *vectors)

// sumSizes2AVX512 is sumSizes1AVX512 for digits of 2 bits.
//
//go:noescape
func sumSizes2AVX512(dst, lines *int8, count int, v *vectors)

// sumSizes4AVX512 is sumSizes1AVX512 for digits of 4 bits.
//
//go:noescape
func sumSizes4AVX512(dst, lines *int8, count int, v *vectors)

// sumSizes1AVX2 is sumSizes1AVX512 by AVX2.
//
//go:noescape
func sumSizes1AVX2(dst, lines *int8, count int, v *vectors)

// sumSizes2AVX2 is sumSizes2AVX512 by AVX2.
//
//go:noescape
func sumSizes2AVX2(dst, lines *int8, count int, v *vectors)

// sumSizes4AVX2 is sumSizes4AVX512 by AVX2.
//
//go:noescape
func sumSizes4AVX2(dst, lines *int8, count int, v *vectors)
