// Package testkit_test has the tests of small packages below, which take less time than it takes to link a program for each.
package testkit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/conformance"
	"grenier/internal/testkit/should"
	"grenier/layers"
)

// state is a heap of stones and a hand on a dial of three.
type state struct{ heap, dial int }

// toy is a correct space: turn the dial (quiet) while the heap is not empty, or
// take one or two stones. Layer n has the three states with n stones.
type toy struct{ heaps int }

func (toy) Name() string                     { return "toy" }
func (t toy) Layers() int                    { return t.heaps + 1 }
func (toy) Size(int) uint64                  { return 3 }
func (toy) Rank(s state) (int, uint64)       { return s.heap, uint64(s.dial) }
func (toy) Unrank(layer int, r uint64) state { return state{layer, int(r)} }
func (toy) Terminal(state) int               { return 0 }
func (toy) Predecessors(d []state, s state) []state {
	if s.heap == 0 {
		return d
	}
	return append(d, state{s.heap, (s.dial + 2) % 3})
}

func (toy) Successors(d []layers.Move[state], s state) []layers.Move[state] {
	if s.heap == 0 {
		return d
	}
	d = append(d, layers.Move[state]{To: state{s.heap, (s.dial + 1) % 3}})
	for take := 1; take <= min(2, s.heap); take++ {
		d = append(d, layers.Move[state]{To: state{s.heap - take, s.dial}, Reward: take})
	}
	return d
}

// broken is a toy some of whose methods are replaced; those that list states are so for one state only.
type broken struct {
	toy
	layers       func() int
	rank         func(state) (int, uint64)
	successors   func([]layers.Move[state]) []layers.Move[state]
	predecessors func([]state) []state
	terminal     func(state) int
}

func (b *broken) Layers() int                { return b.layers() }
func (b *broken) Rank(s state) (int, uint64) { return b.rank(s) }
func (b *broken) Terminal(s state) int       { return b.terminal(s) }

func (b *broken) Successors(d []layers.Move[state], s state) []layers.Move[state] {
	if d = b.toy.Successors(d, s); b.successors != nil && s == (state{2, 1}) {
		d = b.successors(d)
	}
	return d
}

func (b *broken) Predecessors(d []state, s state) []state {
	if d = b.toy.Predecessors(d, s); b.predecessors != nil && s == (state{2, 1}) {
		d = b.predecessors(d)
	}
	return d
}

// breaking returns a toy that is correct but for what breaks it.
func breaking(with func(b *broken)) *broken {
	b := &broken{toy: toy{heaps: 4}}
	b.layers, b.rank, b.terminal = b.toy.Layers, b.toy.Rank, b.toy.Terminal
	with(b)
	return b
}

// recorder is a TB that keeps the failures.
type recorder struct{ failures []string }

func (*recorder) Helper()             {}
func (*recorder) Logf(string, ...any) {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// TestRun: correct spaces pass, and each that is broken fails.
func TestRun(t *testing.T) {
	conformance.Run(t, toy{heaps: 6}, conformance.Options{})
	conformance.Run(t, toy{heaps: 6}, conformance.Options{Exhaustive: 1, Samples: 5})
	conformance.Run(t, breaking(func(*broken) {}), conformance.Options{})
	calls := 0
	move := func(to state, reward int) *broken { // lists one more move
		return breaking(func(b *broken) {
			b.successors = func(d []layers.Move[state]) []layers.Move[state] {
				return append(d, layers.Move[state]{To: to, Reward: reward})
			}
		})
	}
	before := func(from state) *broken { // lists one more predecessor
		return breaking(func(b *broken) { b.predecessors = func(d []state) []state { return append(d, from) } })
	}
	terminal := func(score func(state) int) *broken { return breaking(func(b *broken) { b.terminal = score }) }
	rank := func(rank func(state) (int, uint64)) *broken { return breaking(func(b *broken) { b.rank = rank }) }
	shared := move(state{1, 4}, 0)
	shared.rank = func(s state) (int, uint64) { return s.heap, uint64(s.dial % 3) }
	for name, c := range map[string]struct {
		space *broken
		want  string // part of a failure
	}{
		"no layers":                       {breaking(func(b *broken) { b.layers = func() int { return 0 } }), "at least 1 is needed"},
		"two states with one rank":        {rank(func(s state) (int, uint64) { return s.heap, uint64(s.dial / 2) }), "but was unranked from"},
		"wrong layer":                     {rank(func(s state) (int, uint64) { return 0, uint64(s.dial) }), "but was unranked from"},
		"climbing move":                   {move(state{3, 1}, 0), "climbs from layer 2 to 3"},
		"move out of the layers":          {move(state{-1, 1}, 0), "not a state of the space"},
		"move to a state without a rank":  {move(state{1, 3}, 0), "not a state of the space"},
		"move to a state with their rank": {shared, "not a state of the space"},
		"negative reward":                 {move(state{1, 1}, -1), "earns -1"},
		"quiet reward":                    {move(state{2, 0}, 1), "earns 1"},
		"missing predecessor":             {move(state{2, 0}, 0), "not among its predecessors"},
		"repeated quiet move":             {move(state{2, 2}, 0), "{2 2} of {2 1} is listed twice"},
		"missing quiet move":              {before(state{2, 2}), "has no quiet move to it"},
		"predecessor in another layer":    {before(state{3, 1}), "not a state of layer 2"},
		"predecessor without a rank":      {before(state{2, 7}), "not a state of layer 2"},
		"repeated predecessor":            {before(state{2, 0}), "{2 0} of {2 1} is listed twice"},
		"successors not appended": {breaking(func(b *broken) {
			b.successors = func(d []layers.Move[state]) []layers.Move[state] { return d[len(d)-1:] }
		}), "appended to a list of one"},
		"successors change": {breaking(func(b *broken) {
			b.successors = func(d []layers.Move[state]) []layers.Move[state] {
				calls++
				return append(d, layers.Move[state]{To: state{1, 0}, Reward: calls})
			}
		}), "at first, then"},
		"predecessors not appended": {breaking(func(b *broken) { b.predecessors = func(d []state) []state { return d[len(d)-1:] } }), "appended to a list of one"},
		"terminal score too large":  {terminal(func(state) int { return 128 }), "does not fit"},
		"terminal score too small":  {terminal(func(state) int { return -128 }), "does not fit"},
		"terminal score changes":    {terminal(func(state) int { calls++; return calls % 100 }), "terminal state {0 0} scores"},
	} {
		var r recorder
		conformance.Run(&r, c.space, conformance.Options{})
		should.Hold(t, slices.ContainsFunc(r.failures, func(f string) bool { return strings.Contains(f, c.want) }),
			"%s: failures %q, want one with %q", name, r.failures, c.want)
	}
}
