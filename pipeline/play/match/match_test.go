package match_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
	"grenier/pipeline/play/match"
	"grenier/pipeline/play/search"
	"grenier/pipeline/tables"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func player(t testing.TB, tab *tables.Tables, level int, limits search.Limits) *match.Player {
	e := search.New(search.NewBlocks(tab, 1<<20), search.Options{Bytes: 1 << 20})
	return must.Get(match.NewPlayer(tab, e, limits, level, rand.New(rand.NewPCG(1, uint64(level)))))(t)
}

// TestLongSelfPlay lets two perfect players play from random solved positions: games
// end with the stored score, or in a repetition where what is left is worth 0.
func TestLongSelfPlay(t *testing.T) {
	games, seeds := tries.Pick(12, 200, 1000), tries.Pick(6, 10, 14)
	for _, r := range awari.RuleSets() {
		t.Run(r.String(), func(t *testing.T) {
			tab := tabletest.Solved(t, testrun.Game(t, 12, r), seeds)
			space := testrun.Space(t, tab.Game(), seeds)
			random := rand.New(rand.NewPCG(7, uint64(r)))
			p := player(t, tab, match.Perfect, search.Limits{Depth: 6})
			ends := map[match.State]int{}
			for range games {
				n := 1 + random.IntN(seeds)
				b := space.Unrank(n, random.Uint64N(space.Size(n)))
				m := match.New(tab.Game(), b)
				want := must.Get(tab.Score(t.Context(), b))(t)
				for m.State() == match.Playing {
					pit, a, err := p.Choose(t.Context(), m.Board())
					must.Hold(t, err == nil && a.Stuck == nil, "%v, %v", err, a.Stuck)
					if !m.Repeated() {
						must.OK(t, must.Err(m.Play(pit)))
						continue
					}
					must.Hold(t, a.Solved && a.Lower == 0 && a.Upper == 0 && a.AcceptsDraw(true) && a.AcceptsDraw(false), "board %v, %+v", m.Board(), a)
					must.OK(t, m.Draw())
				}
				should.Equal(t, m.Score(), int(want), "board %s", space.Text(b))
				ends[m.State()]++
			}
			t.Logf("%d games: %d to the end, %d repetitions", games, ends[match.Finished], ends[match.Drawn])
		})
	}
}

// TestLevels lets players of all levels play against a perfect one, who never does worse than the score, from both sides.
func TestLevels(t *testing.T) {
	tab := tabletest.Solved(t, testrun.Game(t, 8, awari.Awari), 8)
	space := testrun.Space(t, tab.Game(), 8)
	random := rand.New(rand.NewPCG(3, 3))
	perfect := player(t, tab, match.Perfect, search.Limits{Depth: 6})
	given := map[int]int{}
	for level := 0; level <= match.Perfect; level += 2 {
		weak := player(t, tab, level, search.Limits{Depth: 6})
		for range 40 {
			b := space.Unrank(8, random.Uint64N(space.Size(8)))
			score := must.Get(tab.Score(t.Context(), b))(t)
			m := match.New(tab.Game(), b)
			for moves := 0; m.State() == match.Playing && moves < 300; moves++ {
				if m.Repeated() {
					must.OK(t, m.Draw())
					break
				}
				p := []*match.Player{perfect, weak}[m.Turn()]
				pit, _, err := p.Choose(t.Context(), m.Board())
				must.OK(t, err)
				must.OK(t, must.Err(m.Play(pit)))
			}
			given[level] += m.Score() - int(score)
			should.Not(t, level == match.Perfect && m.Score() != int(score), "board %s: %d, want %d", space.Text(b), m.Score(), score)
		}
	}
	should.Hold(t, given[0] > given[match.Perfect] && given[match.Perfect] == 0 && given[0] > given[8], "seeds given away by level: %v", given)
	for _, level := range []int{-1, match.Perfect + 1} {
		should.Be(t, must.Err(match.NewPlayer(nil, nil, search.Limits{}, level, nil)), match.ErrLevel, "level %d", level)
	}
}

func TestRecord(t *testing.T) {
	game := testrun.Game(t, 8, awari.Awari)
	m := match.New(game, awari.Board{0, 0, 0, 4, 1, 3, 1, 2})
	for _, pit := range []int{-1, 4, 0} {
		should.Be(t, must.Err(m.Play(pit)), match.ErrIllegal, "pit %d", pit)
	}
	should.Be(t, m.Undo(), match.ErrStart, "undo at the start")
	should.Be(t, m.Draw(), match.ErrNoRepetition, "draw at the start")
	captured, err := m.Play(3)
	must.Hold(t, err == nil && captured == 5 && m.Turn() == match.North && m.Taken() == [2]int{5, 0} && m.Score() == 5,
		"captured %d, %v; %v to move, %v", captured, err, m.Turn(), m.Taken())
	must.OK(t, m.Undo())
	should.Hold(t, m.Turn() == match.South && m.Taken() == [2]int{} && len(m.Pits()) == 0, "undone: %v", m.Taken())
}

// TestEnd plays a last move: the opponent of who cannot move keeps the rest.
func TestEnd(t *testing.T) {
	m := match.New(testrun.Game(t, 4, awari.Awari), awari.Board{0, 1, 1, 0})
	captured, err := m.Play(1)
	should.Hold(t, err == nil && captured == 2 && m.State() == match.Finished && m.Taken() == [2]int{2, 0}, "%d, %v, %v", captured, err, m.Taken())
	should.Be(t, must.Err(m.Play(0)), match.ErrOver, "a move after the end")
	m = match.New(testrun.Game(t, 4, awari.Awari), awari.Board{0, 0, 3, 1})
	should.Hold(t, m.State() == match.Finished && m.Taken() == [2]int{0, 4} && m.Score() == -4, "no move at all: %v", m.Taken())
	m = match.New(testrun.Game(t, 4, awari.Strict), awari.Board{0, 1, 1, 0})
	_, err = m.Play(1)
	should.Hold(t, errors.Is(err, match.ErrOver) && m.Taken() == [2]int{0, 2}, "only an illegal grand slam: %v, %v", err, m.Taken())
}

// TestRepetition goes round in a circle with one seed each.
func TestRepetition(t *testing.T) {
	m := match.New(testrun.Game(t, 4, awari.Awari), awari.Board{1, 0, 1, 0})
	for _, pit := range []int{0, 0, 1, 1} {
		err := m.Draw()
		must.Not(t, !errors.Is(err, match.ErrNoRepetition) || m.Repeated(), "draw after pits %v: %v", m.Pits(), err)
		captured, err := m.Play(pit)
		must.Hold(t, captured == 0 && err == nil, "pits %v: captured %d, %v", m.Pits(), captured, err)
	}
	must.Hold(t, m.Repeated(), "no repetition after pits %v", m.Pits())
	must.OK(t, m.Draw())
	should.Hold(t, m.State() == match.Drawn && m.Score() == 0 && m.Taken() == [2]int{}, "agreed: %v", m.Taken())
	must.OK(t, m.Undo())
	should.Hold(t, m.State() == match.Playing && m.Repeated(), "taken back")
}

// TestAbove plays from above the tables with a time limit, and stops.
func TestAbove(t *testing.T) {
	tab := tabletest.Solved(t, testrun.Game(t, 12, awari.Awari), 6)
	start := must.Get(tab.Game().Start(4))(t)
	p := player(t, tab, 9, search.Limits{Time: 30 * time.Millisecond})
	pit, a, err := p.Choose(t.Context(), start)
	should.Not(t, err != nil || pit < 0 || a.Solved, "pit %d, %+v, %v", pit, a, err)
	should.Be(t, must.Err(p.Choose(must.Ended(t), start)), context.Canceled, "cancelled")
}
