package rice

import "math/bits"

// route says how the bytes of a word get to where a mask has ones, by steps of
// 4, 2 and 1 places: Warren, Hacker's Delight, 7-4 and 7-5, with bytes for bits
// and the steps computed once for each mask.
type route struct {
	four, two, one uint64 // the bytes that a step arrives at
	bytes          uint64 // the bytes that are ones of the mask
}

// routes has the route of each mask of eight bits.
var routes = func() (all [256]route) {
	for mask := range all {
		r := &all[mask]
		for k, rest := 0, uint8(mask); rest != 0; k, rest = k+1, rest&(rest-1) {
			end := bits.TrailingZeros8(rest)
			way := end - k
			r.bytes |= 0xff << (8 * end)
			r.one |= uint64(way&1) * 0xff << (8 * end)
			r.two |= uint64(way>>1&1) * 0xff << (8 * (end - way&1))
			r.four |= uint64(way>>2) * 0xff << (8 * (end - way&3))
		}
	}
	return all
}()

// expand moves the lowest bytes of x to the ones of the mask; the others become
// 0.
func (r *route) expand(x uint64) uint64 {
	x = x&^r.four | x<<32&r.four
	x = x&^r.two | x<<16&r.two
	x = x&^r.one | x<<8&r.one
	return x & r.bytes
}

// compress moves the bytes of x at the ones of the mask to the lowest places;
// the others become 0.
func (r *route) compress(x uint64) uint64 {
	x &= r.bytes
	x = x&^r.one | x&r.one>>8
	x = x&^r.two | x&r.two>>16
	return x&^r.four | x&r.four>>32
}
