package swar

// Spread makes a byte of each of the low eight bits of b: all ones for a set bit, else 0.
func Spread(b uint64) uint64 {
	return NonZero(b&0xff*Ones&0x8040201008040201) >> 7 * 0xff
}

// Gather is the inverse of Spread: bit i is the sign bit of byte i.
func Gather(x uint64) uint64 {
	return x & Highs >> 7 * 0x0102040810204080 >> 56
}

// NonZero returns the sign bits of the bytes that are not 0.
func NonZero(x uint64) uint64 {
	return (x&Lows + Lows | x) & Highs
}

// Add adds each byte of y to the same byte of x; sums wrap around.
func Add(x, y uint64) uint64 {
	return (x&Lows + y&Lows) ^ (x^y)&Highs
}
