package search

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"grenier/layers/swap"
)

// candidate is a state that may be kept for the next depth.
type candidate struct {
	print uint64
	from  step
	score uint32 // the less the better
}

const candidateBytes = 16

// pool collects candidates and keeps those with the least scores. It has room for twice
// as many as it keeps in the end.
type pool struct {
	list  []candidate
	known printSet
	most  uint32 // a larger score is not kept
	width int
	cut   bool // candidates were left out
}

func newPool(width int) pool {
	return pool{list: make([]candidate, 0, 2*width), known: newPrintSet(2 * width), width: width}
}

func (p *pool) clear() {
	p.list, p.most = p.list[:0], math.MaxUint32
	p.known.clear()
}

// add adds a candidate, unless it is there already.
func (p *pool) add(c candidate) {
	if c.score > p.most {
		p.cut = true
		return
	}
	if !p.known.add(c.print) {
		return
	}
	p.list = append(p.list, c)
	if len(p.list) == cap(p.list) {
		p.shrink()
	}
}

// shrink leaves no more candidates than the width, with the least scores. Of those with
// the largest score that is kept the fingerprints decide.
func (p *pool) shrink() {
	if len(p.list) <= p.width {
		return
	}
	p.cut = true
	slices.SortFunc(p.list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.print, b.print))
	})
	p.list = p.list[:p.width]
	p.most = p.list[p.width-1].score
	p.known.clear()
	for _, c := range p.list {
		p.known.add(c.print)
	}
}

// prints makes the fingerprints of states: sums, without carry, of random numbers for
// the tiles in their cells. Two states have the same one so rarely that a search may
// confuse them, as long as it checks its claims.
type prints struct {
	numbers [swap.MaxListed][swap.MaxListed]uint64 // by cell and tile
	home    uint64
}

func newPrints(cells int) *prints {
	p, r := &prints{}, rand.New(rand.NewPCG(1, 1))
	for cell := range cells {
		for tile := range cells {
			p.numbers[cell][tile] = r.Uint64()
		}
	}
	for i := range cells {
		p.home ^= p.numbers[i][i]
	}
	return p
}

func (p *prints) of(tiles swap.List) (print uint64) {
	for cell, tile := range tiles {
		print ^= p.numbers[cell][tile]
	}
	return print
}

// after returns the fingerprint after a move of tiles, which have the fingerprint
// before.
func (p *prints) after(before uint64, tiles swap.List, m swap.Swap) uint64 {
	x, y := tiles[m.A], tiles[m.B]
	a, b := &p.numbers[m.A], &p.numbers[m.B]
	return before ^ a[x] ^ a[y] ^ b[x] ^ b[y]
}

// printSet is a set of fingerprints but 0: a hash table with open addressing.
type printSet struct {
	slots []uint64
	shift uint
}

// newPrintSet returns a set for most fingerprints.
func newPrintSet(most int) printSet {
	size := printSetBytes(most) / 8
	return printSet{slots: make([]uint64, size), shift: uint(64 - bits.TrailingZeros64(size))}
}

// printSetBytes returns the memory of such a set.
func printSetBytes(most int) uint64 { return 16 << bits.Len(uint(most-1)) }

func (s *printSet) clear() { clear(s.slots) }

// slot returns where a fingerprint is, or would be.
func (s *printSet) slot(print uint64) int {
	i := int(print * 0x9e3779b97f4a7c15 >> s.shift) // the prints of a pool may all be small
	for s.slots[i] != 0 && s.slots[i] != print {
		i = (i + 1) & (len(s.slots) - 1)
	}
	return i
}

func (s *printSet) has(print uint64) bool { return s.slots[s.slot(print)] == print }

// add reports whether the fingerprint is new.
func (s *printSet) add(print uint64) bool {
	i := s.slot(print)
	if s.slots[i] == print {
		return false
	}
	s.slots[i] = print
	return true
}
