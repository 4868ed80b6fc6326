package search

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"grenier/pipeline/job"
)

// Progress says how far a search is.
type Progress struct {
	Solver   string `json:"solver"`
	Lower    int    `json:"lower_bound"` // no solution is shorter
	Best     int    `json:"best"`        // length of the shortest solution known
	Expanded uint64 `json:"expanded"`
	Open     uint64 `json:"open"`   // states that wait
	Closed   uint64 `json:"closed"` // states that are remembered
	// Bytes is the memory of the states, Memory the limit, 0 for none.
	Bytes  uint64 `json:"bytes"`
	Memory uint64 `json:"memory"`
	// Share is the share of the work that is done, if the search runs to its latest
	// possible end other than a limit of time; 0 if there is no such end.
	Share float64 `json:"share"`
}

// between is the time between two reports. Tests have less time.
var between = 100 * time.Millisecond

// whole is the resolution of the share of a limit that is used.
const whole = 1e6

// tell reports progress, unless it did so just before.
func (s *search) tell(elapsed time.Duration) {
	if s.job.Progress == nil || elapsed-s.told < between {
		return
	}
	s.told = elapsed
	share := s.share
	if share == 0 && s.job.Memory > 0 {
		share = float64(s.held.bytes) / float64(s.job.Memory)
	}
	p := Progress{
		Solver: s.solver.Name, Lower: s.lower, Best: len(s.best), Expanded: s.Expanded, Open: s.held.open, Closed: s.held.closed,
		Bytes: s.held.bytes, Memory: s.job.Memory, Share: share,
	}
	pace := &job.Pace{Rate: float64(s.Expanded) / elapsed.Seconds(), Layer: job.NoLayer, Run: job.Unknown}
	if s.limit > 0 {
		share = max(share, float64(elapsed)/float64(s.limit))
	}
	if share = min(share, 1); share > 0 { // the work ends at a limit, or before
		pace.Run = time.Duration(float64(elapsed) * (1 - share) / share)
	}
	s.job.Tell(job.Step{Doing: p.text(), Done: share * whole, Total: whole, Pace: pace, Detail: p})
}

// text returns progress in a few words.
func (p *Progress) text() string {
	count := func(n uint64) string { return humanize.SIWithDigits(float64(n), 1, "") }
	return fmt.Sprintf("%d to %d swaps, %s open, %s closed, %s", p.Lower, p.Best, count(p.Open), count(p.Closed), humanize.IBytes(p.Bytes))
}
