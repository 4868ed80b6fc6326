package verify

import (
	"math"
	"math/bits"
	"slices"

	"grenier/kernels/bitset"
	"grenier/kernels/colex"
	"grenier/layers/awari"
)

// frame has what passes of a Grounding ask about the halves of boards of a layer, by their seeds and ranks.
type frame struct {
	seeds  int
	halves [][]half
	starts [][]uint64 // the rank with which the row of a half of the opponent begins
	at     [][]uint64 // in words: where the traces of the column of a half of the mover begin, and those behind the last one
	gains  [][][]gain // by the effect of a move, the seeds of the opponent's half before it, and the chunk of that
	// terms are the terms of the rank of a half, by pit and by the seeds up to the pit; those of the last pit are 0.
	terms [awari.MaxPits/2 - 1][64]uint64
}

// gain says which halves of the opponent a chunk of them becomes by what a move gives him, if nothing is captured: those
// that hold it, in the same order.
type gain struct {
	first, words uint64 // where they are among the words, of a bit for each half with as many seeds
	mask         bitset.Mask
	all          bool // he gets nothing, so they stay the same
}

// GroundingBytes returns the bytes that a Grounding of the layer of n seeds takes with the given workers, besides MemoryBytes, marks and what verifying it takes.
func GroundingBytes(game awari.Game, n, workers int) uint64 {
	halves, err := colex.Binomial(n+game.Half(), n)
	size, err2 := colex.Binomial(n+2*game.Half()-1, n)
	if err != nil || err2 != nil {
		return math.MaxInt64
	}
	const (
		eachHalf = 3*8 + 4                       // frame: a bit and a quarter for each half and effect, less than 16 of these
		eachTile = 128 + tileColumns             // bytes
		tile     = tileColumns * 64 * chunkWords // positions
	)
	tiles := size/tile + halves/tileColumns + halves/chunkWords/64 + uint64(n) + 1
	return eachHalf*halves + eachTile*tiles + uint64(workers)*8*(stripWords(game.Half(), n)+pieceWords)
}

// stripWords returns the most words of traces that the columns of a tile have, of halves with q pits.
func stripWords(q, n int) (most uint64) {
	for a := range n + 1 {
		words := colex.MustBinomial(n-a+q-1, q-1)/64 + 1
		most = max(most, tileColumns*words*uint64(1+min(a, q)))
	}
	return most
}

func newFrame(s *sowings, space *awari.Space, n int) (*frame, error) {
	f := &frame{seeds: n, gains: make([][][]gain, len(s.effects))}
	for a := range n + 1 {
		all, err := s.half.Iterate(a)
		if err != nil {
			return nil, err
		}
		halves := make([]half, 0, s.half.Size(a))
		for _, pits := range all {
			halves = append(halves, pack(pits))
		}
		f.halves, f.starts = append(f.halves, halves), append(f.starts, make([]uint64, len(halves)))
	}
	f.layOut()
	for pit := range space.Half() - 1 {
		for sum := range n + 1 {
			f.terms[pit][sum] = colex.MustBinomial(sum+pit, pit+1)
		}
	}
	for rs := newRows(space, s.half, n, 0); rs.start < space.Size(n); rs.next() {
		f.starts[n-rs.mover][f.rank(rs.opponent)] = rs.start
	}
	for i := range n { // fewer seeds first, so that the opponent can have the most
		for _, all := range s.byPit {
			if w := &all[i]; f.gains[w.effect] == nil {
				f.gains[w.effect] = f.gainsOf(w.given, i+1-w.kept, n-i-1)
			}
		}
	}
	return f, nil
}

// rank returns the rank of a half among those with as many seeds.
func (f *frame) rank(h half) (rank uint64) {
	sums := uint64(h) * (highBits >> 7) // in each byte, those up to it
	for pit := range f.terms {
		rank += f.terms[pit][sums>>(8*pit)&63]
	}
	return rank
}

// layOut says where the traces of columns are.
func (f *frame) layOut() {
	at := uint64(0)
	for a, halves := range f.halves {
		all, words := make([]uint64, 0, len(halves)+1), f.words(f.seeds-a)
		for _, h := range halves {
			all = append(all, at)
			at += uint64(words * h.lines())
		}
		f.at = append(f.at, append(all, at))
	}
}

// total returns the words of all traces.
func (f *frame) total() uint64 {
	last := f.at[f.seeds]
	return last[len(last)-1]
}

// words returns how many words have a bit for each half of the opponent with some seeds.
func (f *frame) words(seeds int) int { return bitset.Words(len(f.halves[seeds])) }

// gainsOf returns the gains by some seeds given, for halves that had up to most before.
func (f *frame) gainsOf(given half, seeds, most int) (all [][]gain) {
	for b := range most + 1 {
		all = append(all, gainsInto(given, f.halves[b+seeds]))
	}
	return all
}

// gainsInto returns the gains of chunks that become some of the halves, all of which have as many seeds.
func gainsInto(given half, halves []half) (all []gain) {
	var ranks []int
	for rank, h := range halves {
		if h.holds(given) {
			ranks = append(ranks, rank)
		}
	}
	for some := range slices.Chunk(ranks, 64*chunkWords) {
		first := some[0] / 64
		words := make([]uint64, some[len(some)-1]/64-first+1)
		for _, rank := range some {
			words[rank/64-first] |= 1 << (rank % 64)
		}
		all = append(all, gain{uint64(first), uint64(len(words)), bitset.NewMask(words), given == 0})
	}
	return all
}

// lines returns how many lines the traces of a column with a half of the mover have.
func (h half) lines() int {
	const most = highBits - highBits>>7 // that does not reach the upper bit
	return 1 + bits.OnesCount64(uint64(h+most)&highBits)
}
