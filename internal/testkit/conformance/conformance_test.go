package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/conformance"
	"grenier/internal/testkit/must"
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

// broken overrides methods of the toy; nil fields keep the correct ones.
type broken struct {
	toy
	layers       func() int
	rank         func(state) (int, uint64)
	successors   func([]layers.Move[state]) []layers.Move[state]
	predecessors func([]state) []state
	terminal     func() int
}

func (b broken) Layers() int {
	if b.layers != nil {
		return b.layers()
	}
	return b.toy.Layers()
}

func (b broken) Rank(s state) (int, uint64) {
	if b.rank != nil {
		return b.rank(s)
	}
	return b.toy.Rank(s)
}

func (b broken) Successors(d []layers.Move[state], s state) []layers.Move[state] {
	d = b.toy.Successors(d, s)
	if b.successors != nil && s == (state{2, 1}) {
		d = b.successors(d)
	}
	return d
}

func (b broken) Predecessors(d []state, s state) []state {
	d = b.toy.Predecessors(d, s)
	if b.predecessors != nil && s == (state{2, 1}) {
		d = b.predecessors(d)
	}
	return d
}

func (b broken) Terminal(s state) int {
	if b.terminal != nil {
		return b.terminal()
	}
	return b.toy.Terminal(s)
}

// recorder is a TB that keeps the failures.
type recorder struct{ log, failures []string }

func (*recorder) Helper() {}

func (r *recorder) Logf(format string, args ...any) {
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func TestCorrectSpacePasses(t *testing.T) {
	conformance.Run(t, toy{heaps: 6}, conformance.Options{})
	conformance.Run(t, toy{heaps: 6}, conformance.Options{Exhaustive: 1, Samples: 5})
	conformance.Run(t, broken{toy: toy{heaps: 6}}, conformance.Options{})
}

// add returns a function that lists one more move.
func add(m layers.Move[state]) func([]layers.Move[state]) []layers.Move[state] {
	return func(d []layers.Move[state]) []layers.Move[state] { return append(d, m) }
}

// addState returns a function that lists one more predecessor.
func addState(s state) func([]state) []state { return func(d []state) []state { return append(d, s) } }

func TestBrokenSpacesFail(t *testing.T) {
	calls := 0
	for _, c := range []struct {
		name  string
		space broken
		want  string // part of a failure
	}{
		{"no layers", broken{layers: func() int { return 0 }}, "at least 1 is needed"},
		{"two states with one rank", broken{rank: func(s state) (int, uint64) { return s.heap, uint64(s.dial / 2) }},
			"but was unranked from"},
		{"wrong layer", broken{rank: func(s state) (int, uint64) { return 0, uint64(s.dial) }},
			"but was unranked from"},
		{"climbing move", broken{successors: add(layers.Move[state]{To: state{3, 1}})}, "climbs from layer 2 to 3"},
		{"move out of the layers", broken{successors: add(layers.Move[state]{To: state{-1, 1}})}, "not a state of the space"},
		{"move to a state without a rank", broken{successors: add(layers.Move[state]{To: state{1, 3}})},
			"not a state of the space"},
		{"move to a state that shares a rank", broken{
			rank:       func(s state) (int, uint64) { return s.heap, uint64(s.dial % 3) },
			successors: add(layers.Move[state]{To: state{1, 4}}),
		}, "not a state of the space"},
		{"negative reward", broken{successors: add(layers.Move[state]{To: state{1, 1}, Reward: -1})}, "earns -1"},
		{"quiet reward", broken{successors: add(layers.Move[state]{To: state{2, 0}, Reward: 1})}, "earns 1"},
		{"missing predecessor", broken{successors: add(layers.Move[state]{To: state{2, 0}})}, "not among its predecessors"},
		{"repeated quiet move", broken{successors: add(layers.Move[state]{To: state{2, 2}})}, "{2 2} of {2 1} is listed twice"},
		{"missing quiet move", broken{predecessors: addState(state{2, 2})}, "has no quiet move to it"},
		{"predecessor in another layer", broken{predecessors: addState(state{3, 1})}, "not a state of layer 2"},
		{"predecessor without a rank", broken{predecessors: addState(state{2, 7})}, "not a state of layer 2"},
		{"repeated predecessor", broken{predecessors: addState(state{2, 0})}, "{2 0} of {2 1} is listed twice"},
		{"successors not appended", broken{successors: func(d []layers.Move[state]) []layers.Move[state] { return d[len(d)-1:] }},
			"appended to a list of one"},
		{"successors change", broken{successors: func(d []layers.Move[state]) []layers.Move[state] {
			calls++
			return append(d, layers.Move[state]{To: state{1, 0}, Reward: calls})
		}}, "at first, then"},
		{"predecessors not appended", broken{predecessors: func(d []state) []state { return d[len(d)-1:] }},
			"appended to a list of one"},
		{"terminal score too large", broken{terminal: func() int { return 128 }}, "does not fit"},
		{"terminal score too small", broken{terminal: func() int { return -128 }}, "does not fit"},
		{"terminal score changes", broken{terminal: func() int { calls++; return calls % 100 }}, "terminal state {0 0} scores"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.space.toy = toy{heaps: 4}
			var r recorder
			conformance.Run(&r, c.space, conformance.Options{})
			must.Not(t, len(r.failures) == 0, "the suite passes")
			should.Hold(t, slices.ContainsFunc(r.failures, func(f string) bool { return strings.Contains(f, c.want) }),
				"failures %q, want one with %q", r.failures, c.want)
		})
	}
}
