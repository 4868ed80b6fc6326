// Package planes cuts scores into bit planes and puts them together again: the
// transform that makes layers compress well.
//
// Scores are small numbers around 0. Zigzag maps them to small unsigned numbers
// (0, -1, 1, -2, 2, ... become 0, 1, 2, 3, 4, ...), so that the upper bits of
// almost every byte are 0. Writing bit 0 of all bytes, then bit 1 of all bytes,
// and so on, turns that into long runs of zero bytes, which even the fastest
// byte-oriented codec finds.
//
// For n scores, a plane is a bit string of Stride(n) = ceil(n/8) bytes. With
// x[i] as a two's complement byte and z[i] = (x[i] << 1) ^ (x[i] >> 7), the
// shift to the right being arithmetic,
//
//	bit i%8 of byte p*Stride(n) + i/8  =  bit p of z[i]
//
// so plane 0, the signs, comes first and plane 7 last. The unused bits of the
// last byte of a plane are 0.
//
// The generic code defines the result; the twins for amd64 give the same bytes.
package planes

import (
	"encoding/binary"
	"fmt"
)

// Kernel is the pair of transforms in one family. The arguments of a call must
// not overlap.
type Kernel struct {
	// Split writes the planes of the scores src to dst; len(dst) must be
	// Size(len(src)).
	Split func(dst, src []byte)

	// Join writes the scores with the planes src to dst; len(src) must be
	// Size(len(dst)). Unused bits of the planes are ignored.
	Join func(dst, src []byte)
}

// Stride returns the number of bytes of one plane of n scores.
func Stride(n int) int { return (n + 7) / 8 }

// Size returns the number of bytes of all planes of n scores.
func Size(n int) int { return 8 * Stride(n) }

// Eight bytes at a time: one bit of each.
const (
	ones = 0x0101010101010101
	lows = 0x7f7f7f7f7f7f7f7f
)

func splitGeneric(dst, src []byte) {
	checkSize(dst, src)
	splitFrom(dst, src, 0)
}

func joinGeneric(dst, src []byte) {
	checkSize(src, dst)
	joinFrom(dst, src, 0)
}

// checkSize panics unless planes is as long as the planes of scores.
func checkSize(planes, scores []byte) {
	if len(planes) != Size(len(scores)) {
		panic(fmt.Sprintf("planes: %d bytes for the planes of %d scores, not %d", len(planes), len(scores), Size(len(scores))))
	}
}

// splitFrom is Split from score i on, a multiple of 8. Twins leave the scores
// that do not fill a register to it.
func splitFrom(dst, src []byte, i int) {
	stride := Stride(len(src))
	for ; i+8 <= len(src); i += 8 {
		scatter(dst[i/8:], stride, binary.LittleEndian.Uint64(src[i:]))
	}
	if i < len(src) {
		var last [8]byte
		copy(last[:], src[i:])
		scatter(dst[i/8:], stride, binary.LittleEndian.Uint64(last[:]))
	}
}

// joinFrom is Join from score i on, a multiple of 8.
func joinFrom(dst, src []byte, i int) {
	stride := Stride(len(dst))
	for ; i+8 <= len(dst); i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], gather(src[i/8:], stride))
	}
	if i < len(dst) {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], gather(src[i/8:], stride))
		copy(dst[i:], last[:])
	}
}

// scatter writes one byte to each plane: the bits of the eight scores x.
func scatter(dst []byte, stride int, x uint64) {
	z := transpose8((x & lows << 1) ^ (x >> 7 & ones * 0xff))
	_ = dst[7*stride]
	dst[0] = byte(z)
	dst[stride] = byte(z >> 8)
	dst[2*stride] = byte(z >> 16)
	dst[3*stride] = byte(z >> 24)
	dst[4*stride] = byte(z >> 32)
	dst[5*stride] = byte(z >> 40)
	dst[6*stride] = byte(z >> 48)
	dst[7*stride] = byte(z >> 56)
}

// gather reads one byte of each plane and returns the eight scores.
func gather(src []byte, stride int) uint64 {
	_ = src[7*stride]
	z := transpose8(uint64(src[0]) | uint64(src[stride])<<8 |
		uint64(src[2*stride])<<16 | uint64(src[3*stride])<<24 |
		uint64(src[4*stride])<<32 | uint64(src[5*stride])<<40 |
		uint64(src[6*stride])<<48 | uint64(src[7*stride])<<56)
	return z>>1&lows ^ z&ones*0xff
}

// transpose8 exchanges bit i of byte p with bit p of byte i (Warren, Hacker's
// Delight, 7-3): 2x2, 4x4 and 8x8 blocks swap their off-diagonal halves.
func transpose8(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00aa00aa00aa00aa
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000cccc0000cccc
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000f0f0f0f0
	return x ^ t ^ t<<28
}
