// Package swar treats a uint64 as eight bytes: "SIMD within a register", the
// vectors of portable kernels. Byte i is bits 8i to 8i+7.
package swar

// Constants that hold the same byte eight times.
const (
	Ones  = 0x0101010101010101 // 1; times b is b eight times
	Highs = 0x8080808080808080 // the sign bits
	Lows  = 0x7f7f7f7f7f7f7f7f // all but the sign bits
)

// Load returns the first eight bytes of s; the compiler makes it one load.
func Load(s []int8) uint64 {
	_ = s[7]
	return uint64(uint8(s[0])) | uint64(uint8(s[1]))<<8 | uint64(uint8(s[2]))<<16 | uint64(uint8(s[3]))<<24 |
		uint64(uint8(s[4]))<<32 | uint64(uint8(s[5]))<<40 | uint64(uint8(s[6]))<<48 | uint64(uint8(s[7]))<<56
}

// Store writes x to the first eight bytes of s.
func Store(s []int8, x uint64) {
	_ = s[7]
	s[0] = int8(x)
	s[1] = int8(x >> 8)
	s[2] = int8(x >> 16)
	s[3] = int8(x >> 24)
	s[4] = int8(x >> 32)
	s[5] = int8(x >> 40)
	s[6] = int8(x >> 48)
	s[7] = int8(x >> 56)
}

// Neg negates each byte; -128 stays -128.
func Neg(x uint64) uint64 {
	return (Highs - x&Lows) ^ ^x&Highs
}
