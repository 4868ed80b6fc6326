package halfboard

import (
	"context"
	"errors"
	"slices"
	"testing"

	"grenier/layers/awari"
)

// settleAll recomputes every position once and leaves the rest to settle. It
// returns the number of changes.
func (e *engine) settleAll(t *testing.T) int {
	t.Helper()
	var all []position
	e.eachOpen(func(p position) { all = append(all, p) })
	changes, err := e.settle(t.Context(), e.apply(nil, e.recompute(nil, all)))
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

// TestSettleNeedsNoSweep solves layers by the sparse phase alone, from zeros,
// from the states after a few sweeps and from mixtures of them.
func TestSettleNeedsNoSweep(t *testing.T) {
	rng := newRand(t)
	for range runs(40) {
		c := randomConfig(t, rng)
		want := oracle(t, c.game, c.seeds)[c.seeds]
		ages := c.ages(t)
		for _, start := range []string{"zeros", "sweeps", "mixture"} {
			w := c.prepare(t)
			switch start {
			case "sweeps":
				for range rng.IntN(4) {
					w.sweep(t)
				}
			case "mixture":
				w.mix(rng, ages, false)
			}
			changes := w.settleAll(t)
			if !slices.Equal(w.read(t), want) {
				t.Fatalf("%+v: %d changes from %s on end elsewhere", c, changes, start)
			}
			if changes := w.settleAll(t); changes != 0 {
				t.Fatalf("%+v: %d changes after the fixpoint", c, changes)
			}
		}
	}
}

// TestSweepsHandOverToSettle notes the changes of a sweep and passes them on,
// as the engine does when little is left, but at any time.
func TestSweepsHandOverToSettle(t *testing.T) {
	rng := newRand(t)
	for range runs(60) {
		c := randomConfig(t, rng)
		w := c.prepare(t)
		w.sweep(t) // a position must have been computed once
		for range rng.IntN(5) {
			w.sweep(t)
		}
		if err := w.finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(w.read(t), oracle(t, c.game, c.seeds)[c.seeds]) {
			t.Fatalf("%+v: %d sweeps and %d events end elsewhere", c, w.stats.Sweeps, w.stats.Events)
		}
	}
}

// randomScores gives every position of an open row any score.
func (e *engine) randomScores(next func() int8) {
	for _, x := range e.order {
		for i := range x.current.scores {
			x.current.scores[i] = next()
		}
	}
}

// TestRecomputeFollowsTheRules plays every move of positions with any scores.
func TestRecomputeFollowsTheRules(t *testing.T) {
	rng := newRand(t)
	for range runs(25) {
		c := randomConfig(t, rng)
		w, layers := c.prepare(t), c.lower(t).layers
		space, err := awari.NewSpace(c.game, c.seeds)
		if err != nil {
			t.Fatal(err)
		}
		w.randomScores(func() int8 { return int8(rng.IntN(2*c.seeds+1) - c.seeds) })
		w.eachOpen(func(p position) {
			board := w.grid.board(p.mover, p.opponent)
			want := w.byRules(space, layers, board)
			updates := w.recompute(nil, []position{p})
			got := *w.grid.score(p)
			if len(updates) == 1 && updates[0].position == p && updates[0].score != got {
				got = updates[0].score
			} else if len(updates) != 0 {
				t.Fatalf("%+v: updates %+v of %v", c, updates, board)
			}
			if int(got) != want {
				t.Fatalf("%+v: %v becomes %d, want %d", c, board, got, want)
			}
		})
	}
}

// byRules returns the score of a board, given those of its successors.
func (e *engine) byRules(space *awari.Space, layers [][]int8, board awari.Board) int {
	score, ok := offerByRules(e.game, space, layers, board)
	if !ok {
		score = -100
	}
	for _, p := range e.game.Plays(board) {
		if p.Legal && p.Captured == 0 {
			score = max(score, -int(*e.grid.score(e.position(p.Child))))
		}
	}
	return score
}

// position returns the codes of the halves of board.
func (e *engine) position(board awari.Board) position {
	var a, b half
	copy(a[:], board[:e.grid.q])
	copy(b[:], board[e.grid.q:e.game.Pits()])
	return position{e.grid.code(&a), e.grid.code(&b)}
}

// TestAffectedArePredecessors compares, for any scores, with the predecessors
// that the rules give.
func TestAffectedArePredecessors(t *testing.T) {
	rng := newRand(t)
	for range runs(40) {
		c := randomConfig(t, rng)
		w := c.prepare(t)
		w.randomScores(func() int8 { return int8(rng.IntN(7) - 3) })
		w.eachOpen(func(p position) {
			if rng.IntN(10) > 0 {
				return
			}
			changed := change{p, int8(rng.IntN(7) - 3)}
			got, want := w.affected(nil, []change{changed}), w.affectedByRules(changed)
			sortPositions(got)
			sortPositions(want)
			if !slices.Equal(got, want) {
				t.Fatalf("%+v: %+v affects %v, want %v", c, changed, got, want)
			}
		})
	}
}

// affectedByRules returns the predecessors of c in open rows that gain by the
// change, or that may lose by it.
func (e *engine) affectedByRules(c change) []position {
	var affected []position
	is := *e.grid.score(c.position)
	for _, board := range e.game.Predecessors(nil, e.grid.board(c.mover, c.opponent)) {
		p := e.position(board)
		if e.grid.places[p.opponent].class != openRows {
			continue
		}
		score := *e.grid.score(p)
		gains, loses := -is > score && is < c.old, score == -c.old && is > c.old
		if gains || loses {
			affected = append(affected, p)
		}
	}
	return affected
}

func sortPositions(p []position) {
	slices.SortFunc(p, func(a, b position) int {
		return slices.Compare([]uint32{a.mover, a.opponent}, []uint32{b.mover, b.opponent})
	})
}

func TestApplySkipsRepeatedUpdates(t *testing.T) {
	w := config{game: mustGame(t, 4, awari.Awari), seeds: 3}.prepare(t)
	var p []position
	w.eachOpen(func(q position) { p = append(p, q) })
	changes := w.apply(nil, []update{{p[0], 2}, {p[1], -1}, {p[0], 2}, {p[2], 0}})
	if want := []change{{p[0], 0}, {p[1], 0}}; !slices.Equal(changes, want) {
		t.Errorf("changes %v, want %v", changes, want)
	}
	if *w.grid.score(p[0]) != 2 || *w.grid.score(p[1]) != -1 {
		t.Error("the updates are not written")
	}
}

func TestSettleStopsWithTheContext(t *testing.T) {
	w := config{game: mustGame(t, 4, awari.Awari), seeds: 8}.prepare(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var first []change
	w.eachOpen(func(p position) { first = append(first, change{p, 0}) })
	if _, err := w.settle(ctx, first); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
