package census_test

import (
	"context"
	"errors"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/memory"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/spaces/census"
)

// plain counts moves on boards one by one.
func plain(game awari.Game, space *awari.Space, n int) (m census.Moves) {
	before := map[awari.Board]int{}
	for rank := range space.Size(n) {
		b := space.Unrank(n, rank)
		moves := space.Successors(nil, b)
		m.MostMoves = max(m.MostMoves, len(moves))
		takes, ends := uint64(0), len(moves) > 0
		for _, move := range moves {
			ends = ends && move.To.Seeds() == 0
			if move.Reward > 0 {
				takes++
				continue
			}
			m.Quiet++
			before[move.To]++
			m.MostPredecessors = max(m.MostPredecessors, before[move.To])
		}
		if takes > 0 {
			m.WithCapture++
		}
		if ends {
			m.TakesAll += short(game, b)
			takes -= short(game, b)
		}
		m.Captures += takes
	}
	m.Predecessors = m.Quiet
	return m
}

// short returns the number of moves that do not reach the opponent, if he has no seeds.
func short(game awari.Game, b awari.Board) (moves uint64) {
	for pit, seeds := range b[:game.Pits()] {
		switch {
		case pit >= game.Half() && seeds > 0:
			return 0
		case pit < game.Half() && seeds > 0 && int(seeds) < game.Half()-pit:
			moves++
		}
	}
	return moves
}

// TestCountMoves compares with a plain count, by any number of workers.
func TestCountMoves(t *testing.T) {
	for _, pits := range []int{4, 6, 8, 12} {
		for _, rules := range awari.RuleSets() {
			game := testrun.Game(t, pits, rules)
			space := testrun.Space(t, game, 7)
			for n := range space.Layers() {
				got, err := census.CountMoves(t.Context(), game, n, 1+n%3)
				if want := plain(game, space, n); got != want || err != nil {
					t.Errorf("%s, %d seeds: %+v, %v, want %+v", game.Name(), n, got, err, want)
				}
			}
		}
	}
}

// largest is the number of seeds that the next test goes to.
func largest(pits int) int {
	if pits == 8 {
		return tries.Pick(10, 18, 24)
	}
	return tries.Pick(8, 11, 16)
}

// analysed is the number of seeds up to which it also analyses layers: all if there is much time.
func analysed(pits int) int {
	long := 9
	if pits == 8 {
		long = 13
	}
	return tries.Pick(largest(pits)-1, long, largest(pits))
}

// TestLongCensus goes through layers as the command does: moves are counted at both ends alike,
// the accesses follow from the formula with these counts, and the known values
// hold.
func TestLongCensus(t *testing.T) {
	type point struct {
		pits  int
		rules awari.Rules
		seeds int
	}
	takes := map[point]uint64{{12, awari.Awari, 6}: 1820, {12, awari.Awari, 10}: 104_025, {12, awari.Awari, 16}: 6_679_688} // X/f 0.1471, 0.2949, 0.5123
	most := map[point]int{{12, awari.Awari, 13}: 13, {12, awari.Awari, 16}: 16, {8, awari.Strict, 24}: 21}
	for _, pits := range []int{8, 12} {
		for _, rules := range awari.RuleSets() {
			game := testrun.Game(t, pits, rules)
			begin := func(analyse bool) *census.Census {
				return must.Get(census.Begin(game, largest(pits), census.Options{Job: job.Job{Workers: 2}, Analyse: analyse}))(t)
			}
			counts, analyses := begin(false), begin(true)
			for n := range largest(pits) + 1 {
				l, err := counts.Next(t.Context())
				if err == nil && n <= analysed(pits) {
					l, err = analyses.Next(t.Context())
				}
				must.OK(t, err)
				checkLayer(t, game, n, &l)
				at := point{pits, rules, n}
				if want := takes[at]; want != 0 && l.X != want {
					t.Errorf("%s, %d seeds: X is %d, want %d", game.Name(), n, l.X, want)
				}
				if want := most[at]; want != 0 && l.MostPredecessors != want {
					t.Errorf("%s, %d seeds: K is %d, want %d", game.Name(), n, l.MostPredecessors, want)
				}
			}
		}
	}
}

func checkLayer(t *testing.T, game awari.Game, n int, l *census.Layer) {
	should.Hold(t, l.Seeds == n && l.Quiet == l.Predecessors && l.MostMoves <= game.Half() && l.WithCapture <= l.Positions,
		"%s, %d seeds: %+v", game.Name(), n, l)
	most := l.MostPredecessors
	should.Not(t, most > n || n <= game.Pits()+game.Half()-2 && most < n, "%s, %d seeds: K is %d", game.Name(), n, most) // docs/census.md
	should.Not(t, game.Rules() == awari.Strict && l.TakesAll != 0, "%s, %d seeds: %d moves take all", game.Name(), n, l.TakesAll)
	a := l.Analysis
	if a == nil {
		return
	}
	steps := uint64(n + 1)
	should.Hold(t, a.Accesses.Init == l.Positions && a.Accesses.Lower == l.X && a.Accesses.Steps == steps*l.Positions && a.Accesses.Propagated <= l.Quiet,
		"%s, %d seeds: accesses %+v, moves %+v", game.Name(), n, a.Accesses, l.Moves)
	should.Not(t, a.Endless == 0 && a.Accesses.Propagated != l.Quiet,
		"%s, %d seeds: all boards are stable, but %d of %d quiet moves were propagated", game.Name(), n, a.Accesses.Propagated, l.Quiet)
	should.Not(t, a.Endless > 0 && n == 0 || a.Deepest < 0, "%s, %d seeds: %+v", game.Name(), n, a)
}

func TestCensusErrors(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	_, err := census.Begin(game, 49, census.Options{})
	should.Hold(t, errors.Is(err, awari.ErrSeeds), "49 seeds: %v, want ErrSeeds", err)
	ctx := must.Ended(t)
	c, err := census.Begin(game, 3, census.Options{Job: job.Job{Workers: 1}})
	must.OK(t, err)
	should.Be(t, must.Err(c.Next(ctx)), context.Canceled, "cancelled")
	c, err = census.Begin(game, 20, census.Options{Analyse: true, Job: job.Job{Memory: 20 << 20}})
	must.OK(t, err)
	for err == nil {
		_, err = c.Next(t.Context())
	}
	_, ok := errors.AsType[*memory.Error](err)
	should.Hold(t, ok, "20 MiB: %v, want a memory.Error", err)
}
