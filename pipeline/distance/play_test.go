package distance_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
	"grenier/pipeline/play/line"
	"grenier/pipeline/play/search"
	"grenier/pipeline/play/uci"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

// open opens tables until the test ends.
func open(t testing.TB, dir string) *tables.Tables {
	t.Helper()
	tb, err := tables.Open(t.Context(), dir)
	must.OK(t, err)
	t.Cleanup(func() { tb.Close() })
	return tb
}

// solved returns tables of 12 pits with distances, solved by the engine.
func solved(t testing.TB, seeds int) *tables.Tables {
	t.Helper()
	dir, j := t.TempDir(), job.Job{Workers: 2, Family: cpu.Best()}
	_, err := solve.Solve(t.Context(), dir, testrun.Game(t, 12, awari.Awari), solve.Options{Seeds: seeds, Job: j})
	must.OK(t, err)
	compute(t, dir, distance.Options{Job: j})
	return open(t, dir)
}

// scoresOnly hides distances.
type scoresOnly struct{ line.Scores }

// TestSameLines: moves found by distances are those of the search in package line, with as many plies, on every board.
func TestSameLines(t *testing.T) {
	for _, c := range []struct{ pits, seeds int }{{4, 12}, {6, 8}, {8, 7}} {
		for _, r := range rules {
			game := testrun.Game(t, c.pits, r)
			dir := testrun.Write(t, game, testrun.Solve(t, game, c.seeds), 1<<16)
			compute(t, dir, options(1))
			tb, space := open(t, dir), testrun.Space(t, game, c.seeds)
			for n := range c.seeds + 1 {
				for rank := range space.Size(n) {
					b := space.Unrank(n, rank)
					got, ok, err := line.Next(t.Context(), tb, b, line.Options{})
					must.OK(t, err)
					want, wantOK, err := line.Next(t.Context(), scoresOnly{tb}, b, line.Options{})
					must.OK(t, err)
					if got != want || ok != wantOK {
						t.Fatalf("%v, board %s: %+v, %v; searched %+v, %v", r, game.Text(b), got, ok, want, wantOK)
					}
				}
			}
		}
	}
}

// valued returns random boards whose score is not 0.
func valued(t testing.TB, tb *tables.Tables, rng *rand.Rand, least, n int) []awari.Board {
	t.Helper()
	space := testrun.Space(t, tb.Game(), tb.MaxSeeds())
	var all []awari.Board
	for len(all) < n {
		seeds := least + rng.IntN(tb.MaxSeeds()-least+1)
		b := space.Unrank(seeds, rng.Uint64N(space.Size(seeds)))
		score, err := tb.Score(t.Context(), b)
		must.OK(t, err)
		if score != 0 {
			all = append(all, b)
		}
	}
	return all
}

// TestLongPlayedOut: boards that the tables play on both sides are captured from, or end, after exactly as many plies as said.
func TestLongPlayedOut(t *testing.T) {
	rng := tries.Rand(t)
	tb := solved(t, tries.Pick(9, 13, 22))
	longest := 0
	for _, b := range valued(t, tb, rng, 6, tries.Pick(500, 5000, 20000)) {
		said, known, err := tb.Distance(t.Context(), b)
		must.OK(t, err)
		if !known || said < 1 {
			t.Fatalf("board %s: %d plies, %v", tb.Game().Text(b), said, known)
		}
		longest = max(longest, said)
		if took := playOut(t, tb, b); took != said {
			t.Fatalf("board %s: %d plies, said %d", tb.Game().Text(b), took, said)
		}
	}
	t.Logf("up to %d plies", longest)
}

// playOut plays the best moves until seeds are taken or the game ends, which counts as a ply, and returns the plies.
func playOut(t testing.TB, tb *tables.Tables, b awari.Board) (plies int) {
	t.Helper()
	for {
		plies++
		m, ok, err := line.Next(t.Context(), tb, b, line.Options{})
		must.OK(t, err)
		if !ok {
			return plies
		}
		play := tb.Game().Plays(b)[m.Pit]
		if !play.Legal || play.Child != m.Child {
			t.Fatalf("board %s: %+v", tb.Game().Text(b), m)
		}
		if play.Captured > 0 {
			return plies
		}
		b = play.Child
	}
}

// TestLongUCIWins: the UCI engine wins won endgames from an opponent who plays any move, and from one who keeps what he can and delays, and
// no board comes twice as long as it can win anything more.
func TestLongUCIWins(t *testing.T) {
	rng := tries.Rand(t)
	tb := solved(t, tries.Pick(8, 11, 14))
	for name, answer := range map[string]func(b awari.Board) int{
		"random":   func(b awari.Board) int { return anyMove(tb.Game(), rng, b) },
		"delaying": func(b awari.Board) int { return delay(t, tb, b) },
	} {
		games := 0
		for _, b := range valued(t, tb, rng, 5, tries.Pick(30, 200, 600)) {
			score, err := tb.Score(t.Context(), b)
			must.OK(t, err)
			if score < 0 {
				continue
			}
			if games++; games > 200 {
				break
			}
			if got := uciGame(t, tb, b, answer); got < int(score) {
				t.Fatalf("%s: board %s is worth %d, UCI took %d more", name, tb.Game().Text(b), score, got)
			}
		}
		if games < tries.Pick(5, 50, 200) {
			t.Fatalf("%d games", games)
		}
	}
}

// uciGame plays a game from a board whose mover is the UCI engine, and returns what it took more than the other one.
func uciGame(t *testing.T, tb *tables.Tables, b awari.Board, answer func(awari.Board) int) (score int) {
	t.Helper()
	type turn struct {
		board awari.Board
		side  int
	}
	game, seen := tb.Game(), map[turn]bool{}
	for side := 0; ; side = 1 - side {
		sign := 1 - 2*side
		if seen[turn{b, side}] {
			if rest, err := tb.Score(t.Context(), b); sign*int(rest) > 0 || err != nil {
				t.Fatalf("board %s, worth %d, comes twice (%v)", game.Text(b), rest, err)
			}
			return score // the engine can force nothing any more: endless play
		}
		seen[turn{b, side}] = true
		if len(game.Successors(nil, b)) == 0 {
			return score + sign*game.Terminal(b)
		}
		var pit int
		if side == 0 {
			pit = askUCI(t, tb, b)
		} else {
			pit = answer(b)
		}
		play := game.Plays(b)[pit]
		if !play.Legal {
			t.Fatalf("board %s: pit %d", game.Text(b), pit)
		}
		score += sign * play.Captured
		b = play.Child
	}
}

var bestMove = regexp.MustCompile(`bestmove ([A-F])`)

// askUCI returns the pit that the engine plays for South.
func askUCI(t *testing.T, tb *tables.Tables, b awari.Board) int {
	t.Helper()
	var out strings.Builder
	session := uci.New(uci.Options{
		Name: "Test", Author: "Nobody", Scores: tb, Blocks: search.NewBlocks(tb, 1<<24), Bytes: 1 << 20, MostBytes: 1 << 20, Workers: 1,
	})
	fen := strings.ReplaceAll(tb.Game().Text(b), " ", "-") + "-" + strconv.Itoa(awari.MaxSeeds-b.Seeds()) + "-0-S"
	must.OK(t, session.Run(t.Context(), strings.NewReader(fmt.Sprintf("position fen %s\ngo depth 1\n", fen)), &out))
	m := bestMove.FindStringSubmatch(out.String())
	if m == nil {
		t.Fatalf("board %s: %s", fen, out.String())
	}
	return int(m[1][0] - 'A')
}

// anyMove returns a random legal move.
func anyMove(game awari.Game, rng *rand.Rand, b awari.Board) int {
	plays := game.Plays(b)
	for {
		if pit := rng.IntN(game.Half()); plays[pit].Legal {
			return pit
		}
	}
}

// delay returns the move that keeps the score and leads farthest from a capture; a move that captures only if no other keeps it.
func delay(t testing.TB, tb *tables.Tables, b awari.Board) int {
	t.Helper()
	value, err := tb.Score(context.Background(), b)
	must.OK(t, err)
	best, farthest := -1, -1
	for pit, play := range tb.Game().Plays(b) {
		if !play.Legal {
			continue
		}
		score, err := tb.Score(context.Background(), play.Child)
		must.OK(t, err)
		if play.Captured-int(score) != int(value) {
			continue
		}
		plies := 0
		if play.Captured == 0 {
			plies, _, err = tb.Distance(context.Background(), play.Child)
			must.OK(t, err)
		}
		if plies > farthest {
			best, farthest = pit, plies
		}
	}
	return best
}

// TestLongContradiction: a distance that the moves do not give is damage for a player, not a move.
func TestLongContradiction(t *testing.T) {
	rng := tries.Rand(t)
	dir, layers := run(t, 7)
	compute(t, dir, options(1))
	want := brute(t, testrun.Game(t, 8, awari.Awari), layers)
	space := testrun.Space(t, testrun.Game(t, 8, awari.Awari), 7)
	for range tries.Runs(200) {
		rank := rng.IntN(len(want[7]))
		if want[7][rank] == 0 {
			continue
		}
		other := testrun.Copy(t, dir)
		writeDistances(t, other, 7, func(plies []int8) { plies[rank] = int8(want[7][rank] + 100) })
		tb := open(t, other)
		if m, _, err := line.Next(t.Context(), tb, space.Unrank(7, uint64(rank)), line.Options{}); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Fatalf("rank %d: %+v, %v", rank, m, err)
		}
	}
}
