package search

import "time"

// Progress says how far a search is.
type Progress struct {
	Solver   string `json:"solver"`
	Lower    int    `json:"lower_bound"` // no solution is shorter
	Best     int    `json:"best"`        // length of the shortest solution known
	Expanded uint64 `json:"expanded"`
	Open     uint64 `json:"open"`   // states that wait
	Closed   uint64 `json:"closed"` // states that are remembered
	// Bytes are those of the states, Memory those allowed, 0 for no limit.
	Bytes  uint64 `json:"bytes"`
	Memory uint64 `json:"memory"`
	// Share is the share of the work that is done, if the search runs to its latest
	// possible end other than Limit; 0 if there is no such end.
	Share float64 `json:"share"`
	// Elapsed is the time used, Limit the time allowed, 0 for no limit.
	Elapsed time.Duration `json:"-"`
	Limit   time.Duration `json:"-"`
}

// between is the time between two reports.
const between = 100 * time.Millisecond

// reporter passes progress on.
type reporter struct {
	solver string
	report func(Progress)
	last   time.Duration // when it reported last
}

// tell reports the progress of s, unless it did so just before.
func (r *reporter) tell(s *search, elapsed time.Duration) {
	if r.report == nil || elapsed-r.last < between {
		return
	}
	r.last = elapsed
	share := s.share
	if share == 0 && s.memory > 0 {
		share = float64(s.held.bytes) / float64(s.memory)
	}
	r.report(Progress{
		Solver: r.solver, Lower: s.lower, Best: len(s.best), Expanded: s.Expanded, Open: s.held.open, Closed: s.held.closed,
		Bytes: s.held.bytes, Memory: s.memory, Share: share, Elapsed: elapsed, Limit: s.limit,
	})
}
