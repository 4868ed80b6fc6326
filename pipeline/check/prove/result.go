package prove

import (
	"fmt"
	"time"

	"grenier/kernels/fault"
	"grenier/pipeline/check/verify"
)

// MaxUngrounded is how many of the positions of a layer that are not grounded are
// described.
const MaxUngrounded = 10

// UngroundedError reports scores that follow from each other, but in circles: some
// of them are wrong. It matches verify.ErrDifferences.
type UngroundedError struct {
	Seeds     int    // of the layer
	Positions uint64 // not grounded
}

func (e *UngroundedError) Error() string {
	return fmt.Sprintf("layer %d: %d scores are not grounded: they only back each other, in circles", e.Seeds, e.Positions)
}

// Is says that scores that are not grounded are differences.
func (e *UngroundedError) Is(target error) bool {
	return target == verify.ErrDifferences || target == fault.Difference
}

// Result is the outcome of a proof.
type Result struct {
	// OK says that the scores of the layers below are proved.
	OK bool `json:"ok"`
	// Restarted says why not all that an interrupted run noted is believed, "" if it is.
	Restarted string `json:"restarted,omitempty"`
	// Layers holds the outcomes by increasing number of seeds.
	Layers  []Layer `json:"layers"`
	Seconds float64 `json:"seconds"`
}

// Layer is the outcome for one layer.
type Layer struct {
	verify.Layer
	// Proof is nil when the layer, or one below, is not in order.
	Proof *Proof `json:"proof"`
}

// Proof says which scores of a layer are grounded. If all are, all scores of the
// layer are right, zeros too.
type Proof struct {
	// Positive and Negative count the grounded positions by the sign of their
	// scores, Zero those with the score 0, which need no ground.
	Positive uint64 `json:"positive"`
	Negative uint64 `json:"negative"`
	Zero     uint64 `json:"zero"`
	// Ungrounded counts the positions with another score than 0 that are not
	// grounded. At least one of these scores is wrong, and zeros may be.
	Ungrounded uint64 `json:"ungrounded"`
	// First holds the first of them in rank order, MaxUngrounded at most.
	First []Position `json:"first"`
	// Passes is the number of passes over the layer, 0 if its distances prove it.
	Passes int `json:"passes"`
}

// Position is a position that is not grounded.
type Position struct {
	Rank   uint64 `json:"rank"`
	Board  string `json:"board"` // as awari.Game.Text writes it
	Stored int    `json:"stored"`
}

// String describes the position in one line.
func (p *Position) String() string {
	return fmt.Sprintf("board %s, rank %d: the score %d is not grounded", p.Board, p.Rank, p.Stored)
}

// add appends the outcome for a layer, elapsed after the start.
func (r *Result) add(l Layer, elapsed time.Duration) {
	r.Layers = append(r.Layers, l)
	r.OK = r.OK && l.Proof != nil && l.Proof.Ungrounded == 0
	r.Seconds = elapsed.Seconds()
}

// Err returns nil if everything is proved, otherwise the error of verify.Result.Err
// if that finds anything wrong, or an *UngroundedError for the first layer that has
// one.
func (r *Result) Err() error {
	var verified verify.Result
	for _, l := range r.Layers {
		verified.Layers = append(verified.Layers, l.Layer)
	}
	if err := verified.Err(); err != nil {
		return err
	}
	for _, l := range r.Layers {
		if l.Proof != nil && l.Proof.Ungrounded > 0 {
			return &UngroundedError{Seeds: l.Seeds, Positions: l.Proof.Ungrounded}
		}
	}
	return nil
}
