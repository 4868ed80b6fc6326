package search

import (
	"math/bits"

	"grenier/layers/awari"
)

// order knows in which order to try moves: the one in the transposition table first,
// then captures by size, then quiet moves that cut off other positions of the same
// ply (killers), then those that did so anywhere, by pit and seeds (history).
type order struct {
	killers [maxPly + 1][2]int8 // pits plus 1
	history [awari.MaxPits / 2][awari.MaxSeeds + 1]uint32
}

// Ranks of moves. History stays below maxHistory.
const (
	maxHistory  = 1 << 20
	killerRank  = maxHistory
	captureRank = 1 << 22
	storedRank  = 1 << 30
)

// moves lists the legal pits of a position, best first. stored is the pit that the
// transposition table names, or noPit.
func (o *order) moves(v *visit, stored int) (pits [awari.MaxPits / 2]int8, n int) {
	var ranks [awari.MaxPits / 2]uint32
	for legal := v.plays.Legal; legal != 0; legal &= legal - 1 {
		pit := bits.TrailingZeros8(legal)
		rank := o.rank(v, pit)
		if pit == stored {
			rank = storedRank
		}
		i := n
		for ; i > 0 && ranks[i-1] < rank; i-- {
			pits[i], ranks[i] = pits[i-1], ranks[i-1]
		}
		pits[i], ranks[i] = int8(pit), rank
		n++
	}
	return pits, n
}

func (o *order) rank(v *visit, pit int) uint32 {
	if captured := v.plays.Captured[pit]; captured > 0 {
		return captureRank + uint32(captured)
	}
	rank := o.history[pit][v.at.Own.Pit(pit)]
	switch int8(pit + 1) {
	case o.killers[v.place.ply][0]:
		rank += 2 * killerRank
	case o.killers[v.place.ply][1]:
		rank += killerRank
	}
	return rank
}

// cut remembers a quiet move that cut off.
func (o *order) cut(v *visit, pit int) {
	if k := &o.killers[v.place.ply]; k[0] != int8(pit+1) {
		k[0], k[1] = int8(pit+1), k[0]
	}
	h := &o.history[pit][v.at.Own.Pit(pit)]
	if *h += uint32(v.depth * v.depth); *h >= maxHistory {
		for pit := range o.history {
			for seeds := range o.history[pit] {
				o.history[pit][seeds] /= 2
			}
		}
	}
}

// variations holds the principal variations of the positions on the path.
type variations struct {
	pits [maxPly + 2][maxPly + 2]int8
	ends [maxPly + 2]int
}

// clear forgets the variation of a ply.
func (v *variations) clear(ply int) { v.ends[ply] = ply }

// set makes pit, and the variation of the next ply, the one of a ply.
func (v *variations) set(ply, pit int) {
	v.pits[ply][ply] = int8(pit)
	end := max(ply+1, v.ends[ply+1])
	copy(v.pits[ply][ply+1:end], v.pits[ply+1][ply+1:end])
	v.ends[ply] = end
}

// at returns the variation of a ply.
func (v *variations) at(ply int) []int8 { return v.pits[ply][ply:v.ends[ply]] }
