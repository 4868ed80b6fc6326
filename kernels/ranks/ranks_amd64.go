//go:build !purego

package ranks

import "grenier/kernels/cpu"

// For returns the kernel of the family f, which must be supported. A look-up
// takes scalar registers whatever the family.
func For(f cpu.Family) Kernel {
	if f >= cpu.BMI2 {
		return Kernel{Ranks: ranksUnrolled, Scores: scoresUnrolled}
	}
	return Kernel{Ranks: ranksGeneric, Scores: scoresGeneric}
}

func ranksUnrolled(t *Encoding, dst, src []byte) { t.ranks(dst, src, laneUnrolled) }

func laneUnrolled(t *Encoding, dst, src []byte) {
	if len(src) > 0 {
		rankLane(&dst[:len(src)][0], &src[0], len(src), &t.cells[0], t.stride, t.shift, t.low)
	}
}

// rankLane is Encoding.lane for at least one score. It trusts scores to be in the range of the model.
//
//go:noescape
func rankLane(dst, src *byte, n int, cells *byte, stride, shift uint, low int8)

func scoresUnrolled(t *Decoding, block []byte) { t.scores(block, lanesUnrolled) }

func lanesUnrolled(t *Decoding, block []byte, m int) {
	lookUp(&block[0], m, &t.cells[0], t.stride, &t.offsets)
}

// lookUp is lanesGeneric; m > far. It trusts symbols to stay inside the table.
//
//go:noescape
func lookUp(block *byte, m int, cells *byte, stride uint, offsets *[256]uint32)
