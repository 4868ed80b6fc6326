package runs

import (
	"encoding/binary"
	"math/bits"
)

// gapStride is how many words records have whose gaps are packed: they are numbers of 64 bits, the
// high word first.
const gapStride = 2

// number returns a record as it is in a block, and putNumber is the inverse.
func number(raw []byte) uint64 { return bits.RotateLeft64(binary.LittleEndian.Uint64(raw), 32) }

func putNumber(raw []byte, x uint64) {
	binary.LittleEndian.PutUint64(raw, bits.RotateLeft64(x, 32))
}

// packGaps writes ascending numbers to dst, the first one and the gap before each other one as varints
// (package encoding/binary), and returns the bytes written: 0 if there is no room for them.
func packGaps(dst, raw []byte) int {
	n, last := 0, uint64(0)
	for ; len(raw) > 0; raw = raw[4*gapStride:] {
		x := number(raw)
		gap := x - last
		last = x
		if len(dst)-n < (bits.Len64(gap|1)+6)/7 {
			return 0
		}
		for ; gap >= 0x80; gap >>= 7 {
			dst[n] = byte(gap) | 0x80
			n++
		}
		dst[n] = byte(gap)
		n++
	}
	return n
}

// unpackGaps fills raw with the numbers that packGaps has written, and reports whether packed is as
// many.
func unpackGaps(raw, packed []byte) bool {
	x := uint64(0)
	for ; len(raw) > 0; raw = raw[4*gapStride:] {
		gap, n := binary.Uvarint(packed)
		if n <= 0 {
			return false
		}
		packed = packed[n:]
		x += gap
		putNumber(raw, x)
	}
	return len(packed) == 0
}
