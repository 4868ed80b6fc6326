package halfboard

import (
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/kernels/compress"
)

// forget makes the next sweep recompute everything.
func (e *engine) forget() {
	for _, x := range e.order {
		x.computed = 0
	}
}

// sweep makes one sweep and returns the number of scores that it changed.
func (e *engine) sweep(t *testing.T) uint64 {
	t.Helper()
	changed, err := e.runSweep(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// sweepToTheEnd sweeps until nothing changes and returns the number of sweeps.
func (e *engine) sweepToTheEnd(t *testing.T) int {
	t.Helper()
	for sweeps := 1; ; sweeps++ {
		if e.sweep(t) == 0 {
			return sweeps
		}
	}
}

// state returns a copy of all scores of open rows, tile by tile.
func (e *engine) state() [][]int8 {
	state := make([][]int8, len(e.order))
	for i, x := range e.order {
		state[i] = slices.Clone(x.current.scores)
	}
	return state
}

// TestSweepsEndAtTheFixpoint: tiles and columns that sweeps left alone, because
// nothing that they read had changed, would not have changed.
func TestSweepsEndAtTheFixpoint(t *testing.T) {
	rng := newRand(t)
	for range runs(60) {
		c := randomConfig(t, rng)
		w := c.prepare(t)
		w.sweepToTheEnd(t)
		kernels := w.kernels
		w.kernels.least = func([]compress.Column, []compress.Pick, []int8) {
			t.Errorf("%+v: a sweep after the last one computes a column", c)
		}
		w.kernels.countDiff = func(_, _ []int8) int {
			t.Errorf("%+v: a sweep after the last one computes a tile", c)
			return 0
		}
		if changed := w.sweep(t); changed != 0 {
			t.Fatalf("%+v: a sweep after the last one changes %d scores", c, changed)
		}
		w.kernels = kernels
		w.forget()
		if changed := w.sweep(t); changed != 0 {
			t.Fatalf("%+v: a sweep over everything changes %d scores after the last one", c, changed)
		}
		if !slices.Equal(w.read(t), oracle(t, c.game, c.seeds)[c.seeds]) {
			t.Fatalf("%+v: not the scores of the oracle", c)
		}
	}
}

// TestStaleColumnsAreAllThatChange compares each sweep of one worker with one
// that recomputes everything.
func TestStaleColumnsAreAllThatChange(t *testing.T) {
	rng := newRand(t)
	for range runs(30) {
		c := randomConfig(t, rng)
		c.options.Workers = 1
		some, all := c.prepare(t), c.prepare(t)
		for sweep := 1; ; sweep++ {
			changed := some.sweep(t)
			all.forget()
			if want := all.sweep(t); changed != want {
				t.Fatalf("%+v: sweep %d changes %d scores instead of %d", c, sweep, changed, want)
			}
			if changed == 0 {
				break
			}
		}
		for i, scores := range some.state() {
			if !slices.Equal(scores, all.order[i].current.scores) {
				t.Fatalf("%+v: other scores in tile %d", c, i)
			}
		}
	}
}

// ages returns the states of a layer after each sweep, the first one all 0.
func (c config) ages(t *testing.T) [][][]int8 {
	t.Helper()
	w := c.prepare(t)
	states := [][][]int8{w.state()}
	for w.sweep(t) > 0 {
		states = append(states, w.state())
	}
	return states
}

// mix overwrites the scores with those of random ages: each tile of one age, or
// each score.
func (e *engine) mix(rng *rand.Rand, ages [][][]int8, byTile bool) {
	for i, x := range e.order {
		age := ages[rng.IntN(len(ages))]
		for k := range x.current.scores {
			if !byTile {
				age = ages[rng.IntN(len(ages))]
			}
			x.current.scores[k] = age[i][k]
		}
	}
}

// TestAnyMixtureEndsTheSame resumes sweeps from tiles of different ages, as
// after a crash (DESIGN fact 4).
func TestAnyMixtureEndsTheSame(t *testing.T) {
	rng := newRand(t)
	for range runs(40) {
		c := randomConfig(t, rng)
		ages := c.ages(t)
		for _, byTile := range []bool{true, false} {
			w := c.prepare(t)
			w.mix(rng, ages, byTile)
			w.sweepToTheEnd(t)
			if !slices.Equal(w.read(t), oracle(t, c.game, c.seeds)[c.seeds]) {
				t.Fatalf("%+v, by tile %v: a mixture of %d ages ends elsewhere", c, byTile, len(ages))
			}
		}
	}
}

// TestScoresMoveAwayFromZero: what makes mixtures safe is that no score ever
// overshoots or changes its sign.
func TestScoresMoveAwayFromZero(t *testing.T) {
	rng := newRand(t)
	for range runs(30) {
		c := randomConfig(t, rng)
		ages := c.ages(t)
		for i := range ages[1:] {
			for k, scores := range ages[i] {
				for at, before := range scores {
					after := ages[i+1][k][at]
					if before > 0 && after < before || before < 0 && after > before {
						t.Fatalf("%+v: sweep %d takes a score from %d to %d", c, i+1, before, after)
					}
				}
			}
		}
	}
}
