// Package halves describes awari moves by their effects on each half of the
// board. Package awari plays boards seed by seed and defines the game; here the
// same moves are taken apart for engines that never put a whole board together.
// All rule sets share sowing; Chain knows what becomes of a grand slam.
//
// For a given half and pit of the mover, the half that the sowing leaves is
// fixed, and so are the seeds that it adds to the opponent's half, whatever is
// in that. So an engine plays one move on all halves of the opponent at once.
package halves

import "grenier/layers/awari"

// Move is a sowing as the opponent's half sees it. Pits of the opponent's half are
// counted from 0 here.
type Move struct {
	// Laps is the number of seeds that every pit receives.
	Laps int8
	// Ones is the number of pits, from the first on, that receive one more.
	Ones int8
	// Last is the pit in which the last seed falls, or -1 when it falls in
	// the mover's own half, where nothing can be captured.
	Last int8
}

// Seeds returns the number of seeds that a half of q pits receives.
func (m Move) Seeds(q int) int { return q*int(m.Laps) + int(m.Ones) }

// Gain returns the number of seeds that pit of the opponent's half receives.
func (m Move) Gain(pit int) uint8 {
	gain := m.Laps
	if pit < int(m.Ones) {
		gain++
	}
	return uint8(gain)
}

// Sow plays a non-empty pit of the mover's half: it changes half to the half that
// the sowing leaves and returns the seeds that the opponent's half receives.
func Sow(half []uint8, pit int) Move {
	seeds := int(half[pit])
	half[pit] = 0
	for i := range half {
		half[i] += ownGain(len(half), pit, seeds, i)
	}
	return passOn(len(half), pit, seeds)
}

// ownGain returns the seeds that sowing seeds seeds out of pit puts into pit i
// of the mover's half of q pits.
func ownGain(q, pit, seeds, i int) uint8 {
	if i == pit {
		return 0
	}
	others := 2*q - 1
	distance := i - pit // pits from the origin to i, counter-clockwise
	if distance < 0 {
		distance += 2 * q
	}
	return uint8((seeds + others - distance) / others)
}

// passOn returns the seeds that a sowing adds to the opponent's half of q pits, as a Move.
func passOn(q, pit, seeds int) Move {
	others := 2*q - 1
	laps, rest := seeds/others, seeds%others
	m := Move{Laps: int8(laps), Ones: int8(min(max(pit+rest-q+1, 0), q)), Last: -1}
	switch end := pit + rest; {
	case rest == 0 && pit == 0:
		m.Last = int8(q - 1) // the pit before the origin
	case rest > 0 && end >= q && end < 2*q:
		m.Last = int8(end - q)
	}
	return m
}

// Chain returns the pits of the opponent's half, sown already, that a move
// ending in pit last captures: those from the returned first pit up to last,
// and the seeds in them. Nothing is captured when captured is 0. It depends on this half
// alone, also whether these are all seeds of the opponent, which are not captured
// if the rules say so.
func Chain(half []uint8, last int, rules awari.Rules) (first, captured int) {
	for first = last; first >= 0 && Capturable(half[first]); first-- {
		captured += int(half[first])
	}
	if captured > 0 && rules.SlamIsQuiet() && empty(half[:first+1]) && empty(half[last+1:]) {
		return last + 1, 0
	}
	return first + 1, captured
}

func empty(pits []uint8) bool {
	for _, x := range pits {
		if x > 0 {
			return false
		}
	}
	return true
}

// Capturable reports whether a pit with that many seeds after sowing is
// captured.
func Capturable(seeds uint8) bool { return seeds == 2 || seeds == 3 }
