package search

// interval is what is proven of a score.
type interval struct{ lower, upper int }

// anything is the interval of a board with n seeds before it is searched.
func anything(n int) interval { return interval{-n, n} }

// both returns what follows from two intervals.
func (i interval) both(j interval) interval {
	return interval{max(i.lower, j.lower), min(i.upper, j.upper)}
}

// clamp returns the number of the interval that is nearest to x. Where a result
// depends on the path the bounds may cross: then it is the lower one.
func (i interval) clamp(x int) int { return max(i.lower, min(i.upper, x)) }

// settles says that the interval leaves nothing to be searched between alpha and
// beta.
func (i interval) settles(alpha, beta int) bool {
	return i.lower >= i.upper || i.lower >= beta || i.upper <= alpha
}

// before is the interval of a move that captures seeds and leads to a board with interval i.
func (i interval) before(captured int) interval {
	return interval{captured - i.upper, captured - i.lower}
}

// improve takes up a move.
func (i *interval) improve(move interval) {
	i.lower = max(i.lower, move.lower)
	i.upper = max(i.upper, move.upper)
}

// outcome is what the search says of a position, to the player to move.
type outcome struct {
	estimate int
	here     interval // on this path
	sure     interval // on every path
	// back is the first ply that a repetition below leads back to, nowhere if
	// there is none: then here and sure are the same.
	back int
}

// nowhere is beyond all plies.
const nowhere = maxPly + 1

// known is the outcome of a position whose interval holds on every path.
func known(estimate int, sure interval) outcome {
	return outcome{estimate: sure.clamp(estimate), here: sure, sure: sure, back: nowhere}
}

// again is the outcome of a position with n seeds that was on the path at a ply
// before.
func again(n, ply int) outcome {
	return outcome{sure: anything(n), back: ply}
}

// and is the outcome of two searches of a position on the same path; the
// second estimate counts.
func (o outcome) and(second outcome) outcome {
	return outcome{
		estimate: second.estimate, here: o.here.both(second.here), sure: o.sure.both(second.sure),
		back: min(o.back, second.back),
	}
}

// whole makes the results on the path those on every path if no repetition below
// leads back to before ply: the subtree is then a tree of its own.
func (o *outcome) whole(ply int) {
	if o.back >= ply {
		o.here = o.here.both(o.sure)
		o.sure = o.here
		o.back = nowhere
	}
}
