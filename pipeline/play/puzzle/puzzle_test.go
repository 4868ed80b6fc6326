package puzzle

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
	"grenier/pipeline/play/find"
	"grenier/pipeline/tables"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func draw(t testing.TB, tab *tables.Tables, o Options) []Puzzle {
	t.Helper()
	return must.Get(Draw(t.Context(), tab, o))(t)
}

// TestLongPuzzles draws puzzles and plays them by probe: one move wins first and no other draws, every move of the solver is the only one
// that still wins, every answer the only best one. Another player solves them too, who looks three plies ahead by plain minimax and
// misjudges each move a little: he fails the more often the higher the rating is.
func TestLongPuzzles(t *testing.T) {
	seeds := tries.More(10, 16)
	tab, random := tabletest.Solved(t, testrun.Game(t, 12, awari.Awari), seeds), tries.Rand(t)
	puzzles := draw(t, tab, Options{From: 5, To: seeds, Most: 100, Count: 100, Seed: random.Uint64()})
	must.Equal(t, len(puzzles), 100, "puzzles")
	longest, agree, differ := 0, 0, 0
	failures := make([]int, len(puzzles))
	for i, z := range puzzles {
		wantPuzzle(t, tab, &z)
		longest = max(longest, len(z.Line))
		for range tries.More(60, 200) {
			if !solves(tab.Game(), &z, random) {
				failures[i]++
			}
		}
		for j, other := range puzzles[:i] { // pairs of puzzles
			switch cmp.Compare(z.Rating, other.Rating) * cmp.Compare(failures[i], failures[j]) {
			case 1:
				agree++
			case -1:
				differ++
			}
		}
	}
	should.Not(t, longest < 5, "no line has more than %d plies", longest)
	t.Logf("ratings agree for %d pairs, and do not for %d", agree, differ)
	should.Not(t, agree < 3*differ, "ratings agree for %d pairs, and do not for %d", agree, differ)
}

func wantPuzzle(t *testing.T, tab *tables.Tables, z *Puzzle) {
	b, lead := z.Board, 0
	for i, pit := range z.Line {
		p := must.Get(tab.Probe(t.Context(), b))(t)
		side := 1 - 2*(i%2) // 1 for the solver
		winning, best, drawing, legal := 0, 0, 0, 0
		for _, m := range p.Moves {
			if !m.Legal {
				continue
			}
			legal++
			switch total := lead + m.Value; {
			case total > 0:
				winning++
			case total == 0:
				drawing++
			}
			if m.Value == p.Value {
				best++
			}
		}
		m := p.Moves[pit]
		should.Not(t, !m.Legal || m.Value != p.Value || best != 1, "%+v: ply %d is no best move, or one of %d", z, i, best)
		should.Not(t, side > 0 && winning != 1, "%+v: ply %d: %d moves win", z, i, winning)
		if i == 0 {
			should.Not(t, drawing > 0 || legal < 3 || p.Value != z.Value || z.Value < 1, "%+v: %d moves, %d draw, worth %d", z, legal, drawing, p.Value)
		}
		should.Not(t, i == len(z.Line)-1 && (legal < 2 || side < 0), "%+v: the line does not end with a decision", z)
		lead += m.Captured
		b, lead = m.Child, -lead // of who moves next
	}
	should.Not(t, len(z.Line) < 3 || len(z.Line) > 9, "%+v: %d plies", z, len(z.Line))
}

func solves(game awari.Game, z *Puzzle, random *rand.Rand) bool {
	b := z.Board
	for i, pit := range z.Line {
		plays := game.Plays(b)
		if i%2 == 0 {
			best, choice := math.Inf(-1), -1
			for at, play := range plays {
				if play.Legal {
					if x := float64(play.Captured-minimax(game, play.Child, 2)) + random.NormFloat64(); x > best {
						best, choice = x, at
					}
				}
			}
			if choice != pit {
				return false
			}
		}
		b = plays[pit].Child
	}
	return true
}

func minimax(game awari.Game, b awari.Board, depth int) int {
	if depth == 0 {
		return 0
	}
	var values []int
	for _, play := range game.Plays(b) {
		if play.Legal {
			values = append(values, play.Captured-minimax(game, play.Child, depth-1))
		}
	}
	if len(values) == 0 {
		return -b.Seeds()
	}
	return slices.Max(values)
}

// TestLook compares the players' search with minimax, and their choices with all best moves.
func TestLook(t *testing.T) {
	game, random := testrun.Game(t, 12, awari.Awari), tries.Rand(t)
	space := testrun.Space(t, game, 20)
	for range 200 {
		n, depth := 1+random.IntN(20), 1+random.IntN(4)
		b := space.Unrank(n, random.Uint64N(space.Size(n)))
		must.Equal(t, look(game, b, depth, -100, 100), minimax(game, b, depth), "%v, %d plies", b, depth)
		pits := map[int][]int{} // by value
		for pit, play := range game.Plays(b) {
			if play.Legal {
				value := play.Captured - minimax(game, play.Child, depth-1)
				pits[value] = append(pits[value], pit)
			}
		}
		for value, same := range pits {
			want := 0.0
			if value == slices.Max(slices.Collect(maps.Keys(pits))) {
				want = 1 / float64(len(same))
			}
			for _, pit := range same {
				must.Equal(t, finds(game, &ply{board: b, pit: pit}, depth), want, "%v, pit %d, %d plies: found", b, pit, depth)
			}
		}
	}
}

// TestDraw draws all puzzles of a layer, and some in other ways, and refuses nonsense.
func TestDraw(t *testing.T) {
	tab := tabletest.Solved(t, testrun.Game(t, 12, awari.Awari), 7)
	want := map[awari.Board]bool{}
	for _, b := range testrun.Boards(testrun.Space(t, tab.Game(), 5), 5, 5) {
		if z := must.Get(Of(t.Context(), tab, b))(t); z != nil {
			want[z.Board] = true
		}
	}
	o := Options{From: 5, To: 5, Most: 100, Count: MaxCount, Seed: 5}
	all := draw(t, tab, o)
	for _, z := range all {
		should.Hold(t, want[z.Board], "%+v is no puzzle, or drawn twice", z)
		delete(want, z.Board)
	}
	should.Not(t, len(want) > 0 || len(all) < 30, "%d are drawn, %d more are there", len(all), len(want))
	o.Count = 7
	must.Same(t, "fewer", all[:7], draw(t, tab, o))
	o.Seed = 6
	others := draw(t, tab, o)
	should.Not(t, others[0].Board == all[0].Board && others[1].Board == all[1].Board, "another seed draws the same")
	for _, name := range []string{"capturing", "defending", "tempo", "starving"} { // others need more seeds
		o = Options{From: 4, To: 7, Most: 100, Count: 5, Theme: name}
		found := draw(t, tab, o)
		for _, z := range found {
			should.Hold(t, slices.Contains(z.Themes, name), "%+v is not about %s", z, name)
		}
		should.Not(t, len(found) == 0, "no puzzle is about %s", name)
	}
	for _, z := range draw(t, tab, Options{From: 5, To: 7, Least: 40, Most: 60, Count: 5, Condition: must.Get(find.Parse("mover>=3"))(t)}) {
		should.Not(t, z.Rating < 40 || z.Rating > 60 || z.Board[0]+z.Board[1]+z.Board[2]+z.Board[3]+z.Board[4]+z.Board[5] < 3, "%+v is drawn", z)
	}
	for _, o := range []Options{
		{From: 3, To: 2, Most: 100, Count: 1}, {Count: 0, Most: 100}, {Count: MaxCount + 1}, {Count: 1, Most: 101},
		{Count: 1, Least: 5, Most: 4}, {Count: 1, Theme: "beauty"},
	} {
		should.Be(t, must.Err(Draw(t.Context(), tab, o)), ErrOptions, "%+v", o)
	}
	should.Be(t, must.Err(Draw(t.Context(), tab, Options{From: 3, To: 8, Most: 100, Count: 1})), tables.ErrUnsolved)
	should.Be(t, must.Err(Draw(must.Ended(t), tab, Options{From: 5, To: 5, Most: 100, Count: 10})), context.Canceled)
}

// TestThemes has lines that are about each theme, and one that is about none.
func TestThemes(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	for _, c := range []struct {
		board awari.Board
		line  []int
		want  []string
	}{
		{awari.Board{2, 0, 1, 0, 3, 1, 2, 1, 2, 1, 2, 0}, []int{0, 0, 4}, []string{"capturing", "restraint", "defending"}},
		{awari.Board{2, 1, 1, 0, 3, 0, 0, 0, 5, 0, 3, 3}, []int{1, 5, 1}, []string{"sacrifice", "defending"}},
		{awari.Board{0, 3, 0, 0, 7, 2, 0, 0, 1, 4, 0, 0}, []int{1, 3, 0, 4, 1, 2, 2, 3, 4}, []string{"counting", "tempo"}},
		{awari.Board{1, 7, 0, 1, 0, 3, 0, 0, 0, 0, 0, 1}, []int{0, 5, 5, 1, 3, 0, 4, 1, 1}, []string{"defending", "tempo", "starving"}},
		{awari.Board{1, 0, 2, 0, 3, 3, 0, 0, 0, 4, 5, 0}, []int{0, 3, 0}, []string{}},
	} {
		var plies []ply
		b := c.board
		for _, pit := range c.line {
			m := ply{Play: game.Plays(b)[pit], board: b, pit: pit}
			plies, b = append(plies, m), m.Child
		}
		should.List(t, themesOf(game, plies), c.want, "%v %v", c.board, c.line)
	}
}
