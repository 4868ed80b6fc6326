//go:build !purego

package ranks

import "grenier/kernels/cpu"

// For returns the kernel of the family f, which must be supported. A look-up
// takes scalar registers whatever the family; BMI2 has shifts by a variable.
func For(f cpu.Family) Kernel {
	if f >= cpu.BMI2 {
		return Kernel{Scores: scoresBMI2}
	}
	return Kernel{Scores: scoresGeneric}
}

func scoresBMI2(t *Decoding, block []byte) { t.scores(block, lanesBMI2) }

func lanesBMI2(t *Decoding, block []byte, m int) {
	lookUp(&block[0], m, &t.cells[0], t.stride, t.shift)
}

// lookUp is lanesGeneric; m > far. It trusts symbols, and ranks up to
// MaxSymbols-1, to stay inside the table.
//
//go:noescape
func lookUp(block *byte, m int, cells *byte, stride, shift uint)
