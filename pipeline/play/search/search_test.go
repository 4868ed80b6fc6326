package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/play/search"
)

// memory is solved layers in memory; only the lowest ones are shown.
type memory struct {
	*awari.Space
	layers [][]int8
	shown  int
	asked  func() error
}

func (m *memory) Game() awari.Game { return m.Space.Game }
func (m *memory) MaxSeeds() int    { return m.shown }

func (m *memory) Read(_ context.Context, n int, rank uint64, dst []int8) error {
	if n > m.shown {
		return fmt.Errorf("asked for a board with %d seeds", n)
	}
	if m.asked != nil {
		if err := m.asked(); err != nil {
			return err
		}
	}
	copy(dst, m.layers[n][rank:])
	return nil
}

func (m *memory) ReadOne(ctx context.Context, n int, rank uint64) (int8, error) {
	var one [1]int8
	err := m.Read(ctx, n, rank, one[:])
	return one[0], err
}

// truth returns the score of a board, admitted or not.
func (m *memory) truth(b awari.Board) int {
	n, rank := m.Rank(b)
	return int(m.layers[n][rank])
}

// solve solves layers with the oracle.
func solve(t testing.TB, pits, seeds int, rules awari.Rules) *memory {
	t.Helper()
	game := testrun.Game(t, pits, rules)
	return &memory{Space: testrun.Space(t, game, seeds), layers: testrun.Solve(t, game, seeds), shown: seeds}
}

// newEngine returns an engine with room for all scores.
func newEngine(m *memory, o search.Options) *search.Engine {
	return search.New(search.NewBlocks(m, 1<<30), o)
}

// any returns a random board with n seeds.
func (m *memory) any(r *rand.Rand, n int) awari.Board { return m.Unrank(n, r.Uint64N(m.Size(n))) }

var rules = awari.RuleSets()

// share is n in the full run, and a tenth of it in the long one.
func share(n int) int { return tries.Pick(0, n/10, n) }

// layersOf names a game with all layers up to some seeds, and says how many boards of the highest one are searched.
type layersOf struct{ pits, seeds, boards int }

// hidden is solved layers the highest of which are hidden from a search.
type hidden struct {
	all, shown *memory
	below      int // layers hidden
	layersOf
	random *rand.Rand
}

// board returns a random board of the highest layer.
func (h *hidden) board() awari.Board { return h.all.any(h.random, h.seeds) }

// forHidden runs a test of each case in both rule sets, with one layer hidden, with three, and with all.
func forHidden(t *testing.T, cases []layersOf, test func(t *testing.T, h *hidden)) {
	for _, c := range cases {
		for _, r := range rules {
			m := solve(t, c.pits, c.seeds, r)
			for _, below := range []int{1, 3, c.seeds + 1} {
				t.Run(fmt.Sprintf("%d-%v-%d", c.pits, r, below), func(t *testing.T) {
					shown := *m
					shown.shown = c.seeds - below
					test(t, &hidden{m, &shown, below, c, rand.New(rand.NewPCG(uint64(below), uint64(c.pits)))})
				})
			}
		}
	}
}

// TestLongTruth compares what is claimed with the true scores, for random positions
// above tables that end early or do not exist.
func TestLongTruth(t *testing.T) {
	cases := []layersOf{{4, 14, 100}, {6, 10, 75}, {8, 8, 50}, {12, 7, 25}}
	if os.Getenv("GRENIER_LONG") != "" {
		cases = []layersOf{
			{4, 14, share(400)}, {6, 10, share(300)}, {8, 8, share(200)}, {12, 7, share(100)},
			{4, 30, share(2000)}, {6, 16, share(1000)}, {10, 9, share(1000)}, {12, 10, share(1000)},
		}
	}
	forHidden(t, cases, func(t *testing.T, h *hidden) {
		exact := 0
		e := newEngine(h.shown, search.Options{Bytes: 1 << (14 + 2*(h.below%5)), Job: job.Job{Workers: 1 + h.below%4}})
		for i := range h.boards {
			b := h.board()
			l := search.Limits{Depth: 1 + h.random.IntN(14), AllMoves: i%2 == 0}
			result := must.Get(e.Search(t.Context(), b, l))(t)
			checkResult(t, h.all, b, result)
			if result.Exact() {
				exact++
			}
		}
		t.Logf("%d of %d exact", exact, h.boards)
	})
}

// TestLongExact searches without a limit: every board is solved in the end, and to its true score. Without tables, or few, play
// in circles decides most boards.
func TestLongExact(t *testing.T) {
	cases := []layersOf{{4, 12, 8}, {6, 9, 4}, {8, 7, 4}, {12, 6, 4}}
	if os.Getenv("GRENIER_LONG") != "" {
		cases = []layersOf{{4, 30, share(100)}, {6, 14, share(60)}, {8, 10, share(60)}, {12, 8, share(60)}}
	}
	forHidden(t, cases, func(t *testing.T, h *hidden) {
		for i := range h.boards {
			b := h.board()
			e := newEngine(h.shown, search.Options{Bytes: 8 << 20, Job: job.Job{Workers: 1 + i%3}})
			result := must.Get(e.Search(t.Context(), b, search.Limits{AllMoves: i%4 == 0}))(t)
			if !result.Exact() || result.Reason != search.Exact {
				t.Fatalf("board %s: %+v", h.all.Text(b), result)
			}
			checkResult(t, h.all, b, result)
		}
	})
}

// checkResult compares a result with the truth.
func checkResult(t *testing.T, m *memory, b awari.Board, r *search.Result) {
	t.Helper()
	game, score := m.Game(), m.truth(b)
	must.Not(t, r.Lower > score || r.Upper < score, "board %s: %d to %d, want %d", game.Text(b), r.Lower, r.Upper, score)
	must.Not(t, r.Estimate < r.Lower || r.Estimate > r.Upper,
		"board %s: estimate %d of %d to %d", game.Text(b), r.Estimate, r.Lower, r.Upper)
	plays := game.Plays(b)
	legal := false
	for pit, play := range plays[:game.Half()] {
		move := r.Moves[pit]
		must.Hold(t, move.Pit == pit && move.Legal == play.Legal && move.Captured == play.Captured && move.Child == play.Child,
			"board %s: move %+v", game.Text(b), move)
		if !play.Legal {
			continue
		}
		legal = true
		score := play.Captured - m.truth(play.Child)
		must.Not(t, move.Lower > score || move.Upper < score, "board %s: move %+v, want %d", game.Text(b), move, score)
	}
	switch {
	case !legal:
		must.Hold(t, r.Best == -1 && r.Exact(), "board %s: best move %d without a move", game.Text(b), r.Best)
	case r.Best < 0 || !plays[r.Best].Legal || r.Line[0] != r.Best:
		t.Fatalf("board %s: best move %d, line %v", game.Text(b), r.Best, r.Line)
	case r.Exact() && plays[r.Best].Captured-m.truth(plays[r.Best].Child) != score:
		t.Fatalf("board %s: move %d does not reach %d", game.Text(b), r.Best, score)
	}
	for i, pit := range r.Line {
		play := game.Plays(b)[pit]
		must.Hold(t, play.Legal, "line %v: move %d is not legal", r.Line, i)
		b = play.Child
	}
}
