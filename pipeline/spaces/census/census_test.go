package census_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/memory"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/spaces/access"
	"grenier/pipeline/spaces/census"
)

func mustTable(t *testing.T, pits, seeds int) *census.Table {
	t.Helper()
	o := census.TableOptions{Pits: pits, Seeds: seeds, Rules: awari.Strict, Search: access.Options{Job: job.Job{Workers: 2}}}
	return must.Get(census.New(t.Context(), o))(t)
}

// TestDocumentTables compares whole tables with the document: every character of every cell, heading and rule. Shorter tables are the
// beginnings of longer ones.
func TestDocumentTables(t *testing.T) {
	eight, twelve := mustTable(t, 8, 24), mustTable(t, 12, 48)
	for _, c := range []struct {
		file    string
		table   *census.Table
		columns []census.Column
	}{
		{"8-pits.txt", eight, eight.Columns()},
		{"12-pits.txt", twelve, twelve.Columns()},
		{"cost.txt", twelve, []census.Column{census.Seeds, census.Cost}},
	} {
		var got strings.Builder
		must.OK(t, c.table.WriteRST(&got, c.columns...))
		must.Same(t, c.file, string(must.Read(t, filepath.Join("testdata", c.file))), got.String())
	}
	for short, long := range map[int]*census.Table{20: twelve, 10: mustTable(t, 6, 18), 5: mustTable(t, 4, 12)} {
		must.Same(t, "not the beginning", long.Rows[:short+1], mustTable(t, long.Pits, short).Rows)
	}
}

// TestLongAccessible: boards are counted where that is quick, none of them with more seeds than the game has.
func TestLongAccessible(t *testing.T) {
	for _, pits := range []int{6, 10, 12, 8}[:tries.More(3, 4)] {
		table, want := mustTable(t, pits, 6), pits <= 8
		counted := table.Rows[4].Accessible != nil && *table.Rows[4].Accessible > 0
		should.Hold(t, table.Accessible == want && counted == want && (table.Columns()[2].Head == census.Accessible.Head) == want,
			"%d pits: accessible boards said %v, counted %v, want %v", pits, table.Accessible, counted, want)
	}
	table := mustTable(t, 4, 14)
	should.Hold(t, table.MaxSeeds == 14 && *table.Rows[12].Accessible > 0 && *table.Rows[14].Accessible == 0,
		"14 seeds on 4 pits: MAX_SEEDS %d, %d boards accessible with 12 seeds and %d with 14; want 14, some, none",
		table.MaxSeeds, *table.Rows[12].Accessible, *table.Rows[14].Accessible)
}

func TestFormatBytes(t *testing.T) {
	for bytes, want := range map[float64]string{
		0: "0.0 B", 0.7018: "0.7 B", 903.3: "903.3 B", 1023.9: "1023.9 B", 1024: "1.0 KiB", 1 << 20: "1.0 MiB",
		1.5 * (1 << 30): "1.5 GiB", 1 << 40: "1.0 TiB", 3 << 50: "3072.0 TiB",
	} {
		should.Equal(t, census.FormatBytes(bytes), want, "FormatBytes(%v)", bytes)
	}
}

func plain(game awari.Game, space *awari.Space, n int) (m census.Moves) {
	before := map[awari.Board]int{}
	for _, b := range testrun.Boards(space, n, n) {
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
			space := testrun.Space(t, game, 6)
			for n := range space.Layers() {
				got := must.Get(census.CountMoves(t.Context(), game, n, 1+n%3))(t)
				should.Equal(t, got, plain(game, space, n), "%s, %d seeds", game.Name(), n)
			}
		}
	}
}

// TestLongCensus goes through layers as the command does: moves are counted at both ends alike, the accesses follow
// from the formula with these counts, and the known values hold.
func TestLongCensus(t *testing.T) {
	type point struct {
		pits  int
		rules awari.Rules
		seeds int
	}
	takes := map[point]uint64{{12, awari.Awari, 6}: 1820, {12, awari.Awari, 10}: 104_025, {12, awari.Awari, 16}: 6_679_688} // X/f 0.1471, 0.2949, 0.5123
	most := map[point]int{{12, awari.Awari, 13}: 13, {12, awari.Awari, 16}: 16, {8, awari.Strict, 24}: 21}
	for pits, top := range map[int]struct{ counted, analysed int }{
		8:  {tries.Pick(8, 18, 24), tries.Pick(7, 13, 24)},
		12: {tries.Pick(6, 11, 16), tries.Pick(5, 9, 16)},
	} {
		for _, rules := range awari.RuleSets() {
			game := testrun.Game(t, pits, rules)
			begin := func(analyse bool) *census.Census {
				return must.Get(census.Begin(game, top.counted, census.Options{Job: job.Job{Workers: 2}, Analyse: analyse}))(t)
			}
			counts, analyses := begin(false), begin(true)
			for n := range top.counted + 1 {
				l, err := counts.Next(t.Context())
				if err == nil && n <= top.analysed {
					l, err = analyses.Next(t.Context())
				}
				must.OK(t, err)
				checkLayer(t, game, n, &l)
				at := point{pits, rules, n}
				should.Not(t, takes[at] != 0 && l.X != takes[at], "%s, %d seeds: X is %d, want %d", game.Name(), n, l.X, takes[at])
				should.Not(t, most[at] != 0 && l.MostPredecessors != most[at], "%s, %d seeds: K is %d", game.Name(), n, l.MostPredecessors)
			}
		}
	}
}

func checkLayer(t *testing.T, game awari.Game, n int, l *census.Layer) {
	most := l.MostPredecessors
	should.Hold(t, l.Seeds == n && l.Quiet == l.Predecessors && l.MostMoves <= game.Half() && l.WithCapture <= l.Positions,
		"%s, %d seeds: %+v", game.Name(), n, l)
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

func TestRefused(t *testing.T) {
	of := func(ctx context.Context, pits, seeds int) error {
		return must.Err(census.New(ctx, census.TableOptions{Pits: pits, Seeds: seeds}))
	}
	game, one := testrun.Game(t, 12, awari.Awari), census.Options{Job: job.Job{Workers: 1}}
	full := errors.New("disk full")
	in, out := io.Pipe() // whose reader has gone
	must.OK(t, in.CloseWithError(full))
	for name, c := range map[string]struct{ err, want error }{
		"7 pits":   {of(t.Context(), 7, 10), awari.ErrPits},
		"-1 seeds": {of(t.Context(), 8, -1), awari.ErrSeeds}, "49 seeds": {of(t.Context(), 8, 49), awari.ErrSeeds},
		"cancelled":            {of(must.Ended(t), 8, 24), context.Canceled},
		"broken writer":        {mustTable(t, 12, 1).WriteRST(out, census.Seeds), full},
		"a census of 49 seeds": {must.Err(census.Begin(game, 49, census.Options{})), awari.ErrSeeds},
		"a census, cancelled":  {must.Err(must.Get(census.Begin(game, 3, one))(t).Next(must.Ended(t))), context.Canceled},
	} {
		should.Be(t, c.err, c.want, "%s", name)
	}
	c, err := census.Begin(game, 20, census.Options{Analyse: true, Job: job.Job{Memory: 2 << 20}})
	for err == nil {
		_, err = c.Next(t.Context())
	}
	must.As[*memory.Error](t, err, "2 MiB")
}
