package distance_test

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"grenier/internal/testkit/endgames"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
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
	tb := must.Get(tables.Open(t.Context(), dir))(t)
	t.Cleanup(func() { tb.Close() })
	return tb
}

// solved returns tables of 12 pits with distances, solved by the engine.
func solved(t testing.TB, seeds int) *tables.Tables {
	t.Helper()
	dir, j := t.TempDir(), job.Job{Workers: 2, Family: cpu.Best()}
	must.OK(t, must.Err(solve.Solve(t.Context(), dir, testrun.Game(t, 12, awari.Awari), solve.Options{Seeds: seeds, Job: j})))
	compute(t, dir, distance.Options{Job: j})
	return open(t, dir)
}

// scoresOnly hides distances.
type scoresOnly struct{ line.Scores }

// TestSameLines: moves found by distances are those of the search in package line, with as many plies, on every board.
func TestSameLines(t *testing.T) {
	for _, c := range []struct{ pits, seeds int }{{4, 12}, {6, 8}, {8, 7}} {
		for _, r := range rules {
			game, _, dir := testrun.Run(t, c.pits, r, c.seeds, 1<<16)
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

// TestLongPlayedOut: boards that the tables play on both sides are captured from, or end, after exactly as many plies as said.
func TestLongPlayedOut(t *testing.T) {
	rng := tries.Rand(t)
	tb := solved(t, tries.Pick(9, 13, 22))
	longest := 0
	for range tries.Pick(500, 5000, 20000) {
		b := endgames.Drawn(t, tb, rng, 6, func(score int8) bool { return score != 0 })
		said, known, err := tb.Distance(t.Context(), b)
		must.OK(t, err)
		must.Hold(t, known && said >= 1, "board %s: %d plies, %v", tb.Game().Text(b), said, known)
		longest = max(longest, said)
		took := playOut(t, tb, b)
		must.Hold(t, took == said, "board %s: %d plies, said %d", tb.Game().Text(b), took, said)
	}
	t.Logf("up to %d plies", longest)
}

// playOut plays the best moves until seeds are taken or the game ends, which counts as a ply, and returns the plies.
func playOut(t testing.TB, tb *tables.Tables, b awari.Board) (plies int) {
	for {
		plies++
		m, ok, err := line.Next(t.Context(), tb, b, line.Options{})
		must.OK(t, err)
		if !ok {
			return plies
		}
		play := tb.Game().Plays(b)[m.Pit]
		must.Hold(t, play.Legal && play.Child == m.Child, "board %s: %+v", tb.Game().Text(b), m)
		if play.Captured > 0 {
			return plies
		}
		b = play.Child
	}
}

// TestLongUCIWins: the UCI engine wins won endgames, and no board comes twice as long as it can win anything more.
func TestLongUCIWins(t *testing.T) {
	tb := solved(t, tries.Pick(8, 11, 14))
	endgames.Win(t, tb, tries.Rand(t), tries.Pick(5, 50, 200), func(b awari.Board) int { return askUCI(t, tb, b) })
}

var bestMove = regexp.MustCompile(`bestmove ([A-F])`)

// askUCI returns the pit that the engine plays for South.
func askUCI(t *testing.T, tb *tables.Tables, b awari.Board) int {
	var out strings.Builder
	session := uci.New(uci.Options{
		Name: "Test", Author: "Nobody", Scores: tb, Blocks: search.NewBlocks(tb, 1<<24), Bytes: 1 << 20, MostBytes: 1 << 20, Workers: 1,
	})
	fen := strings.ReplaceAll(tb.Game().Text(b), " ", "-") + "-" + strconv.Itoa(awari.MaxSeeds-b.Seeds()) + "-0-S"
	must.OK(t, session.Run(t.Context(), strings.NewReader(fmt.Sprintf("position fen %s\ngo depth 1\n", fen)), &out))
	m := bestMove.FindStringSubmatch(out.String())
	must.Not(t, m == nil, "board %s: %s", fen, out.String())
	return int(m[1][0] - 'A')
}

// TestMany: asked together, boards of all layers have the distances that they have one by one.
func TestMany(t *testing.T) {
	dir, _ := run(t, 8)
	compute(t, dir, distance.Options{Layers: []int{3, 6, 8}, Job: options(2).Job})
	tb, rng := open(t, dir), tries.Rand(t)
	space, boards := testrun.Space(t, tb.Game(), 8), make([]awari.Board, 500)
	for i := range boards {
		n := rng.IntN(9)
		boards[i] = space.Unrank(n, rng.Uint64N(space.Size(n)))
	}
	got := make([]int16, len(boards))
	must.OK(t, tb.Distances(t.Context(), boards, got))
	for i, b := range boards {
		plies, known, err := tb.Distance(t.Context(), b)
		must.OK(t, err)
		if n := b.Seeds(); known != (n == 3 || n == 6 || n == 8) || known && int(got[i]) != plies || !known && got[i] != -1 {
			t.Errorf("board %v: %d, one by one %d, %v", b, got[i], plies, known)
		}
	}
	should.Be(t, tb.Distances(t.Context(), append(boards, awari.Board{9}), make([]int16, 501)), tables.ErrUnsolved)
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
		m, _, err := line.Next(t.Context(), tb, space.Unrank(7, uint64(rank)), line.Options{})
		must.Hold(t, errors.Is(err, corrupt.ErrCorrupt), "rank %d: %+v, %v", rank, m, err)
	}
}
