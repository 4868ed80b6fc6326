package search_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/play/search"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is solved layers in memory; only the lowest ones are shown.
type memory struct {
	testrun.Table
	shown int
	asked func(context.Context) error
}

func (m *memory) MaxSeeds() int { return m.shown }

func (m *memory) Read(ctx context.Context, n int, rank uint64, dst []int8) error {
	if n > m.shown {
		return fmt.Errorf("asked for a board with %d seeds", n)
	}
	copy(dst, m.Scores[n][rank:])
	if m.asked != nil {
		return m.asked(ctx)
	}
	return nil
}

func (m *memory) ReadOne(ctx context.Context, n int, rank uint64) (int8, error) {
	var one [1]int8
	err := m.Read(ctx, n, rank, one[:])
	return one[0], err
}

func solve(t testing.TB, pits, seeds int, rules awari.Rules) *memory {
	return &memory{Table: testrun.NewTable(t, testrun.Game(t, pits, rules), seeds), shown: seeds}
}

// upTo shows fewer layers.
func (m *memory) upTo(seeds int) *memory { return &memory{m.Table, seeds, m.asked} }

func newEngine(m *memory, o search.Options) *search.Engine {
	return search.New(search.NewBlocks(m, 1<<30), o)
}

// share is n in the full run, and a tenth of it in the long one.
func share(n int) int { return tries.Pick(0, n/20, n) }

// layersOf names a game with all layers up to some seeds, and says how many boards of the highest one are searched.
type layersOf struct{ pits, seeds, boards int }

type hidden struct {
	all, shown *memory
	below      int // layers hidden
	layersOf
	random *rand.Rand
}

func (h *hidden) board() awari.Board {
	return h.all.Unrank(h.seeds, h.random.Uint64N(h.all.Size(h.seeds)))
}

// forHidden runs a test of each case in both rule sets, with one layer hidden, with three, and with all.
func forHidden(t *testing.T, cases []layersOf, test func(t *testing.T, h *hidden)) {
	for _, c := range cases {
		for _, r := range awari.RuleSets() {
			m := solve(t, c.pits, c.seeds, r)
			for _, below := range []int{1, 3, c.seeds + 1} {
				t.Run(fmt.Sprintf("%d-%v-%d", c.pits, r, below), func(t *testing.T) {
					test(t, &hidden{m, m.upTo(c.seeds - below), below, c, rand.New(rand.NewPCG(uint64(below), uint64(c.pits)))})
				})
			}
		}
	}
}

// TestLongTruth compares what is claimed with the true scores, for random positions above tables that end early or do not exist.
func TestLongTruth(t *testing.T) {
	cases := tries.More([]layersOf{{4, 12, 25}, {6, 9, 20}, {8, 7, 15}, {12, 6, 8}}, []layersOf{
		{4, 14, share(400)}, {6, 10, share(300)}, {8, 8, share(200)}, {12, 7, share(100)},
		{4, 30, share(2000)}, {6, 16, share(1000)}, {10, 9, share(1000)}, {12, 10, share(1000)},
	})
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

// TestLongExact searches without a limit: every board is solved to its true score. Without tables, or few, play in circles decides most boards.
func TestLongExact(t *testing.T) {
	cases := tries.More([]layersOf{{4, 12, 3}, {6, 8, 2}, {8, 6, 2}, {12, 5, 2}},
		[]layersOf{{4, 30, share(100)}, {6, 14, share(60)}, {8, 10, share(60)}, {12, 8, share(60)}})
	forHidden(t, cases, func(t *testing.T, h *hidden) {
		for i := range h.boards {
			b := h.board()
			e := newEngine(h.shown, search.Options{Bytes: 8 << 20, Job: job.Job{Workers: 1 + i%3}})
			result := must.Get(e.Search(t.Context(), b, search.Limits{AllMoves: i%4 == 0}))(t)
			must.Hold(t, result.Exact() && result.Reason == search.Exact, "board %s: %+v", h.all.Text(b), result)
			checkResult(t, h.all, b, result)
		}
	})
}

func checkResult(t *testing.T, m *memory, b awari.Board, r *search.Result) {
	t.Helper()
	game, score := m.Game(), m.Worth(b)
	must.Not(t, r.Lower > score || r.Upper < score, "board %s: %d to %d, want %d", game.Text(b), r.Lower, r.Upper, score)
	must.Not(t, r.Estimate < r.Lower || r.Estimate > r.Upper, "board %s: estimate %d of %d to %d", game.Text(b), r.Estimate, r.Lower, r.Upper)
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
		score := play.Captured - m.Worth(play.Child)
		must.Not(t, move.Lower > score || move.Upper < score, "board %s: move %+v, want %d", game.Text(b), move, score)
	}
	switch {
	case !legal:
		must.Hold(t, r.Best == -1 && r.Exact(), "board %s: best move %d without a move", game.Text(b), r.Best)
	case r.Best < 0 || !plays[r.Best].Legal || r.Line[0] != r.Best:
		t.Fatalf("board %s: best move %d, line %v", game.Text(b), r.Best, r.Line)
	case r.Exact() && plays[r.Best].Captured-m.Worth(plays[r.Best].Child) != score:
		t.Fatalf("board %s: move %d does not reach %d", game.Text(b), r.Best, score)
	}
	for i, pit := range r.Line {
		play := game.Plays(b)[pit]
		must.Hold(t, play.Legal, "line %v: move %d is not legal", r.Line, i)
		b = play.Child
	}
}

// start returns the board with four seeds in each of 12 pits, and few tables.
func start(t testing.TB) (*memory, awari.Board) {
	m := solve(t, 12, 5, awari.Awari)
	return m, must.Get(m.Game().Start(4))(t)
}

func TestLimits(t *testing.T) {
	m, b := start(t)
	depths := 0
	e := newEngine(m, search.Options{Bytes: 1 << 20, Job: job.Job{Progress: func(job.Step) { depths++ }}})
	r, err := e.Search(t.Context(), b, search.Limits{Depth: 5})
	should.Not(t, err != nil || r.Reason != search.DepthLimit || r.Depth != 5 || r.Exact() || r.Nodes == 0 || r.NodesPerSecond <= 0,
		"%+v, %v", r, err)
	depths = 0
	r, err = e.Search(t.Context(), b, search.Limits{Time: 50 * time.Millisecond})
	should.Hold(t, err == nil && r.Reason == search.TimeLimit && r.Depth != 0 && depths >= r.Depth, "%+v, %v; %d reports", r, err, depths)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	r, err = e.Search(ctx, b, search.Limits{})
	should.Hold(t, errors.Is(err, context.Canceled) && r.Reason == search.Interrupted && r.Best >= 0 && r.Moves[r.Best].Legal, "%+v, %v", r, err)
	r, err = e.Search(ctx, b, search.Limits{})
	should.Hold(t, errors.Is(err, context.Canceled) && r.Depth == 0 && r.Best >= 0 && len(r.Line) != 0, "cancelled before: %+v, %v", r, err)
}

// TestNodes ends searches after a number of positions: soon after it, and not long before.
func TestNodes(t *testing.T) {
	m, b := start(t)
	for _, workers := range []int{1, 2, 3} {
		for _, n := range []uint64{1, 100, 5_000, 50_000} {
			e := newEngine(m, search.Options{Bytes: 1 << 22, Job: job.Job{Workers: workers}})
			r, err := e.Search(t.Context(), b, search.Limits{Nodes: n})
			should.Not(t, err != nil || r.Reason != search.NodeLimit || r.Best < 0 || !r.Moves[r.Best].Legal || r.Nodes > n+n/2+100 || n > 1 && r.Nodes < n/8,
				"%d workers, %d nodes: %+v, %v", workers, n, r, err)
		}
	}
	r, err := newEngine(m, search.Options{}).Search(t.Context(), b, search.Limits{Nodes: 1 << 40, Depth: 3})
	should.Hold(t, err == nil && r.Reason == search.DepthLimit && r.Depth == 3, "depth 3 before the nodes: %+v, %v", r, err)
}

// TestDeterministic searches twice to the same depth with new engines.
func TestDeterministic(t *testing.T) {
	m, b := start(t)
	var found [2]string
	for i := range found {
		r := must.Get(newEngine(m, search.Options{Bytes: 1 << 18}).Search(t.Context(), b, search.Limits{Depth: 7}))(t)
		found[i] = fmt.Sprint(r.Nodes, r.Estimate, r.Best, r.Moves)
	}
	should.Equal(t, found[0], found[1])
}

// TestErrors has scores that cannot be read, and boards that are none.
func TestErrors(t *testing.T) {
	m, _ := start(t)
	fail := awaritest.FailAt(io.ErrUnexpectedEOF, 3)
	m.asked = func(context.Context) error { return fail() }
	r, err := newEngine(m, search.Options{Bytes: 1 << 20}).Search(t.Context(), awari.Board{1, 0, 2, 0, 1, 0, 1, 0, 1, 1}, search.Limits{})
	should.Hold(t, errors.Is(err, io.ErrUnexpectedEOF) && r == nil, "%+v, %v", r, err)
	e := newEngine(solve(t, 8, 3, awari.Awari), search.Options{Bytes: 1})
	should.Be(t, must.Err(e.Search(t.Context(), awari.Board{0, 1, 2, 3, 4, 5, 6, 7, 1}, search.Limits{})), awari.ErrBoard, "nine pits")
	should.Be(t, must.Err(e.Search(t.Context(), awari.Board{40, 9}, search.Limits{})), awari.ErrSeeds, "49 seeds")
}

// TestHangingScores: a context, or a limit of time, ends a search that waits for scores. It returns what was proven before, which is
// right, and the engine searches on with nothing wrong in its memory.
func TestHangingScores(t *testing.T) {
	m := solve(t, 8, 8, awari.Awari)
	shown := m.upTo(5)
	for _, workers := range []int{1, 3} {
		for _, after := range []int32{0, 2, 9} { // reads that do not hang until their context ends
			var reads atomic.Int32
			shown.asked = func(ctx context.Context) error {
				if reads.Add(1) > after {
					<-ctx.Done()
				}
				return ctx.Err()
			}
			e := search.New(search.NewBlocks(shown, 1), search.Options{Bytes: 1 << 20, Job: job.Job{Workers: workers}})
			for rank := uint64(1011); rank < m.Size(8); rank += 3001 {
				reads.Store(0)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
				r, err := e.Search(ctx, m.Unrank(8, rank), search.Limits{})
				cancel()
				must.Not(t, err != nil && !errors.Is(err, context.DeadlineExceeded) || r == nil, "%d workers, after %d reads: %v", workers, after, err)
				checkResult(t, m, m.Unrank(8, rank), r)
				r, err = e.Search(t.Context(), m.Unrank(8, rank), search.Limits{Time: 5 * time.Millisecond})
				must.Not(t, err != nil || r.Reason == search.Interrupted, "%d workers, after %d reads: %+v, %v", workers, after, r, err)
				checkResult(t, m, m.Unrank(8, rank), r)
			}
		}
	}
}

// TestSmallest searches with room for one bucket and none for proofs.
func TestSmallest(t *testing.T) {
	m := solve(t, 8, 6, awari.Awari)
	e := newEngine(m.upTo(2), search.Options{Bytes: 1})
	for rank := uint64(0); rank < m.Size(6); rank += 7 {
		b := m.Unrank(6, rank)
		checkResult(t, m, b, must.Get(e.Search(t.Context(), b, search.Limits{Depth: 5}))(t))
	}
}

// BenchmarkSearch searches random boards with 16 seeds above layers in memory, with one engine, and reports positions a second.
func BenchmarkSearch(b *testing.B) {
	m := solve(b, 12, 9, awari.Awari)
	space := testrun.Space(b, m.Game(), 16)
	e := newEngine(m, search.Options{Bytes: 64 << 20})
	random := rand.New(rand.NewPCG(16, 9))
	nodes := uint64(0)
	for b.Loop() {
		nodes += must.Get(e.Search(b.Context(), space.Unrank(16, random.Uint64N(space.Size(16))), search.Limits{Depth: 14}))(b).Nodes
	}
	b.ReportMetric(float64(nodes)/b.Elapsed().Seconds(), "nodes/s")
}
