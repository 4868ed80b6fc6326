package shared

import (
	"sync/atomic"
	"unsafe"

	"grenier/kernels/internal/swar"
)

// part returns the words of the first n bytes of packed scores.
func part(packed []int8, n int) []uint64 {
	packed = packed[:n:len(packed)] // which reads nothing
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(packed))), n/8)
}

// LoadPart copies the first n bytes of packed scores to the start of l: a multiple of 8
// from 8 to Side. They must start at a multiple of 8 bytes. The word that StorePart stores
// last is loaded first.
func (l *Line) LoadPart(packed []int8, n int) {
	from := part(packed, n)
	for i := len(from) - 1; i >= 0; i-- {
		l[i] = atomic.LoadUint64(&from[i])
	}
}

// StorePart replaces the words of the first n bytes of packed scores, as in LoadPart,
// that differ from the start of l, one after the other. Nobody else may write them meanwhile.
func (l *Line) StorePart(packed []int8, n int) {
	to := part(packed, n)
	for i := range to {
		if l[i] != to[i] {
			atomic.StoreUint64(&to[i], l[i])
		}
	}
}

// Each byte's places for some bits, and for codes of 2 bits and of 4.
const (
	bit0 = swar.Ones
	bit1 = 2 * swar.Ones
	bit2 = 4 * swar.Ones
	low2 = 3 * swar.Ones
	low4 = 15 * swar.Ones
)

// Spread sets codes, one a byte, to the codes of the given width, 2, 3, 4 or 6 bits, that l begins
// with; package window says how codes are packed.
func (l *Line) Spread(codes *Line, width int) {
	switch width {
	case 2:
		for i, x := range l[:2] {
			codes[i], codes[i+2], codes[i+4], codes[i+6] = x&low2, x>>2&low2, x>>4&low2, x>>6&low2
		}
	case 3:
		for i := range codes {
			low := l[i%2] >> (i / 2 * 2) // bits 0 and 2
			codes[i] = (low&low2 + low&bit1<<1) ^ swar.Spread(l[2]>>(i*8))&bit1
		}
	case 4:
		for i, x := range l[:4] {
			codes[i], codes[i+4] = x&low4, x>>4&low4
		}
	case 6:
		for i, x := range l[:4] {
			high := l[4+i&1] >> (i & 2)
			codes[i], codes[i+4] = x&low4|high&low2<<4, x>>4&low4|high&(low2<<4)
		}
	}
}

// Threes returns tables of codes of 3 bits for kernels that look up vectors: codes by three bits, the
// bit of the second part of a line above the two of the first; by code the bits of the first part and,
// as a sign, the bit of the second; and by place in a line the first of eight bits of the second part,
// of which bit 2 belongs to the place. Higher bits of an index do not matter.
func Threes() (codes, parts, places [Side]uint8) {
	for code := range 8 {
		var spread, packed Line
		spread.Scores()[0] = int8(code)
		packed.Pack(&spread, 3)
		low, high := int(packed[0]), int(packed[2])
		for i := 0; i < Side; i += 8 {
			codes[i+high*4+low], parts[i+code] = uint8(code), uint8(low|high<<7)
		}
	}
	for i := range places {
		places[i] = uint8(i-2) % Side
	}
	return codes, parts, places
}

// Pack is the inverse of Spread. It packs the low bits of each byte.
func (l *Line) Pack(codes *Line, width int) {
	switch width {
	case 2:
		for i := range l[:2] {
			l[i] = codes[i]&low2 | codes[i+2]&low2<<2 | codes[i+4]&low2<<4 | codes[i+6]&low2<<6
		}
	case 3:
		clear(l[:3])
		for i, x := range codes {
			l[i%2] |= (x&bit0 | x&bit2>>1) << (i / 2 * 2)
			l[2] |= swar.Gather((x^x>>1)&bit1<<6) << (i * 8)
		}
	case 4:
		for i := range l[:4] {
			l[i] = codes[i]&low4 | codes[i+4]&low4<<4
		}
	case 6:
		for i := range l[:4] {
			l[i] = codes[i]&low4 | codes[i+4]&low4<<4
		}
		for i := range l[4:6] {
			l[4+i] = codes[i]>>4&low2 | codes[i+2]>>4&low2<<2 | codes[i+4]&(low2<<4) | codes[i+6]&(low2<<4)<<2
		}
	}
}
