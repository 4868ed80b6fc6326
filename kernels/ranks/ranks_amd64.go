//go:build !purego

package ranks

import "grenier/kernels/cpu"

// For returns the kernel of the family f, which must be supported. A look-up
// takes scalar registers whatever the family.
func For(f cpu.Family) Kernel {
	if f >= cpu.BMI2 {
		return Kernel{Scores: scoresUnrolled}
	}
	return Kernel{Scores: scoresGeneric}
}

func scoresUnrolled(t *Decoding, block []byte) { t.scores(block, lanesUnrolled) }

func lanesUnrolled(t *Decoding, block []byte, m int) {
	lookUp(&block[0], m, &t.cells[0], t.stride, &t.offsets)
}

// lookUp is lanesGeneric; m > far. It trusts symbols to stay inside the table.
//
//go:noescape
func lookUp(block *byte, m int, cells *byte, stride uint, offsets *[256]uint32)
