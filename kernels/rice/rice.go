// Package rice writes small numbers in few bits: a Golomb-Rice code with
// parameter 1 (Golomb, Run-length encodings, 1966; Rice, JPL 79-22, 1979), laid
// out so that 64 numbers are coded at a time.
//
// The numbers are ranks, 0 to MaxRank, smaller ones being more frequent: rank r
// takes r/2 + 2 bits. That is the best code with whole bits, within 1 %, for
// ranks that halve in frequency every second one, which the ranks of scores
// about do (package ranks).
//
// The usual layout, code after code, is slow to read: where a code begins is
// only known when the one before is decoded. Here the bits lie in vectors
// instead:
//
//	low      bit i is the lowest bit of the rank i
//	level 0  bit i is 1 if the rank i is at least 2
//	level 1  has a bit only for the ranks that are at least 2, in order: is
//	         it at least 4?
//	level k  has a bit for each 1 of level k-1: is the rank at least 2k+2?
//
// and so on to the first level that has no 1, which is written too. Bit i of a
// vector is bit i%8 of its byte i/8; each vector fills up its last byte with
// zeros, and the next one follows.
//
// Making level k+1 from level k is a compress of bytes by a mask, and the way
// back an expand. The generic code defines the result; the twins for amd64 give
// the same bytes and errors.
package rice

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"grenier/kernels/internal/swar"
)

// Limits of ranks that can be coded.
const (
	MaxRank = 127
	levels  = (MaxRank + 1) / 2
)

// ErrCode reports bytes that Split cannot have written.
var ErrCode = errors.New("not a Rice code of so many ranks")

// Kernel is the transforms in one family. The arguments of a call must
// not overlap.
type Kernel struct {
	// Split writes the code of the ranks to dst and returns its length, or -1
	// if dst is too short. No rank may exceed MaxRank. The contents of ranks
	// are lost.
	Split func(dst, ranks []byte) int

	// Join writes the ranks with the code src to ranks. It fails with ErrCode,
	// whatever src holds, unless src is exactly the output of Split for some
	// ranks; ranks may have been overwritten then.
	Join func(ranks, src []byte) error

	// JoinPart writes len(ranks) of the n ranks with the code src to ranks, from rank number from on, in much less
	// time if they are few. It fails as Join does for all of them. Scratch is memory for PartScratch(len(ranks)) bytes.
	JoinPart func(ranks, src []byte, from, n int, scratch []byte) error
}

// PartScratch returns the bytes of scratch that JoinPart needs for some ranks.
func PartScratch(ranks int) int { return stride(ranks) }

// operations are the steps that families do differently. A vector of n bits is given as
// stride(n) bytes.
type operations struct {
	// low sets vector to the lowest bits of ranks.
	low func(vector, ranks []byte)
	// filter sets level to the bits of the ranks that are at least least, and
	// moves these ranks to the front. It returns how many they are.
	filter func(level, ranks []byte, least byte) int
	// expand undoes filter, with 2 added: it moves the first ones ranks, plus
	// 2, to where level has its ones, and writes 0 elsewhere.
	expand func(ranks, level []byte, ones int)
	// addLow adds the bits of vector to ranks, which are even.
	addLow func(ranks, vector []byte)
}

// stride returns the number of bytes of a vector of n bits.
func stride(n int) int { return (n + 7) / 8 }

func (o *operations) kernel() Kernel {
	return Kernel{Split: o.split, Join: o.join, JoinPart: o.joinPart}
}

func (o *operations) split(dst, ranks []byte) int {
	at := stride(len(ranks))
	if at > len(dst) {
		return -1
	}
	o.low(dst[:at], ranks)
	for k := 1; k <= levels && len(ranks) > 0; k++ {
		size := stride(len(ranks))
		if size > len(dst)-at {
			return -1
		}
		n := o.filter(dst[at:at+size], ranks, byte(2*k))
		ranks, at = ranks[:n], at+size
	}
	return at
}

func (o *operations) join(ranks, src []byte) error {
	var c code
	if !c.read(src, len(ranks), 0, len(ranks)) {
		return ErrCode
	}
	for k := c.depth - 1; k >= 0; k-- {
		o.expand(ranks[:c.part[k].len()], c.levels[k], c.part[k+1].len())
	}
	o.addLow(ranks, c.low)
	return nil
}

func (o *operations) joinPart(ranks, src []byte, from, n int, scratch []byte) error {
	var c code
	if !c.read(src, n, from, from+len(ranks)) {
		return ErrCode
	}
	for k := c.depth - 1; k >= 0; k-- {
		if size := c.part[k].len(); size > 0 {
			o.expand(ranks[:size], cut(scratch, c.levels[k], c.part[k]), c.part[k+1].len())
		}
	}
	o.addLow(ranks, cut(scratch, c.low, c.part[0]))
	return nil
}

// span is some bits of a vector, from from to to.
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

// code is the vectors of a code, and which bits of each are about some ranks in sequence.
type code struct {
	low    []byte
	levels [levels][]byte
	part   [levels + 1]span // by level; behind the last level there is nothing
	depth  int              // number of levels
}

// read finds the vectors of n ranks, and the bits about those from from to to. It fails unless src is a code of n ranks.
func (c *code) read(src []byte, n, from, to int) (ok bool) {
	var rest []byte
	if c.low, rest, ok = vector(src, n); !ok {
		return false
	}
	c.part[0] = span{from, to}
	for ; n > 0; c.depth++ {
		if c.depth == levels {
			return false
		}
		var level []byte
		if level, rest, ok = vector(rest, n); !ok {
			return false
		}
		c.levels[c.depth] = level
		c.part[c.depth+1], n = ones(level, c.part[c.depth])
	}
	return len(rest) == 0
}

// vector cuts a vector of n bits off src. It fails unless src is long enough and
// the unused bits are 0: all that follows relies on both.
func vector(src []byte, n int) (v, rest []byte, ok bool) {
	size := stride(n)
	if size > len(src) || n%8 > 0 && src[size-1]>>(n%8) != 0 {
		return nil, nil, false
	}
	return src[:size:size], src[size:], true
}

// ones returns which of the ones of a vector lie in a span, and how many it has in all.
func ones(v []byte, s span) (in span, all int) {
	in.from = countTo(v, s.from)
	skip := s.from / 8
	in.to = in.from + countTo(v[skip:], s.to-8*skip) - countTo(v[skip:], s.from-8*skip)
	skip = s.to / 8
	return in, in.to + count(v[skip:]) - countTo(v[skip:], s.to-8*skip)
}

// countTo returns the number of ones among the first n bits of a vector.
func countTo(v []byte, n int) int {
	ones := count(v[:n/8])
	if n%8 > 0 {
		ones += bits.OnesCount8(v[n/8] & (1<<(n%8) - 1))
	}
	return ones
}

// count returns the number of ones of a vector.
func count(v []byte) int {
	n := 0
	for ; len(v) >= 8; v = v[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(v))
	}
	for _, b := range v {
		n += bits.OnesCount8(b)
	}
	return n
}

// cut moves a span of a vector to the beginning of dst, and returns it as a vector.
func cut(dst, v []byte, s span) []byte {
	dst = dst[:stride(s.len())]
	v, shift := v[s.from/8:stride(s.to)], s.from%8
	i := 0
	for ; i+9 <= len(v); i += 8 {
		x := binary.LittleEndian.Uint64(v[i:])>>shift | uint64(v[i+8])<<(64-shift)
		binary.LittleEndian.PutUint64(dst[i:], x)
	}
	for ; i < len(dst); i++ {
		dst[i] = v[i] >> shift
		if i+1 < len(v) {
			dst[i] |= v[i+1] << (8 - shift)
		}
	}
	if rest := s.len() % 8; rest > 0 {
		dst[len(dst)-1] &= 1<<rest - 1
	}
	return dst
}

var generic = operations{
	low:    func(vector, ranks []byte) { lowFrom(vector, ranks, 0) },
	filter: func(level, ranks []byte, least byte) int { return filterFrom(level, ranks, least, 0, 0) },
	expand: func(ranks, level []byte, ones int) { expandTo(ranks, level, ones, 0) },
	addLow: func(ranks, vector []byte) { addLowFrom(ranks, vector, 0) },
}

// lowFrom is low from rank i on, a multiple of 8. Twins leave the ranks that do
// not fill a register to it and its likes.
func lowFrom(vector, ranks []byte, i int) {
	for ; i+8 <= len(ranks); i += 8 {
		vector[i/8] = gather(binary.LittleEndian.Uint64(ranks[i:]) & swar.Ones)
	}
	clear(vector[i/8:])
	for ; i < len(ranks); i++ {
		vector[i/8] |= ranks[i] & 1 << (i % 8)
	}
}

// gather returns the lowest bits of the eight bytes of x, which has no others:
// the product has a copy of bit 8i at 8i + 56 - 7i, and no two bits meet.
func gather(x uint64) byte { return byte(x * 0x0102040810204080 >> 56) }

// filterFrom is filter from rank i on, a multiple of 8; n ranks before passed.
func filterFrom(level, ranks []byte, least byte, i, n int) int {
	for ; i+8 <= len(ranks); i += 8 {
		x := binary.LittleEndian.Uint64(ranks[i:])
		passed := ((x | swar.Highs) - uint64(least)*swar.Ones) >> 7 & swar.Ones // no borrow leaves a byte
		mask := gather(passed)
		level[i/8] = mask
		binary.LittleEndian.PutUint64(ranks[n:], routes[mask].compress(x))
		n += bits.OnesCount8(mask)
	}
	clear(level[i/8:])
	for ; i < len(ranks); i++ {
		r := ranks[i]
		bit := ^(r - least) >> 7 // no rank is 128 or more apart from least
		level[i/8] |= bit << (i % 8)
		ranks[n] = r
		n += int(bit)
	}
	return n
}

// expandTo is expand from the last rank down to rank i, a multiple of 8. It
// returns the number of ones before i. Going backwards, it never overwrites
// bytes that it has yet to read.
func expandTo(ranks, level []byte, ones, i int) int {
	j := len(ranks)
	for ; j%8 > 0; j-- {
		bit := level[j/8] >> (j%8 - 1) & 1
		ones -= int(bit)
		ranks[j-1] = (ranks[ones] + 2) & -bit
	}
	for ; j > i; j -= 8 {
		mask := level[j/8-1]
		ones -= bits.OnesCount8(mask)
		x := binary.LittleEndian.Uint64(ranks[ones:])
		binary.LittleEndian.PutUint64(ranks[j-8:], routes[mask].expand(x+2*swar.Ones))
	}
	return ones
}

// addLowFrom is addLow from rank i on, a multiple of 8.
func addLowFrom(ranks, vector []byte, i int) {
	for ; i+8 <= len(ranks); i += 8 {
		x := binary.LittleEndian.Uint64(ranks[i:])
		binary.LittleEndian.PutUint64(ranks[i:], x+routes[vector[i/8]].bytes&swar.Ones)
	}
	for ; i < len(ranks); i++ {
		ranks[i] += vector[i/8] >> (i % 8) & 1
	}
}
