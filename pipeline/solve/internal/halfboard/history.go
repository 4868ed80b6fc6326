package halfboard

import "time"

// history is what a layer has taken so far, in all runs.
type history struct {
	Elapsed         time.Duration
	Stages          [Stages]time.Duration
	Changes, Events uint64
}

// history returns that of the layer up to now.
func (e *engine) history() history {
	e.pass()
	s := &e.stats
	return history{s.Before + time.Since(e.began), s.Stages, s.Changes, s.Events}
}

// remember continues the history of earlier runs, before the first stage.
func (e *engine) remember(h *history) {
	s := &e.stats
	s.Before, s.Stages, s.Changes, s.Events = h.Elapsed, h.Stages, h.Changes, h.Events
}

// longest is more time than any layer takes.
const longest = 100 * 365 * 24 * time.Hour

// possible reports whether stages add up to at most all of the time.
func (h *history) possible() bool {
	left := h.Elapsed
	for _, took := range h.Stages {
		if took < 0 || took > left {
			return false
		}
		left -= took
	}
	return h.Elapsed >= 0 && h.Elapsed <= longest && h.Events <= h.Changes
}
