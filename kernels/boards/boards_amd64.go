//go:build !purego

package boards

import "grenier/kernels/cpu"

// of returns the kernels of the family f, which must be supported.
func of(f cpu.Family) operations {
	switch f {
	case cpu.AVX512:
		return operations{iterate: iterateAVX512, rank: rankBMI2, unrank: unrankAVX512}
	case cpu.BMI2:
		return operations{iterate: iterateBMI2, rank: rankBMI2, unrank: unrank}
	}
	return generic
}

func iterateBMI2(l *Layer, boards []uint8, x uint64) uint64 {
	if len(boards) == 0 {
		return x
	}
	return iterateGaps(&boards[0], len(boards)/l.pits, l.pits, x, l.top())
}

// top returns the implicit top bit.
func (l *Layer) top() uint64 { return 1 << (l.pits + l.seeds - 1) }

// vector is the number of bytes that the AVX-512 kernels write for a board, whatever its
// pits are.
const vector = 16

// inside returns how many of count boards have room for vector bytes.
func (l *Layer) inside(count int) int {
	return max(0, count-(vector-1)/l.pits)
}

func iterateAVX512(l *Layer, boards []uint8, x uint64) uint64 {
	n := l.inside(len(boards) / l.pits)
	if n > 0 {
		x = iterateOnes(&boards[0], n, l.pits, x, l.top())
	}
	return iterateBMI2(l, boards[n*l.pits:], x)
}

// eight returns how many of count boards go in groups of eight.
func (l *Layer) eight(count int) int {
	if l.pits == 1 {
		return 0
	}
	return l.inside(count) / 8 * 8
}

func rankBMI2(l *Layer, ranks []uint64, boards []uint8) {
	if l.pits == 1 {
		clear(ranks)
	} else if len(ranks) > 0 {
		rankSums(&ranks[0], &boards[0], len(ranks), l.pits, &l.binomials)
	}
}

func unrankAVX512(l *Layer, boards []uint8, ranks []uint64) {
	n := l.eight(len(ranks))
	if n > 0 {
		unrankEights(&boards[0], &ranks[0], n/8, l.pits, l.seeds+l.pits-1, &l.strided)
	}
	unrank(l, boards[n*l.pits:], ranks[n:])
}

// iterateGaps writes count boards, at least one, from bit vector x on and returns the one
// after them.
//
//go:noescape
func iterateGaps(boards *uint8, count, pits int, x, top uint64) uint64

// iterateOnes is iterateGaps, but it writes each board as 16 bytes of which the next one
// overwrites those behind it.
//
//go:noescape
func iterateOnes(boards *uint8, count, pits int, x, top uint64) uint64

// rankSums ranks count boards of two pits or more, at least one.
//
//go:noescape
func rankSums(ranks *uint64, boards *uint8, count, pits int, binomials *[16][maxBits]uint64)

// unrankEights unranks groups times eight ranks to boards of two pits or more, at least one
// group; above is the last entry of their increasing vectors. It writes 16 bytes of each, of
// which the next board overwrites those behind it.
//
//go:noescape
func unrankEights(boards *uint8, ranks *uint64, groups, pits, above int, strided *[16][8][8]uint64)
