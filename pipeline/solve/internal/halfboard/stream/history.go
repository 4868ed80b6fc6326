package stream

import (
	"encoding/binary"
	"time"

	"grenier/io/corrupt"
	"grenier/io/spill"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

// history says what a layer has taken so far, in all runs: the beginning of most streams.
type history struct {
	Sweeps          uint64
	Elapsed         time.Duration
	Stages          [fixpoint.Stages]time.Duration
	Changes, Events uint64
}

// soFar returns the history of a layer up to now.
func soFar(a *fixpoint.Account) history {
	a.Pass()
	s := &a.Stats
	return history{uint64(s.Sweeps), s.Before + time.Since(a.Began), s.Stages, s.Changes, s.Events}
}

// restore continues the history of earlier runs, before the first stage, if it is longer than what is known.
func (h *history) restore(a *fixpoint.Account) {
	s := &a.Stats
	if h.Elapsed <= s.Before {
		return
	}
	s.Sweeps, s.Before, s.Stages, s.Changes, s.Events = int(h.Sweeps), h.Elapsed, h.Stages, h.Changes, h.Events
}

// longest is more time than any layer takes, mostSweeps more sweeps.
const (
	longest    = 100 * 365 * 24 * time.Hour
	mostSweeps = 1 << 31
)

// possible reports whether stages add up to at most all of the time.
func (h *history) possible() bool {
	left := h.Elapsed
	for _, took := range h.Stages {
		if took < 0 || took > left {
			return false
		}
		left -= took
	}
	return h.Elapsed >= 0 && h.Elapsed <= longest && h.Events <= h.Changes && h.Sweeps <= mostSweeps
}

// readHistory reads the beginning of a stream.
func readHistory(r *spill.Reader) (h history, err error) {
	b := make([]byte, binary.Size(h))
	if err := readFull(r, b); err != nil {
		return h, err
	}
	if _, err := binary.Decode(b, binary.LittleEndian, &h); err != nil {
		return h, err
	}
	if !h.possible() {
		return h, corrupt.New(r.Path(), "", "impossible times: %+v", h)
	}
	return h, nil
}

func appendLittle(b []byte, x any) []byte {
	b, err := binary.Append(b, binary.LittleEndian, x)
	if err != nil {
		panic(err) // of fixed size
	}
	return b
}
