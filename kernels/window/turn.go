package window

import (
	"grenier/kernels/internal/shared"
	"grenier/kernels/internal/swar"
)

// source is set in a turner's tables for codes whose score is not 0.
const source = 0x80

// turner has the tables of a TurnFunc.
type turner struct {
	c     *Codes
	begin [maxBase + 1][256]uint8 // by base and capture value: the result of Begin, with source unless its score is 0
}

func newTurner(c *Codes) *turner {
	t := &turner{c: c}
	for base := range t.begin {
		for value := range t.begin[base] {
			code := c.Begin(int8(value), base)
			t.begin[base][value] = c.start(int(c.Score[code]), int(c.Floor[code]))
		}
	}
	return t
}

// start returns the code of a score and its floor as turners have it.
func (c *Codes) start(score, floor int) uint8 {
	if score != 0 {
		return c.Code(score, floor) | source
	}
	return c.Code(score, floor)
}

// generic is the TurnFunc that defines the others.
func (t *turner) generic(lines, captures []int8, base int, again bool, sources *[Side]uint64) (alive uint64) {
	bytes, begin := t.c.Line(), &t.begin[base]
	for i := range len(lines) / bytes {
		line, ends := lines[i*bytes:][:bytes], ^uint64(0)
		if again {
			ends = t.c.CodeEnds(line)
		}
		alive |= ends
		sources[i] = t.c.beginLine(line, (*[Side]int8)(captures[i*Side:]), begin, ends)
	}
	if !again {
		return ^uint64(0)
	}
	return alive
}

// CodeEnds returns the columns of a line of codes whose score is -v or v.
func (c *Codes) CodeEnds(line []int8) (columns uint64) {
	var codes shared.Line
	c.load(&codes, line)
	for i := range codes {
		columns |= swar.Gather(c.atEnd(codes[i])) << (i * tile)
	}
	return columns
}

// beginLine puts the codes that begin has for captures into the given columns of a line,
// and Zero into the others. It returns the columns whose score is not 0.
func (c *Codes) beginLine(line []int8, captures *[Side]int8, begin *[256]uint8, columns uint64) (sources uint64) {
	zeros := uint64(c.Zero) * swar.Ones
	var codes shared.Line
	for i := range codes {
		codes[i] = zeros
		if in := columns >> (i * tile); in&0xff != 0 {
			keep := swar.Spread(in)
			codes[i] = zeros&^keep | lookUp(swar.Load(captures[i*tile:]), begin)&keep
			sources |= swar.Gather(codes[i]) << (i * tile)
		}
	}
	c.store(line, &codes)
	return sources
}
