package packed

import "grenier/layers/awari"

// Past takes quiet moves back to boards with the same half of the opponent, which follow each other in a layer: which moves there can have been, and
// what the mover's half before adds to the rank, is worked out once.
type Past struct {
	rules *Rules
	steps []step
}

// step is a sowing that leaves the opponent's half of the row.
type step struct {
	*sowing
	base uint64 // part of the rank before, which the half of the mover before determines
	sum  Half   // the seeds of that half
}

// NewPast returns a past without a board.
func (r *Rules) NewPast() *Past { return &Past{rules: r} }

// Set makes it the past of boards with the opponent's half of a board, and as many seeds as that.
func (w *Past) Set(b Board) {
	r, left := w.rules, b.Own.Seeds()
	w.steps = w.steps[:0]
	for pit := range r.half {
		if b.Other.Pit(pit) != 0 {
			continue
		}
		for seeds := 1; seeds <= awari.MaxSeeds; seeds++ {
			s := &r.sowings[pit][seeds]
			if !b.Other.holds(s.own) || s.given.Seeds() > left {
				break // more seeds give no pit less
			}
			sums := uint64(b.Other-s.own+Half(seeds)<<(8*pit)) * everyOne
			e := step{sowing: s, sum: Half(sums >> 56)}
			for pit := range MaxHalf {
				e.base += r.terms[pit][sums>>(8*pit)&63]
			}
			w.steps = append(w.steps, e)
		}
	}
}

// Before appends the ranks of the boards from which quiet moves lead to one of the row with a half of the mover, in the order of Rules.Before.
func (w *Past) Before(dst []uint64, own Half) []uint64 {
	if own == 0 {
		return dst // a move that leaves the opponent no seeds is none, or takes some
	}
	t := &w.rules.terms
	for i := range w.steps {
		s := &w.steps[i]
		if !own.holds(s.given) || w.rules.taken(s.sowing, own) != 0 {
			continue
		}
		sums := uint64(own-s.given+s.sum) * everyOne
		dst = append(dst, s.base+t[6][sums&63]+t[7][sums>>8&63]+t[8][sums>>16&63]+t[9][sums>>24&63]+t[10][sums>>32&63])
	}
	return dst
}
