package search_test

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/play/search"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start returns the board with four seeds in each of 12 pits, and few tables.
func start(t testing.TB) (*memory, awari.Board) {
	t.Helper()
	m := solve(t, 12, 5, awari.Awari)
	return m, must.Get(m.Game().Start(4))(t)
}

func TestLimits(t *testing.T) {
	m, b := start(t)
	depths := 0
	e := newEngine(m, search.Options{Bytes: 1 << 20, Job: job.Job{Progress: func(job.Step) { depths++ }}})
	r, err := e.Search(t.Context(), b, search.Limits{Depth: 5})
	should.Not(t, err != nil || r.Reason != search.DepthLimit || r.Depth != 5 || r.Exact() || r.Nodes == 0 || r.NodesPerSecond <= 0,
		"depth 5: %+v, %v", r, err)
	depths = 0
	r, err = e.Search(t.Context(), b, search.Limits{Time: 100 * time.Millisecond})
	should.Hold(t, err == nil && r.Reason == search.TimeLimit && r.Depth != 0 && depths >= r.Depth,
		"100 ms: %+v, %v; %d reports", r, err, depths)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	r, err = e.Search(ctx, b, search.Limits{})
	should.Hold(t, errors.Is(err, context.Canceled) && r.Reason == search.Interrupted && r.Best >= 0 && r.Moves[r.Best].Legal,
		"cancelled: %+v, %v", r, err)
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
	var all []*search.Result
	for range 2 {
		r := must.Get(newEngine(m, search.Options{Bytes: 1 << 18}).Search(t.Context(), b, search.Limits{Depth: 7}))(t)
		all = append(all, r)
	}
	x, y := all[0], all[1]
	should.Hold(t, x.Nodes == y.Nodes && x.Estimate == y.Estimate && x.Best == y.Best && x.Moves == y.Moves, "%+v\n%+v", x, y)
}

func TestFailingScores(t *testing.T) {
	m, b := start(t)
	failed := errors.New("unreadable")
	asked := 0
	m.asked = func() error {
		if asked++; asked > 2 {
			return failed
		}
		return nil
	}
	b = awari.Board{1, 0, 2, 0, 1, 0, 1, 0, 1, 1}
	r, err := newEngine(m, search.Options{Bytes: 1 << 20}).Search(t.Context(), b, search.Limits{})
	should.Hold(t, errors.Is(err, failed) && r == nil, "%+v, %v", r, err)
}

// hanging has scores that cannot be read, once its reads begin to hang, before their context ends.
type hanging struct {
	*memory
	reads atomic.Int32
	after int32
}

func (h *hanging) wait(ctx context.Context) error {
	if h.reads.Add(1) <= h.after {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (h *hanging) Read(ctx context.Context, n int, rank uint64, dst []int8) error {
	return cmp.Or(h.wait(ctx), h.memory.Read(ctx, n, rank, dst))
}

func (h *hanging) ReadOne(ctx context.Context, n int, rank uint64) (int8, error) {
	score, err := h.memory.ReadOne(ctx, n, rank)
	return score, cmp.Or(h.wait(ctx), err)
}

// TestHangingScores: a context, or a limit of time, ends a search that waits for scores. It returns what was proven before, which is
// right, and the engine searches on with nothing wrong in its memory.
func TestHangingScores(t *testing.T) {
	m := solve(t, 8, 8, awari.Awari)
	shown := *m
	shown.shown = 5
	for _, workers := range []int{1, 3} {
		for _, after := range []int32{0, 2, 9} {
			h := &hanging{memory: &shown, after: after}
			e := search.New(search.NewBlocks(h, 1), search.Options{Bytes: 1 << 20, Job: job.Job{Workers: workers}})
			for rank := uint64(1011); rank < m.Size(8); rank += 3001 {
				h.reads.Store(0)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
				r, err := e.Search(ctx, m.Unrank(8, rank), search.Limits{})
				cancel()
				must.Not(t, err != nil && !errors.Is(err, context.DeadlineExceeded) || r == nil,
					"%d workers, after %d reads: %v", workers, after, err)
				checkResult(t, m, m.Unrank(8, rank), r)
				r, err = e.Search(t.Context(), m.Unrank(8, rank), search.Limits{Time: 5 * time.Millisecond})
				must.Not(t, err != nil || r.Reason == search.Interrupted, "%d workers, after %d reads: %+v, %v", workers, after, r, err)
				checkResult(t, m, m.Unrank(8, rank), r)
			}
		}
	}
}

func TestBadBoards(t *testing.T) {
	m := solve(t, 8, 3, awari.Awari)
	e := newEngine(m, search.Options{Bytes: 1})
	should.Be(t, must.Err(e.Search(t.Context(), awari.Board{0, 1, 2, 3, 4, 5, 6, 7, 1}, search.Limits{})), awari.ErrBoard, "nine pits")
	should.Be(t, must.Err(e.Search(t.Context(), awari.Board{40, 9}, search.Limits{})), awari.ErrSeeds, "49 seeds")
}

// TestSmallest searches with room for one bucket and none for proofs.
func TestSmallest(t *testing.T) {
	m := solve(t, 8, 6, awari.Awari)
	shown := *m
	shown.shown = 2
	e := newEngine(&shown, search.Options{Bytes: 1})
	for rank := range m.Size(6) {
		if rank%7 != 0 {
			continue
		}
		b := m.Unrank(6, rank)
		checkResult(t, m, b, must.Get(e.Search(t.Context(), b, search.Limits{Depth: 5}))(t))
	}
}

// BenchmarkSearch searches random boards with 16 seeds above layers in memory, with one engine, and
// reports positions a second.
func BenchmarkSearch(b *testing.B) {
	m := solve(b, 12, 9, awari.Awari)
	space, err := awari.NewSpace(m.Game(), 16)
	if err != nil {
		b.Fatal(err)
	}
	e := newEngine(m, search.Options{Bytes: 64 << 20})
	random := rand.New(rand.NewPCG(16, 9))
	nodes := uint64(0)
	for b.Loop() {
		r, err := e.Search(b.Context(), space.Unrank(16, random.Uint64N(space.Size(16))), search.Limits{Depth: 14})
		if err != nil {
			b.Fatal(err)
		}
		nodes += r.Nodes
	}
	b.ReportMetric(float64(nodes)/b.Elapsed().Seconds(), "nodes/s")
}
