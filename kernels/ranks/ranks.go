// Package ranks replaces each score by the place it takes in a list of guesses:
// rank 0 for the score that is most likely here, and so on. Most ranks
// are small, and package rice writes them in few bits.
//
// The likely scores follow from the context, two scores before the one in
// question: with x[i] the score number i, the list for x[i] depends on x[i-1]
// and x[i-3] alone. (Neighbours in a layer are boards that differ by few seeds,
// and of all pairs of close scores this one was measured to predict best.) The lists
// are counted in a sample of the layer (Counts) and kept with it (Model); they
// need no knowledge of a game.
//
// # Lanes
//
// Decoding ranks takes the scores before: each table look-up waits for the
// previous one. So a block is cut into six lanes that do not depend
// on each other, and six look-ups are in flight. With n scores and
// m = n/6, rounded down, lane j begins at score j*m; the last one takes the
// rest. In front of each lane there are as many scores as needed, all of
// the lowest value of the model.
//
// The generic code defines the result; the twin for amd64 gives the same bytes.
package ranks

import (
	"encoding/binary"

	"grenier/kernels/internal/swar"
)

// Lanes is the number of lanes of a block.
const Lanes = 6

// far is the distance of the farther score of a context; the nearer one is the
// score before.
const far = 3

// Kernel encodes and decodes ranks in one family.
type Kernel struct {
	// Ranks writes the ranks of the scores src, as bytes, to dst, which must be as
	// long and not overlap. All of them must be in the range of the model.
	Ranks func(t *Encoding, dst, src []byte)
	// Scores replaces the ranks in block by scores. Ranks that are too large
	// for the model give any scores.
	Scores func(t *Decoding, block []byte)
}

// ranks is Kernel.Ranks with the given way to do a lane.
func (t *Encoding) ranks(dst, src []byte, lane func(t *Encoding, dst, src []byte)) {
	m := len(src) / Lanes
	for j := range Lanes - 1 {
		lane(t, dst[j*m:][:m], src[j*m:][:m])
	}
	lane(t, dst[(Lanes-1)*m:], src[(Lanes-1)*m:])
}

func ranksGeneric(t *Encoding, dst, src []byte) { t.ranks(dst, src, (*Encoding).lane) }

// lane writes the ranks of the scores of a lane. Inlined it would have too few registers.
//
//go:noinline
func (t *Encoding) lane(dst, src []byte) {
	cells, stride, shift, low := t.cells, t.stride, t.shift&7, byte(t.low)
	dst = dst[:len(src)]
	var a, b, c uint // the symbols 1, 2 and 3 back
	for i, x := range src {
		y := uint(x - low)
		dst[i] = cells[c*stride+a<<shift+y]
		a, b, c = y, a, b
	}
}

// scores is Kernel.Scores with the given way to do most of the lanes.
func (t *Decoding) scores(block []byte, lanes func(t *Decoding, block []byte, m int)) {
	m := len(block) / Lanes
	if m <= far {
		for j := range Lanes - 1 {
			t.lane(block[j*m:][:m], 0)
		}
		t.lane(block[(Lanes-1)*m:], 0)
	} else {
		for j := range Lanes {
			t.lane(block[j*m:][:far], 0)
		}
		lanes(t, block, m)
		t.lane(block[(Lanes-1)*m:], m)
	}
	addToAll(block, byte(t.low))
}

// lane replaces the ranks of a lane from i on by symbols.
func (t *Decoding) lane(lane []byte, i int) {
	for ; i < len(lane); i++ {
		c, a := before(lane, i, far), before(lane, i, 1)
		lane[i] = t.cells[uint(t.offsets[lane[i]])+c*t.stride+a*rowSize]
	}
}

// before returns the symbol the given distance before i.
func before(lane []byte, i, distance int) uint {
	if i < distance {
		return 0
	}
	return uint(lane[i-distance])
}

// LaneOf returns where the lane begins that score i of n is in.
func LaneOf(i, n int) int {
	m := n / Lanes
	if m == 0 {
		return 0
	}
	return min(i/m, Lanes-1) * m
}

// Last returns the last of the scores that a lane begins with, whose ranks are given: one at least.
func (t *Decoding) Last(ranks []byte) int8 {
	cells, stride := t.cells, t.stride
	var a, b, c uint // the symbols 1, 2 and 3 back
	for _, x := range ranks {
		row := uint(t.offsets[x]) + c*stride
		a, b, c = uint(cells[row+a*rowSize]), a, b
	}
	return int8(a) + t.low
}

// lanesGeneric replaces the ranks far to m-1 of all lanes by symbols; those in
// front are symbols already.
func lanesGeneric(t *Decoding, block []byte, m int) {
	cells, stride := t.cells, t.stride
	var lane [Lanes][]byte
	var a [Lanes]uint
	for j := range lane {
		lane[j] = block[j*m:][:m]
		a[j] = uint(lane[j][far-1])
	}
	for i := far; i < m; i++ {
		for j := range lane {
			p := lane[j][:m]
			a[j] = uint(cells[uint(t.offsets[p[i]])+uint(p[i-far])*stride+a[j]*rowSize])
			p[i] = byte(a[j])
		}
	}
}

func scoresGeneric(t *Decoding, block []byte) { t.scores(block, lanesGeneric) }

// addToAll adds x to all bytes, eight at a time as long as there are eight: the
// sum of the low seven bits of two bytes does not reach the next byte, and the
// high bits are added without carry.
func addToAll(block []byte, x byte) {
	if x == 0 {
		return
	}
	i, xs := 0, uint64(x)*swar.Ones
	for ; i+8 <= len(block); i += 8 {
		y := binary.LittleEndian.Uint64(block[i:])
		binary.LittleEndian.PutUint64(block[i:], (y&swar.Lows+xs&swar.Lows)^(y^xs)&swar.Highs)
	}
	for ; i < len(block); i++ {
		block[i] += x
	}
}
