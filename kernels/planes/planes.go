// Package planes packs scores quickly: as bit planes, as many for a line as the difference
// of its largest and least score has bits.
//
// A line is 64 scores, and its planes do not depend on other lines. With m its
// least score and w the number of bits of the largest difference score[i] - m, it is
//
//	byte 0           w, 0 to 8
//	byte 1           m, in two's complement
//	8*w bytes more   planes 0 to w-1, 8 bytes each:
//	                 bit i of plane k is bit k of score[i] - m
//
// Bit i of a plane is bit i%8 of its byte i/8. Lines follow each other without gaps, so
// a line starts at any byte, and where it starts is known once w of the one before is.
//
// The kernels write all 8 planes, which is quicker than to branch: those from w on are
// zeros, and the next line is written over them.
//
// The generic code defines the result; the twins for amd64 give the same bytes and
// scores.
package planes

import (
	"fmt"
	"math/bits"

	"grenier/kernels/internal/shared"
	"grenier/kernels/internal/swar"
)

// Side is the number of scores in a line.
const Side = shared.Side

// Sizes in bytes.
const (
	header    = 2
	allPlanes = 8 * Side / 8
	maxPacked = header + allPlanes // of a line
)

// Bound returns the most bytes that n scores take; n is a multiple of Side.
func Bound(n int) int { return n / Side * maxPacked }

// Kernel is the pair of transforms in one family. The arguments of a call must not
// overlap, and nobody may write them meanwhile. Both functions panic if the scores are
// not whole lines.
type Kernel struct {
	// Pack writes the lines src to dst and returns how many bytes they take. It panics
	// if dst has less than Bound(len(src)) bytes, and may change as many of them.
	Pack func(dst []byte, src []int8) int

	// Unpack fills dst with the first lines of src and returns how many bytes of src
	// they take, or -1 if src ends too early or a line has more than 8 planes; dst may
	// have been overwritten then. It accepts more that Pack never writes: planes that
	// are not needed, an m that no score has, and sums beyond 127, modulo 256.
	Unpack func(dst []int8, src []byte) int
}

// checked returns the kernel of two functions that trust the lengths of slices: scores
// are whole lines, and dst of pack has the size of Bound.
func checked(pack func(dst []byte, src []int8) int, unpack func(dst []int8, src []byte) int) Kernel {
	return Kernel{
		Pack: func(dst []byte, src []int8) int {
			checkLines(src)
			return pack(dst[:Bound(len(src))], src)
		},
		Unpack: func(dst []int8, src []byte) int {
			checkLines(dst)
			return unpack(dst, src)
		},
	}
}

func checkLines(scores []int8) {
	if len(scores)%Side != 0 {
		panic(fmt.Sprintf("planes: %d scores are not whole lines", len(scores)))
	}
}

var generic = checked(packGeneric, unpackGeneric)

func packGeneric(dst []byte, src []int8) int {
	at := 0
	for ; len(src) > 0; src = src[Side:] {
		least, largest := 127, -128
		for _, x := range src[:Side] {
			least, largest = min(least, int(x)), max(largest, int(x))
		}
		w := bits.Len(uint(largest - least))
		dst[at], dst[at+1] = byte(w), byte(least)
		scatter((*[allPlanes]byte)(dst[at+header:]), src, int8(-least))
		at += header + 8*w
	}
	return at
}

func unpackGeneric(dst []int8, src []byte) int {
	at := 0
	for ; len(dst) > 0; dst = dst[Side:] {
		if len(src)-at < header {
			return -1
		}
		w, least := int(src[at]), int8(src[at+1])
		at += header
		if w > 8 || len(src)-at < 8*w {
			return -1
		}
		var planes [allPlanes]byte
		copy(planes[:], src[at:at+8*w])
		gather(dst, &planes, least)
		at += 8 * w
	}
	return at
}

// scatter writes the planes of the first line of scores, plus added to each.
func scatter(planes *[allPlanes]byte, scores []int8, plus int8) {
	for i := range 8 {
		x := transpose8(add(swar.Load(scores[8*i:]), plus))
		planes[i] = byte(x)
		planes[8+i] = byte(x >> 8)
		planes[16+i] = byte(x >> 16)
		planes[24+i] = byte(x >> 24)
		planes[32+i] = byte(x >> 32)
		planes[40+i] = byte(x >> 40)
		planes[48+i] = byte(x >> 48)
		planes[56+i] = byte(x >> 56)
	}
}

// gather fills the first line of scores with the numbers that have these planes, plus plus.
func gather(scores []int8, planes *[allPlanes]byte, plus int8) {
	for i := range 8 {
		x := uint64(planes[i]) | uint64(planes[8+i])<<8 | uint64(planes[16+i])<<16 | uint64(planes[24+i])<<24 |
			uint64(planes[32+i])<<32 | uint64(planes[40+i])<<40 | uint64(planes[48+i])<<48 | uint64(planes[56+i])<<56
		swar.Store(scores[8*i:], add(transpose8(x), plus))
	}
}

// add adds y to each byte of x.
func add(x uint64, y int8) uint64 {
	ys := uint64(uint8(y)) * swar.Ones
	return (x&swar.Lows + ys&swar.Lows) ^ (x^ys)&swar.Highs
}

// transpose8 exchanges bit i of byte p with bit p of byte i (Warren, Hacker's Delight,
// 7-3): 2x2, 4x4 and 8x8 blocks swap their off-diagonal halves.
func transpose8(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00aa00aa00aa00aa
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000cccc0000cccc
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000f0f0f0f0
	return x ^ t ^ t<<28
}
