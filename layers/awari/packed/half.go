package packed

import "math/bits"

// Half is pits of one player, or up to eight in a row: pit i in byte i. No pit holds 128 seeds or more.
type Half uint64

// A number in each byte.
const (
	everyOne  = 0x0101010101010101
	everyTop  = 0x8080808080808080 // the highest bit
	everyRest = everyTop - everyOne
)

// Pack packs up to eight pits.
func Pack(pits []uint8) (h Half) {
	for i, x := range pits {
		h |= Half(x) << (8 * i)
	}
	return h
}

// Unpack writes as many pits as there is room for, up to eight.
func (h Half) Unpack(pits []uint8) {
	for i := range pits {
		pits[i] = uint8(h >> (8 * i))
	}
}

// Pit returns the seeds in a pit.
func (h Half) Pit(i int) int { return int(h >> (8 * i & 63) & 0xff) }

// Seeds returns the seeds in all pits, which are less than 256.
func (h Half) Seeds() int { return int(h * everyOne >> 56) }

// Full reports whether none of the first pits is empty.
func (h Half) Full(pits int) bool {
	all := Half(1)<<(8*pits) - 1
	return filled(h)&all == everyTop&all
}

// Next returns the pits that follow in colex order, with as many seeds: the first pit but pit 0 that is not empty, which
// must exist, gives a seed to the pit before it, and that gets the seeds of pit 0 too.
func (h Half) Next() Half {
	at := bits.TrailingZeros64(uint64(h&^0xff)) &^ 7
	first := h & 0xff
	return h - first - 1<<at + (first+1)<<(at-8)
}

// filled returns the highest bit of each pit that is not empty.
func filled(h Half) Half { return (h + everyRest) & everyTop }

// holds reports whether no pit of h has fewer seeds than the same pit of g.
func (h Half) holds(g Half) bool { return ((h|everyTop)-g)&everyTop == everyTop }
