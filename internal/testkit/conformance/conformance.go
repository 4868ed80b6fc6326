// Package conformance is the test suite that every layers.Space must pass. A
// game calls Run from one of its tests:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, space, conformance.Options{})
//	}
//
// Layers of moderate size are checked state by state, larger ones on a random
// sample whose seed is printed. For each state the suite checks that
//
//   - Unrank and Rank are inverse to each other, and therefore bijections;
//   - every move leads to a state of the space, in a layer no higher than its
//     own, and rewards are not negative, and zero for quiet moves;
//   - quiet successors and predecessors agree in both directions, and neither
//     list names a state twice;
//   - both lists are appended to the slice that the caller passed, and asking again
//     gives the same answer;
//   - the score of a state without moves fits a signed byte.
package conformance

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"grenier/layers"
)

// TB is the part of testing.TB that the suite uses. It is an interface of its
// own so that the suite itself can be tested on spaces that must fail.
type TB interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
}

// Options bounds the work. The zero value is a sensible default.
type Options struct {
	// Exhaustive is the largest layer that is checked state by state; 0
	// means 4096.
	Exhaustive uint64
	// Samples is the number of states checked in a larger layer; 0 means
	// 500.
	Samples int
}

// maxFailures is the number of failures that a run reports before it stops: a space that
// fails once usually fails everywhere.
const maxFailures = 20

// Run checks a space and reports the rules that it breaks.
func Run[S comparable](t TB, space layers.Space[S], opts Options) {
	t.Helper()
	opts.Exhaustive, opts.Samples = cmp.Or(opts.Exhaustive, 4096), cmp.Or(opts.Samples, 500)
	c := &checker[S]{t: t, space: space, opts: opts}
	if space.Layers() < 1 {
		c.failf("there are %d layers, at least 1 is needed", space.Layers())
		return
	}
	seed := rand.Uint64()
	t.Logf("%s: conformance seed %d", space.Name(), seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for layer := 0; layer < space.Layers() && c.failures < maxFailures; layer++ {
		c.layer(layer, random)
	}
}

// checker carries one run.
type checker[S comparable] struct {
	t        TB
	space    layers.Space[S]
	opts     Options
	failures int
}

// failf reports one failure, unless there were enough.
func (c *checker[S]) failf(format string, args ...any) {
	c.t.Helper()
	if c.failures++; c.failures > maxFailures {
		return
	}
	c.t.Errorf("%s: %s", c.space.Name(), fmt.Sprintf(format, args...))
}

// layer checks the states of one layer, all of them or a sample that includes
// the first and the last.
func (c *checker[S]) layer(layer int, random *rand.Rand) {
	c.t.Helper()
	size := c.space.Size(layer)
	if size <= c.opts.Exhaustive {
		for rank := uint64(0); rank < size && c.failures < maxFailures; rank++ {
			c.state(layer, rank)
		}
		return
	}
	c.state(layer, 0)
	c.state(layer, size-1)
	for i := 0; i < c.opts.Samples && c.failures < maxFailures; i++ {
		c.state(layer, random.Uint64N(size))
	}
}

// state checks the state with the given rank.
func (c *checker[S]) state(layer int, rank uint64) {
	c.t.Helper()
	s := c.space.Unrank(layer, rank)
	if gotLayer, got := c.space.Rank(s); gotLayer != layer || got != rank {
		c.failf("state %v has layer %d, rank %d, but was unranked from layer %d, rank %d", s, gotLayer, got, layer, rank)
		return
	}
	c.successors(layer, s)
	c.predecessors(layer, s)
}

// successors checks the moves from s.
func (c *checker[S]) successors(layer int, s S) {
	c.t.Helper()
	moves := c.space.Successors(nil, s)
	sentinel := layers.Move[S]{To: s, Reward: -1}
	again := c.space.Successors([]layers.Move[S]{sentinel}, s)
	if !slices.Equal(again, append([]layers.Move[S]{sentinel}, moves...)) {
		c.failf("successors of %v: %v at first, then %v appended to a list of one", s, moves, again)
		return
	}
	if len(moves) == 0 {
		c.terminal(s)
	}
	quiet := make(map[S]bool)
	for _, m := range moves {
		to, ok := c.move(layer, s, m)
		if !ok || to < layer {
			continue
		}
		if quiet[m.To] {
			c.failf("quiet successor %v of %v is listed twice", m.To, s)
		}
		quiet[m.To] = true
		if !slices.Contains(c.space.Predecessors(nil, m.To), s) {
			c.failf("%v has the quiet successor %v, but is not among its predecessors", s, m.To)
		}
	}
}

// move checks where one move leads and its reward; it returns the layer.
func (c *checker[S]) move(layer int, s S, m layers.Move[S]) (to int, ok bool) {
	c.t.Helper()
	to, ok = c.inSpace(m.To)
	switch {
	case !ok:
		c.failf("successor %v of %v is not a state of the space", m.To, s)
	case to > layer:
		c.failf("successor %v of %v climbs from layer %d to %d", m.To, s, layer, to)
	case m.Reward < 0:
		c.failf("successor %v of %v earns %d", m.To, s, m.Reward)
	case to == layer && m.Reward != 0:
		c.failf("quiet successor %v of %v earns %d", m.To, s, m.Reward)
	default:
		return to, true
	}
	return to, false
}

// inSpace reports whether s has a rank in range that leads back to it.
func (c *checker[S]) inSpace(s S) (layer int, ok bool) {
	layer, rank := c.space.Rank(s)
	if layer < 0 || layer >= c.space.Layers() || rank >= c.space.Size(layer) {
		return layer, false
	}
	return layer, c.space.Unrank(layer, rank) == s
}

// terminal checks the score of a state without moves.
func (c *checker[S]) terminal(s S) {
	c.t.Helper()
	score := c.space.Terminal(s)
	if score < -127 || score > 127 {
		c.failf("terminal state %v scores %d, which does not fit -127..127", s, score)
	}
	if again := c.space.Terminal(s); again != score {
		c.failf("terminal state %v scores %d, then %d", s, score, again)
	}
}

// predecessors checks the states that lead quietly to s.
func (c *checker[S]) predecessors(layer int, s S) {
	c.t.Helper()
	list := c.space.Predecessors(nil, s)
	if again := c.space.Predecessors([]S{s}, s); !slices.Equal(again, append([]S{s}, list...)) {
		c.failf("predecessors of %v: %v at first, then %v appended to a list of one", s, list, again)
		return
	}
	seen := make(map[S]bool)
	for _, p := range list {
		if seen[p] {
			c.failf("predecessor %v of %v is listed twice", p, s)
		}
		seen[p] = true
		if from, ok := c.inSpace(p); !ok || from != layer {
			c.failf("predecessor %v of %v is not a state of layer %d", p, s, layer)
			continue
		}
		if !c.leadsTo(p, s) {
			c.failf("%v is a predecessor of %v, but has no quiet move to it", p, s)
		}
	}
}

// leadsTo reports whether a move of p leads to s.
func (c *checker[S]) leadsTo(p, s S) bool {
	return slices.ContainsFunc(c.space.Successors(nil, p), func(m layers.Move[S]) bool { return m.To == s })
}
