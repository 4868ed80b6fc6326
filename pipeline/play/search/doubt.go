package search

import "grenier/layers/awari"

// doubt is a score that is not known, and what was tried to find it out.
type doubt struct {
	board                  *awari.Board
	seeds                  int
	lower, upper, estimate int
	attempts               int // in vain, since the last success
}

// ask returns the bound to be proven or refuted next: in turn the one that would make
// the estimate exact, and one half way to it.
func (d *doubt) ask() (bound int) {
	above, below := d.upper-d.estimate, d.estimate-d.lower
	half := d.attempts%2 == 1
	switch up := above > 0 && (below == 0 || d.attempts%4 < 2); {
	case up && half:
		return d.estimate + (above+2)/2
	case up:
		return d.estimate + 1
	case half:
		return d.estimate - below/2
	}
	return d.estimate
}

// firstBudget is how many nodes the first attempt at a proof may take. Every eighth
// attempt doubles it.
const firstBudget = 100

// try asks once. pit is the move that reaches the bound, if one does. It fails when the
// answer is not found.
func (r *root) try(d *doubt) (reached bool, bound, pit int, ok bool) {
	bound = d.ask()
	before, budget := r.effort(), min(firstBudget<<min(d.attempts/8, 30), r.mostNodes)
	r.budget, r.attempt = budget, d.attempts/2
	if bound > 0 {
		reached, pit, ok = r.proofOf(d.seeds).wins(*d.board, true, bound)
	} else {
		reached, pit, ok = r.proofOf(d.seeds).wins(*d.board, false, 1-bound)
		reached = !reached
	}
	r.proving += r.effort() - before
	d.attempts++
	if ok {
		d.attempts = 0
	}
	return reached, bound, pit, ok
}

// readCost is how many nodes can be visited while a score is read.
const readCost = 64

// effort is what was done so far, in nodes.
func (r *root) effort() uint64 { return r.nodes + readCost*r.reads }

// prove tries to close what the search left open. It takes a third of all effort.
func (r *root) prove() {
	for r.mostNodes > 0 && !r.closed() && 3*r.proving < r.effort() && !r.stop.Load() {
		if r.limits.AllMoves {
			r.proveMoves()
		} else {
			r.proveBoard()
		}
		r.summarize()
	}
}

// proveBoard tries to move a bound of the board.
func (r *root) proveBoard() {
	d := &r.doubt
	d.board, d.seeds = &r.result.Board, r.result.Seeds
	d.lower, d.upper, d.estimate = r.result.Lower, r.result.Upper, r.result.Estimate
	reached, bound, pit, ok := r.try(d)
	if !ok {
		return
	}
	for _, other := range r.order {
		m := &r.result.Moves[other]
		if !reached {
			m.Upper = min(m.Upper, bound-1)
		} else if other == pit {
			m.Lower = max(m.Lower, bound)
		}
		m.Estimate = interval{m.Lower, m.Upper}.clamp(m.Estimate)
	}
	if reached && r.result.Moves[r.result.Best].Estimate < bound {
		r.result.Best = pit
	}
}

// proveMoves tries to move a bound of every move.
func (r *root) proveMoves() {
	for _, pit := range r.order {
		m, d := &r.result.Moves[pit], &r.doubts[pit]
		if m.Lower == m.Upper {
			continue
		}
		d.board, d.seeds = &m.Child, r.result.Seeds-m.Captured
		d.lower, d.upper, d.estimate = m.Captured-m.Upper, m.Captured-m.Lower, m.Captured-m.Estimate
		reached, bound, _, ok := r.try(d)
		switch {
		case !ok:
		case reached:
			m.Upper = min(m.Upper, m.Captured-bound)
		default:
			m.Lower = max(m.Lower, m.Captured-bound+1)
		}
		m.Estimate = interval{m.Lower, m.Upper}.clamp(m.Estimate)
	}
}
