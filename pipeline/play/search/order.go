package search

import "math/bits"

// Ranks of moves.
const (
	captureRank = 1 << 8
	storedRank  = 1 << 16
)

// order lists the legal pits of a position, best first: the one that the transposition table names, stored, or
// noPit; then captures by size; then quiet moves, of fewer seeds first.
func (v *visit) order(stored int) {
	var ranks [len(v.pits)]int
	for legal := v.plays.Legal; legal != 0; legal &= legal - 1 {
		pit := bits.TrailingZeros8(legal)
		rank := -v.at.Own.Pit(pit)
		if captured := v.plays.Captured[pit]; captured > 0 {
			rank = captureRank + int(captured)
		}
		if pit == stored {
			rank = storedRank
		}
		i := v.count
		for ; i > 0 && ranks[i-1] < rank; i-- {
			v.pits[i], ranks[i] = v.pits[i-1], ranks[i-1]
		}
		v.pits[i], ranks[i] = int8(pit), rank
		v.count++
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
