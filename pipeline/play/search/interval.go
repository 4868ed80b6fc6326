package search

// interval is the proven bounds of a score.
type interval struct{ lower, upper int }

// anything is the interval of a board with n seeds before it is searched.
func anything(n int) interval { return interval{-n, n} }

// both returns the intersection of two intervals.
func (i interval) both(j interval) interval {
	return interval{max(i.lower, j.lower), min(i.upper, j.upper)}
}

// clamp returns the number of the interval that is nearest to x.
func (i interval) clamp(x int) int { return max(i.lower, min(i.upper, x)) }

// settles says that the interval leaves nothing to be searched between alpha and
// beta.
func (i interval) settles(alpha, beta int) bool {
	return i.lower >= i.upper || i.lower >= beta || i.upper <= alpha
}
