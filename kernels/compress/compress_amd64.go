//go:build !purego

package compress

//lint:file-ignore U1000 the assembly uses the fields of passes and forms

import (
	"unsafe"

	"grenier/kernels/cpu"
	"grenier/kernels/internal/swar"
	"grenier/kernels/window"
)

// For returns the kernel of the family f, which must be supported, for scores of the given
// width in bits. It panics if the width is not 2, 3, 4, 6 or 8.
func For(f cpu.Family, width int) LeastFunc {
	switch f {
	case cpu.AVX512:
		return leastAVX512(width)
	case cpu.BMI2:
		return leastBMI2(width)
	}
	return leastGeneric(width)
}

func leastAVX512(width int) LeastFunc {
	size := lineBytes(width)
	return func(_ *Scratch, dst, offers *Block, columns uint64, p *Program, routes []Route, chunk int, lines []int8) {
		if columns == 0 {
			return
		}
		if width == 8 {
			copyColumns(dst, offers, columns)
		} else {
			fillColumns(dst, columns, window.None)
		}
		if len(p.Groups) == 0 {
			return
		}
		ahead := fetchAhead(offers, columns, lines)
		leastGroups(dst, columns, p, &routes[0], chunk, size, ahead.step, ahead.next)
	}
}

// copyColumns copies columns, at least one, of a block.
//
//go:noescape
func copyColumns(dst, src *Block, columns uint64)

// fillColumns sets all scores of columns, at least one, of a block.
//
//go:noescape
func fillColumns(dst *Block, columns uint64, score int8)

// leastGroups applies all groups of p, at least one, to columns, at least one, with lines of
// size bytes. It fetches, if step is 1, the lines that words with the same places in the next chunk
// read, and, if there are offers, the bytes at next.
//
//go:noescape
func leastGroups(dst *Block, columns uint64, p *Program, routes *Route, chunk, size, step int, next uintptr)

// Without AVX-512 a shuffle finds 16 scores at a time. Scores and rows of a word have the same order, so what 16 rows take
// stands close together in the line. A pass brings to 32 rows, half a column, what they take from two windows of 16
// scores: one for the first 16 rows, one for the others. Most words take one or two passes.
type pass struct {
	control [32]uint8 // by row: the place in its window, or from 0x80 on if it takes nothing
	shift   [4]uint8  // of the scores in a byte: twice that of the first window, and of the second
	begin   [2]uint8  // of the windows, in bytes of the line
	half    uint8     // where the rows begin in a column
	_       uint8
}

// passes are what a word takes, in list[:bytes/size of a pass].
type passes struct {
	pick, place uint64 // of the word
	bytes       int
	list        [8]pass
}

// A form says how windows lie in lines of a width.
type form struct {
	size       int    // of a line, in bytes
	align      uint64 // bits of the place where a window may begin
	part, last uint64 // it begins at the latest at last after the part of the line that these bits say
	offset     uint64 // bits of the place that are bytes of the line
	shift      uint64 // bits of the place that are shifts, times 8
	mask       uint64 // the bits of a score, or of its first part, in each byte
}

// forms has the forms by width. Windows of scores in two parts, or of four in a byte, begin at multiples of 16.
var forms = map[int]*form{
	2: {16, 48, 0, 48, 0, 48, 0x03 * swar.Ones},
	3: {24, 48, 0, 48, 0, 48, 0x03 * swar.Ones},
	4: {32, 127, 32, 16, 31, 32, 0x0f * swar.Ones},
	6: {48, 48, 0, 48, 0, 48, 0x3f * swar.Ones},
	8: {64, 127, 0, 48, 63, 0, 0xff * swar.Ones},
}

// slots is the number of words whose passes are kept: more than a tile of the engine reads.
const slots = 1024

// kept holds the passes of the words that were met last, each in the slot that its address says.
type kept struct {
	form   *form
	passes *[slots]passes
}

// of returns the passes that are kept of words for a form.
func (k *kept) of(f *form) *[slots]passes {
	if k.form != f {
		k.form, k.passes = f, new([slots]passes)
	}
	return k.passes
}

func leastBMI2(width int) LeastFunc {
	lineBytes(width) // panics if there is no such width
	form := forms[width]
	return func(s *Scratch, dst, offers *Block, columns uint64, p *Program, routes []Route, chunk int, lines []int8) {
		if columns == 0 {
			return
		}
		ahead := fetchAhead(offers, columns, lines)
		leastPasses(dst, offers, columns, p, unsafe.SliceData(routes), chunk, ahead.step, ahead.next, form, s.of(form), &byteMask)
	}
}

// byteMask[b] has the byte i all ones if bit i of b is set, and 0 otherwise.
var byteMask = func() (t [256]uint64) {
	for b := range t {
		for i := range 8 {
			t[b] |= uint64(b>>i&1) * 0xff << (8 * i)
		}
	}
	return t
}()

// leastPasses sets columns, at least one, to the offers, or to window.None without offers, and applies all groups of p to them.
// It fetches what leastGroups does. masks is byteMask.
//
//go:noescape
func leastPasses(dst, offers *Block, columns uint64, p *Program, routes *Route, chunk, step int, next uintptr, form *form, known *[slots]passes, masks *[256]uint64)
