package census_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	return must.Get(census.New(t.Context(), census.TableOptions{Pits: pits, Seeds: seeds, Rules: awari.Strict}))(t)
}

// The tables of the document, computed once.
var (
	eight  = tableOnce(8, 24)
	twelve = tableOnce(12, 48)
)

func tableOnce(pits, seeds int) func() (*census.Table, error) {
	return sync.OnceValues(func() (*census.Table, error) {
		return census.New(context.Background(), census.TableOptions{Pits: pits, Seeds: seeds, Rules: awari.Strict, Search: access.Options{Job: job.Job{Workers: 2}}})
	})
}

// document returns a table of document 001 as it is printed there.
func document(t *testing.T, name string) string {
	t.Helper()
	return string(must.Read(t, filepath.Join("testdata", name)))
}

// TestDocumentTables compares whole tables with the document: every character of every cell, heading and rule.
func TestDocumentTables(t *testing.T) {
	twelve := must.Get(twelve())(t)
	for _, c := range []struct {
		file    string
		table   *census.Table
		columns []census.Column
	}{
		{"8-pits.txt", must.Get(eight())(t), must.Get(eight())(t).Columns()},
		{"12-pits.txt", twelve, twelve.Columns()},
		{"cost.txt", twelve, []census.Column{census.Seeds, census.Cost}},
	} {
		var got strings.Builder
		must.OK(t, c.table.WriteRST(&got, c.columns...))
		must.Same(t, c.file, document(t, c.file), got.String())
	}
}

// TestDocumentCells reads the cells of the document and compares them one by one, so that nothing rests on how tables are set.
func TestDocumentCells(t *testing.T) {
	for file, table := range map[string]*census.Table{
		"8-pits.txt":  must.Get(eight())(t),
		"12-pits.txt": must.Get(twelve())(t),
	} {
		lines := strings.Split(document(t, file), "\n")
		cells := 0
		for n, row := range table.Rows {
			line := lines[3+n]
			for _, column := range table.Columns() {
				want, rest := nextCell(line)
				should.Equal(t, column.Cell(&row), want, "%s: n = %d, %s", file, n, column.Head)
				line = rest
				cells++
			}
			should.Hold(t, strings.TrimSpace(line) == "", "%s: n = %d: %q is left of the document's line", file, n, line)
		}
		if want := len(table.Rows) * len(table.Columns()); cells != want || len(lines) != len(table.Rows)+5 {
			t.Errorf("%s: %d cells compared of %d, %d lines", file, cells, want, len(lines))
		}
	}
}

// nextCell cuts a number, with its unit if it has one, off a line.
func nextCell(line string) (cell, rest string) {
	line = strings.TrimLeft(line, " ")
	cell, rest, _ = strings.Cut(line, " ")
	unit, after, _ := strings.Cut(rest, " ")
	if strings.HasSuffix(unit, "B") {
		return cell + " " + unit, after
	}
	return cell, rest
}

func TestShorterTablesArePrefixes(t *testing.T) {
	for _, c := range []struct{ pits, long, short int }{{6, 18, 10}, {12, 48, 20}, {4, 12, 5}} {
		long, short := mustTable(t, c.pits, c.long), mustTable(t, c.pits, c.short)
		should.Hold(t, len(short.Rows) == c.short+1 && cmp.Equal(short.Rows, long.Rows[:c.short+1]),
			"%d pits: the table to %d seeds is no prefix of that to %d", c.pits, c.short, c.long)
	}
}

func TestMoreSeedsThanTheGame(t *testing.T) {
	table := mustTable(t, 4, 14)
	if table.MaxSeeds != 14 || *table.Rows[12].Accessible == 0 || *table.Rows[14].Accessible != 0 {
		t.Errorf("14 seeds on 4 pits: MAX_SEEDS %d, %d boards accessible with 12 seeds and %d with 14; want 14, some, none",
			table.MaxSeeds, *table.Rows[12].Accessible, *table.Rows[14].Accessible)
	}
}

func TestAccessible(t *testing.T) {
	for pits, want := range map[int]bool{6: true, 8: true, 10: false, 12: false} {
		table := mustTable(t, pits, 6)
		counted := table.Rows[4].Accessible != nil && *table.Rows[4].Accessible > 0
		should.Hold(t, table.Accessible == want && counted == want && (table.Columns()[2].Head == census.Accessible.Head) == want,
			"%d pits: accessible boards said %v, counted %v, want %v", pits, table.Accessible, counted, want)
	}
}

func TestFormatBytes(t *testing.T) {
	for bytes, want := range map[float64]string{
		0: "0.0 B", 0.7018: "0.7 B", 903.3: "903.3 B", 1023.9: "1023.9 B", 1024: "1.0 KiB", 1 << 20: "1.0 MiB",
		1.5 * (1 << 30): "1.5 GiB", 1 << 40: "1.0 TiB", 3 << 50: "3072.0 TiB",
	} {
		should.Equal(t, census.FormatBytes(bytes), want, "FormatBytes(%v)", bytes)
	}
}

func TestErrors(t *testing.T) {
	_, err := census.New(t.Context(), census.TableOptions{Pits: 7, Seeds: 10})
	should.Hold(t, errors.Is(err, awari.ErrPits), "7 pits: %v, want ErrPits", err)
	for _, seeds := range []int{-1, 49} {
		_, err := census.New(t.Context(), census.TableOptions{Pits: 8, Seeds: seeds})
		should.Hold(t, errors.Is(err, awari.ErrSeeds), "%d seeds: %v, want ErrSeeds", seeds, err)
	}
	should.Be(t, must.Err(census.New(must.Ended(t), census.TableOptions{Pits: 8, Seeds: 24})), context.Canceled, "cancelled")
	err = mustTable(t, 12, 1).WriteRST(brokenWriter{}, census.Seeds)
	should.Hold(t, errors.Is(err, errWrite), "broken writer: %v, want its error", err)
}

var errWrite = errors.New("disk full")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errWrite }

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
