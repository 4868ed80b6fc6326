//go:build !purego

package fnv

import "grenier/kernels/cpu"

// For returns the kernel of the family f, which must be supported. BMI2 has the
// generic one.
func For(f cpu.Family) AddFunc {
	if f == cpu.AVX512 {
		return addAVX512
	}
	return addGeneric
}

// Sizes of the AVX-512 twin.
const (
	step   = 1024 // bytes at a time
	digits = 4    // of 16 bits, in a power of Prime
)

func addAVX512(hash uint64, data []byte) uint64 {
	if steps := len(data) / step; steps > 0 {
		var w work
		hash = addSteps(hash*fromStep, &data[0], steps, &powers, toStep, &w)
	}
	return addGeneric(hash, data[len(data)/step*step:])
}

// work is memory for addSteps, whose layout only that knows.
type work [8*64 + 2*8*64 + 2*step + 8*8]byte

// toStep is Prime^step, and fromStep its inverse.
var toStep, fromStep = power(Prime, step), power(power(Prime, 1<<62-1), step)

// power returns x^n modulo 2^64. The odd numbers are a group whose orders divide
// 2^62, so that x^(2^62-1) is the inverse of x.
func power(x uint64, n uint64) uint64 {
	y := uint64(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			y *= x
		}
		x *= x
	}
	return y
}

// powers holds Prime^(step-i) for byte i of a step, as signed digits, the lowest one
// first: Prime^n = d[0] + 2^16*d[1] + 2^32*d[2] + 2^48*d[3]. Unpacking turns 64 bytes
// into registers of 32 numbers each; powers has their digits 0, then their digits 1,
// and so on: the first one has the bytes 0-7 of each 16, the second one the others.
var powers = func() (t [step / 32][digits][32]int16) {
	for r := range t {
		for j := range 32 {
			i := r/2*64 + j/8*16 + r%2*8 + j%8
			p := power(Prime, uint64(step-i))
			for d := range digits {
				t[r][d][j] = int16(p)
				p = (p - uint64(int64(int16(p)))) >> 16
			}
		}
	}
	return t
}()

// addSteps returns the hash after steps times step bytes, at least one; hash is that
// in front of them times fromStep. powers and toStep are those above, and w is all
// zeros.
//
//go:noescape
func addSteps(hash uint64, data *byte, steps int, powers *[step / 32][digits][32]int16, toStep uint64, w *work) uint64
