package awari_test

import (
	"errors"
	"strings"
	"testing"

	"grenier/internal/testkit/conformance"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/layers"
	"grenier/layers/awari"
)

func board(t testing.TB, g awari.Game, text string) awari.Board {
	t.Helper()
	return must.Get(g.Parse(strings.Fields(text)))(t)
}

// sowing is a move worked out by hand: a pit of a board, the board after it, not turned, and what else it does.
type sowing struct {
	name          string
	pit           int
	before, after string
	captured      int
	starves       bool
}

// TestSow checks boards worked out by hand. Boards after the move are not turned: the first half is still that of the player who sowed.
func TestSow(t *testing.T) {
	for rules, cases := range map[awari.Rules][]sowing{
		awari.Awari: {
			{"one seed inside the own half", 0, "1 0 0 0  1 0 0 0", "0 1 0 0  1 0 0 0", 0, false},
			{"into the opponent's half", 3, "0 0 0 2  0 0 0 0", "0 0 0 0  1 1 0 0", 0, false},
			{"round the end, back into the own half", 3, "0 0 0 6  0 0 0 0", "1 1 0 0  1 1 1 1", 0, false},

			// Laps: P-1 seeds end on the pit before the origin, P on the pit after it, and each further P-1 a lap later.
			{"8 pits, 7 seeds", 2, "0 0 7 0  1 1 1 1", "1 1 0 1  2 2 2 2", 0, false},
			{"8 pits, 8 seeds", 2, "0 0 8 0  1 1 1 1", "1 1 0 2  2 2 2 2", 0, false},
			{"8 pits, 14 seeds", 2, "0 0 14 0  1 1 1 1", "2 2 0 2  3 3 3 3", 0, false},
			{"8 pits, 15 seeds", 2, "0 0 15 0  1 1 1 1", "2 2 0 3  3 3 3 3", 0, false},
			{"8 pits, 7 seeds from pit 0 capture on the last pit", 0, "7 0 0 0  0 0 2 1", "0 1 1 1  1 1 0 0", 5, false},
			{"8 pits, 14 seeds from pit 0 stop a chain at 4", 0, "14 0 0 0  2 0 0 0", "0 2 2 2  4 0 0 0", 6, false},
			{"8 pits, 8 seeds from the last own pit end after it", 3, "0 0 0 8  1 1 1 1", "1 1 1 0  0 2 2 2", 3, false},

			{"10 pits, 19 seeds", 4, "0 0 0 0 19  0 0 0 0 0", "2 2 2 2 0  0 2 2 2 2", 3, false},
			{"12 pits, 11 seeds", 5, "0 0 0 0 0 11  0 1 2 3 4 5", "1 1 1 1 1 0  1 2 3 4 5 6", 0, false},
			{"12 pits, 23 seeds", 5, "0 0 0 0 0 23  0 1 2 3 4 5", "2 2 2 2 2 0  0 3 4 5 6 7", 3, false},
			{"12 pits, 22 seeds from pit 0", 0, "22 0 0 0 0 0  0 9 0 0 0 0", "0 2 2 2 2 2  2 11 0 0 0 0", 8, false},

			{"capture of 2", 3, "0 0 0 1  1 5 0 0", "0 0 0 0  0 5 0 0", 2, false},
			{"capture of 3", 3, "0 0 0 1  2 5 0 0", "0 0 0 0  0 5 0 0", 3, false},
			{"no capture of 1", 3, "0 0 0 1  0 5 0 0", "0 0 0 0  1 5 0 0", 0, false},
			{"no capture of 4", 3, "0 0 0 1  3 5 0 0", "0 0 0 0  4 5 0 0", 0, false},
			{"chain", 3, "0 0 0 3  4 1 2 0", "0 0 0 0  5 0 0 0", 5, false},
			{"chain stops at 4", 3, "0 0 0 4  1 3 1 2", "0 0 0 0  2 4 0 0", 5, false},
			{"chain stops at 1", 3, "0 0 0 4  1 0 1 1", "0 0 0 0  2 1 0 0", 4, false},
			{"nothing when the last pit does not count", 3, "0 0 0 3  1 1 4 1", "0 0 0 0  2 2 5 1", 0, false},
			{"chain does not pass the last pit", 3, "0 0 0 2  1 1 2 2", "0 0 0 0  0 0 2 2", 4, false},
			{"chain stops at the end of the row", 3, "2 2 1 2  1 1 7 0", "2 2 1 0  0 0 7 0", 4, false},
			{"chain stops at the row end, own pit holding 2", 1, "0 4 2 1  1 1 7 0", "0 0 3 2  0 0 7 0", 4, false},
			{"no capture in the own half", 0, "1 1 0 0  5 0 0 0", "0 2 0 0  5 0 0 0", 0, false},
			{"no capture in the own half after a lap", 3, "1 1 0 6  1 1 1 1", "2 2 0 0  2 2 2 2", 0, false},

			{"grand slam", 3, "1 0 0 2  1 1 0 0", "1 0 0 0  0 0 0 0", 4, true},
			{"not a grand slam: one seed stays", 3, "1 0 0 2  1 1 0 1", "1 0 0 0  0 0 0 1", 4, false},
			{"not feeding", 0, "2 0 0 3  0 0 0 0", "0 1 1 3  0 0 0 0", 0, true},
			{"feeding", 3, "2 0 0 3  0 0 0 0", "2 0 0 0  1 1 1 0", 0, false},
		},
		awari.Abapa: { // only a capture of all seeds of the opponent captures nothing
			{"grand slam", 3, "1 0 0 2  1 1 0 0", "1 0 0 0  2 2 0 0", 0, false},
			{"of all pits", 3, "0 0 0 4  1 2 1 2", "0 0 0 0  2 3 2 3", 0, false},
			{"of two laps", 0, "14 0 0 0  0 0 0 0", "0 2 2 2  2 2 2 2", 0, false},
			{"of one pit", 3, "5 0 0 1  2 0 0 0", "5 0 0 0  3 0 0 0", 0, false},
			{"one seed stays behind", 3, "1 0 0 2  1 1 0 1", "1 0 0 0  0 0 0 1", 4, false},
			{"one seed stays in front", 3, "0 0 0 2  0 1 0 0", "0 0 0 0  1 0 0 0", 2, false},
			{"not feeding", 0, "2 0 0 3  0 0 0 0", "0 1 1 3  0 0 0 0", 0, true},
		},
	} {
		for _, c := range cases {
			g := testrun.Game(t, len(strings.Fields(c.before)), rules)
			got := g.Sow(board(t, g, c.before), c.pit)
			want := awari.Sown{Board: board(t, g, c.after), Captured: c.captured, Starves: c.starves}
			should.Equal(t, got, want, "%s, %s: sowing pit %d of %s", rules, c.name, c.pit, c.before)
		}
	}
}

// play is a legal move in a test table: pit, seeds captured, child.
type play struct {
	pit, captured int
	child         string
}

func TestLegalMoves(t *testing.T) {
	const none = "0 0 0 0  0 0 0 0"
	turned := []play{{0, 0, "0 0 5 0  0 3 0 0"}, {1, 0, "0 0 5 0  1 0 1 1"}}
	capture := []play{{3, 2, "0 0 0 4  0 0 0 0"}}
	other := []play{{0, 0, "1 1 0 0  0 1 0 2"}}
	feeds := []play{{3, 0, "1 1 1 0  2 0 0 0"}}
	all := []play{{0, 4, none}, {2, 4, none}}
	for _, c := range []struct {
		_, before            string // what it is about, and the board
		awari, strict, abapa []play
		starve, unfed        []int // pits whose move leaves the opponent without seeds under awari and strict, and under abapa
	}{
		{"quiet moves turn the board", "1 2 0 0  0 0 5 0", turned, turned, turned, nil, nil},
		{"capture", "0 0 0 1  1 0 0 4", capture, capture, capture, nil, nil},
		{"grand slam with an alternative is illegal", "1 0 0 2  1 1 0 0", other, other, append(other, play{3, 0, "2 2 0 0  1 0 0 0"}), []int{3}, nil},
		{"grand slam without an alternative takes everything", "0 0 0 2  1 1 0 0",
			[]play{{3, 4, none}}, nil, []play{{3, 0, "2 2 0 0  0 0 0 0"}}, []int{3}, nil},
		{"two grand slams and nothing else take everything", "0 0 3 2  1 1 0 0",
			[]play{{2, 7, none}, {3, 7, none}}, nil, []play{{2, 0, "2 2 0 0  0 0 0 3"}, {3, 0, "2 2 0 0  0 0 3 0"}}, []int{2, 3}, nil},
		{"the opponent must be fed", "2 0 0 3  0 0 0 0", feeds, feeds, feeds, []int{0}, []int{0}},
		{"no move feeds: everything is taken", "3 0 1 0  0 0 0 0", all, nil, all, []int{0, 2}, []int{0, 2}},
		{"mover without seeds", "0 0 0 0  1 0 2 0", nil, nil, nil, nil, nil},
		{"no seeds at all", none, nil, nil, nil, nil, nil},
	} {
		checkMoves(t, awari.Awari, c.before, c.awari, c.starve)
		checkMoves(t, awari.Strict, c.before, c.strict, c.starve)
		checkMoves(t, awari.Abapa, c.before, c.abapa, c.unfed)
	}
}

func checkMoves(t *testing.T, rules awari.Rules, before string, want []play, starve []int) {
	t.Helper()
	g := testrun.Game(t, 8, rules)
	b := board(t, g, before)
	var plays [awari.MaxPits / 2]awari.Play
	var moves []layers.Move[awari.Board]
	for _, pit := range starve {
		plays[pit].Starves = true
	}
	for _, p := range want {
		child := board(t, g, p.child)
		plays[p.pit] = awari.Play{Legal: true, Starves: plays[p.pit].Starves, Captured: p.captured, Child: child}
		moves = append(moves, layers.Move[awari.Board]{To: child, Reward: p.captured})
	}
	should.Equal(t, g.Plays(b), plays, "%s: plays of %s are", rules, before)
	should.List(t, g.Successors(nil, b), moves, "%s: successors of %s are", rules, before)
	should.Equal(t, g.Terminal(b), -b.Seeds(), "%s: %s would end at", rules, before)
}

// TestMostPredecessors checks the boards of docs/census.md that have as many predecessors as seeds:
// the seeds lie where a move from one pit of an otherwise empty board sows them.
func TestMostPredecessors(t *testing.T) {
	for pits := awari.MinPits; pits <= awari.MaxPits; pits += 2 {
		g, half := testrun.Game(t, pits, awari.Awari), pits/2
		for n := 1; n <= awari.MaxSeeds; n++ {
			pit := half - 1
			switch {
			case n >= pits && n <= pits+half-2:
				pit = 0
			case n >= pits && n < 7*half-3:
				continue
			}
			var after awari.Board
			for i := range n {
				after[(pit+1+i%(pits-1))%pits]++
			}
			b := g.Turn(after)
			should.Equal(t, len(g.Predecessors(nil, b)), n, "%d pits: %v has", pits, b)
		}
	}
}

func TestPrimitivesDoNotAllocate(t *testing.T) {
	g := testrun.Game(t, 12, awari.Awari)
	space := testrun.Space(t, g, awari.MaxSeeds)
	b := must.Get(g.Start(4))(t)
	moves := make([]layers.Move[awari.Board], 0, 6)
	before := make([]awari.Board, 0, 100)
	allocations := testing.AllocsPerRun(100, func() {
		moves = g.Successors(moves[:0], b)
		before = g.Predecessors(before[:0], moves[2].To)
		n, rank := space.Rank(b)
		should.Not(t, space.Unrank(n, rank) != b, "rank and unrank disagree")
	})
	should.Equal(t, allocations, 0, "allocations for the moves, predecessors and rank of a board")
}

func TestNewRejects(t *testing.T) {
	for _, pits := range []int{-2, 0, 2, 3, 5, 7, 9, 11, 13, 14} {
		should.Says(t, must.Err(awari.New(pits, awari.Awari)), awari.ErrPits, "4, 6, 8, 10 or 12")
	}
	should.Says(t, must.Err(awari.New(12, awari.Rules(7))), awari.ErrRules, "awari, strict, abapa")
	for rules, name := range map[awari.Rules]string{awari.Awari: "awari", awari.Strict: "strict", awari.Abapa: "abapa"} {
		should.Equal(t, rules.String(), name, "rules %d are called", uint8(rules))
		should.Equal(t, must.Get(awari.ParseRules(name))(t), rules, "ParseRules(%q)", name)
	}
	should.Equal(t, awari.Rules(9).String(), "Rules(9)", "unknown rules are called")
	should.Says(t, must.Err(awari.ParseRules("Awari")), awari.ErrRules, `rules "Awari": must be awari, strict, abapa`)
	g := testrun.Game(t, 12, awari.Strict)
	should.Equal(t, g.Name(), "awari, 12 pits, rules strict")
	for seeds, each := range map[int]int{-1: -1, 49: 5} {
		should.Be(t, must.Err(awari.NewSpace(g, seeds)), awari.ErrSeeds, "NewSpace with %d seeds", seeds)
		should.Be(t, must.Err(g.Start(each)), awari.ErrSeeds, "Start with %d seeds a pit", each)
	}
	should.Equal(t, g.Text(must.Get(g.Start(4))(t)), "4 4 4 4 4 4 4 4 4 4 4 4", "start")
	space := testrun.Space(t, testrun.Game(t, 4, awari.Awari), 3)
	must.Panic(t, func() { space.Unrank(3, 20) }, "board 20 of 20 is unranked")
}

func TestConformance(t *testing.T) {
	for _, pits := range []int{4, 6, 8, 10, 12} {
		for _, rules := range awari.RuleSets() {
			space := testrun.Space(t, testrun.Game(t, pits, rules), awari.MaxSeeds)
			t.Run(space.Name(), func(t *testing.T) { conformance.Run(t, space, conformance.Options{Exhaustive: 400, Samples: 12}) })
		}
	}
}

// TestCapturesLeadTo compares it with the moves of all boards.
func TestCapturesLeadTo(t *testing.T) {
	for _, pits := range []int{4, 6, 8} {
		for _, rules := range awari.RuleSets() {
			space := testrun.Space(t, testrun.Game(t, pits, rules), 11)
			for n := range space.Layers() {
				led := map[int]bool{}
				for _, b := range testrun.Boards(space, n, n) {
					for _, play := range space.Plays(b) {
						if play.Captured > 0 && !play.Starves {
							led[play.Child.Seeds()] = true
						}
					}
				}
				least, most := space.CapturesLeadTo(n)
				for k := range n + 1 {
					should.Equal(t, led[k], least <= k && k <= most, "%s, captures from %d seeds lead to %d", space.Name(), n, k)
				}
			}
		}
	}
}

func TestParseRejects(t *testing.T) {
	g := testrun.Game(t, 4, awari.Awari)
	for want, messages := range map[error]map[string]string{
		awari.ErrBoard: {"": "expected 4 pits, got 0", "1 2 3": "expected 4 pits, got 3", "1 2 3 4 5": "expected 4 pits, got 5"},
		awari.ErrCount: {
			"1 -2 3 4": `pit B "-2": must be 0 to 48`, "1 2 x 4": `pit a "x": must be 0 to 48`, "1 2 3 +4": `pit b "+4": must be 0 to 48`,
			"1 2 3 4.0": `pit b "4.0": must be 0 to 48`,
		},
		awari.ErrSeeds: {
			"49 0 0 0": "pit A 49: must be 0 to 48", "0 0 0 99999999999999999999": "pit b 99999999999999999999: must be 0 to 48",
			"20 20 0 9": "more than 48 on the board",
		},
	} {
		for text, message := range messages {
			should.Says(t, must.Err(g.Parse(strings.Fields(text))), want, ": "+message)
		}
	}
}

func TestDraw(t *testing.T) {
	g := testrun.Game(t, 12, awari.Awari)
	want := `opponent   f   e   d   c   b   a
          11  10   1   0   0   6
           1   2   0   0   4   5
mover      A   B   C   D   E   F
`
	b := board(t, g, "1 2 0 0 4 5 6 0 0 1 10 11")
	should.Equal(t, g.Draw(b, 0), want, "drawn")
	should.Has(t, g.Draw(b, 1), "opponent   F   E   D   C   B   A\n", "\nmover      a   b   c   d   e   f\n")
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"4 4 4 4 4 4 4 4 4 4 4 4", "0 0 0 48 0 0 0 0", "1 2 3", "-1 0 0 0", "007 0 0 0 0 0", "a b c d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fields := strings.Fields(text)
		for pits := awari.MinPits; pits <= awari.MaxPits; pits += 2 {
			g := testrun.Game(t, pits, awari.Awari)
			b, err := g.Parse(fields)
			if err != nil {
				must.Not(t, !errors.Is(err, awari.ErrBoard) && !errors.Is(err, awari.ErrCount) && !errors.Is(err, awari.ErrSeeds),
					"untyped error %v", err)
				continue
			}
			must.Hold(t, len(fields) == pits && b.Seeds() <= awari.MaxSeeds, "%q is read as %v", text, b)
			must.Equal(t, must.Get(g.Parse(strings.Fields(g.Text(b))))(t), b, "%v is written %q and read as", b, g.Text(b))
		}
	})
}
