package solve_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

// retrograde returns the options of that engine.
func retrograde(seeds int) solve.Options {
	o := options(seeds)
	o.Engine = solve.Retrograde
	return o
}

// TestEngines: both engines write the same files, also one after the other, and over what an
// interrupted run of the other one has left.
func TestEngines(t *testing.T) {
	for _, c := range []struct{ pits, seeds int }{{4, 9}, {8, 6}, {12, 5}} {
		for _, rules := range awari.RuleSets() {
			game := awaritest.Game(t, c.pits, rules)
			want, got, turns := t.TempDir(), t.TempDir(), t.TempDir()
			mustSolve(t, want, game, options(c.seeds))
			for _, r := range mustSolve(t, got, game, retrograde(c.seeds)) {
				a := r.Accesses
				if a == nil || a.Init != r.Layer.Positions || a.Total < a.Init || r.Cost != uint64(c.pits+2+r.Layer.Seeds)*a.Init {
					t.Errorf("%s, layer %d: accesses %+v, cost %d", game.Name(), r.Layer.Seeds, a, r.Cost)
				}
				if s := r.Engine; s.Sweeps < 1 || s.Sweeps > r.Layer.Seeds+1 || s.Bits != 8 || s.Windows != 1 || s.Bytes == 0 {
					t.Errorf("%s, layer %d: %+v", game.Name(), r.Layer.Seeds, s)
				}
			}
			sameRun(t, want, got)
			if c.pits > 4 {
				continue
			}
			for n := range c.seeds + 1 {
				o := options(n)
				if n%2 == 1 {
					o = retrograde(n)
				}
				mustSolve(t, turns, game, o)
			}
			sameRun(t, want, turns)
		}
	}
}

// TestRetrogradeInterrupted: an interrupted layer begins again.
func TestRetrogradeInterrupted(t *testing.T) {
	game := awaritest.Game(t, 12, awari.Awari)
	want, dir := t.TempDir(), t.TempDir()
	mustSolve(t, want, game, options(7))
	for _, stage := range []string{"capture", "dense", "seal"} {
		ctx, cancel := context.WithCancel(t.Context())
		o := retrograde(7)
		last := solve.Progress{}
		o.Progress = func(step job.Step) {
			p := step.Detail.(solve.Progress)
			should.Not(t, p.RunDone < last.RunDone || p.RunDone > p.RunTotal, "%+v after %+v", p, last)
			last = p
			if p.Stage == stage && p.Seeds >= 6 {
				cancel()
			}
		}
		_, err := solve.Solve(ctx, dir, game, o)
		cancel()
		must.Not(t, err != nil && !errors.Is(err, context.Canceled), "%v", err)
		should.Not(t, last.Seeds < 6, "%s: the last report is about layer %d", stage, last.Seeds)
	}
	mustSolve(t, dir, game, retrograde(7))
	sameRun(t, want, dir)
}

// TestRetrogradeMemory: what needs more memory than is allowed is refused before anything is changed.
func TestRetrogradeMemory(t *testing.T) {
	game := awaritest.Game(t, 12, awari.Awari)
	dir := t.TempDir()
	o := retrograde(20)
	o.Memory = 100 << 20
	_, err := solve.Solve(t.Context(), dir, game, o)
	refused, ok := errors.AsType[*memory.Error](err)
	must.Hold(t, ok && strings.Contains(err.Error(), "enough up to layer "), "layer 20 in 100 MiB: %v", err)
	should.Not(t, refused.Need < 84_672_315*29, "%d bytes for 84,672,315 boards", refused.Need)
	files := must.Tree(t, dir)
	should.Hold(t, len(files) == 1, "%d entries in the directory", len(files))
	o.Memory = refused.Need
	should.Be(t, o.Check(game), nil, "what is said to be needed is refused")
}

// given is a layer in memory.
type given struct {
	n      int
	scores []int8
	closed int
}

func (g *given) Seeds() int                          { return g.n }
func (g *given) Positions() uint64                   { return uint64(len(g.scores)) }
func (g *given) Read(start uint64, dst []int8) error { copy(dst, g.scores[start:]); return nil }
func (g *given) Close() error                        { g.closed++; return nil }

// TestAdd: layers that are added are the same files as those that are solved.
func TestAdd(t *testing.T) {
	game, from := awaritest.Game(t, 6, awari.Strict), t.TempDir()
	mustSolve(t, from, game, options(6))
	solved := must.Get(tables.Open(t.Context(), from))(t)
	defer solved.Close()
	dir := filepath.Join(t.TempDir(), "run")
	for n := range 7 {
		g := &given{n: n, scores: make([]int8, solved.Layers()[n].Positions)}
		must.OK(t, solved.Read(t.Context(), n, 0, g.scores))
		last := solve.Progress{}
		o := options(0)
		o.Progress = func(s job.Step) { last = s.Detail.(solve.Progress) }
		o.Memory = 1 << 20 // too little to solve a layer: sealing needs none of that
		report, err := solve.Add(t.Context(), dir, game, n, o, func(_ context.Context, lower *tables.Tables, work vfs.Dir) (solve.Source, error) {
			if lower.MaxSeeds() != n-1 || work.Path("") != filepath.Join(dir, rundir.WorkName) {
				t.Errorf("layer %d: layers up to %d, %s", n, lower.MaxSeeds(), work.Path(""))
			}
			return g, nil
		})
		should.Hold(t, err == nil && g.closed == 1 && report.Layer.Hash == solved.Layers()[n].Hash && last.Done == last.Positions && last.RunDone == last.RunTotal,
			"layer %d: closed %d times, %+v, %+v, error %v", n, g.closed, report.Layer, last, err)
	}
	for n := range 7 {
		name := rundir.LayerName(n)
		should.Equal(t, cmp.Diff(must.Tree(t, from)[name], must.Tree(t, dir)[name]), "", "%s differs", name)
	}
}

// TestAddRefused: a layer that is not the next one, or cannot be opened, changes nothing.
func TestAddRefused(t *testing.T) {
	game, dir := awaritest.Game(t, 4, awari.Awari), filepath.Join(t.TempDir(), "run")
	broken := errors.New("broken")
	opened := 0
	open := func(context.Context, *tables.Tables, vfs.Dir) (solve.Source, error) { opened++; return nil, broken }
	var order *solve.OrderError
	_, err := solve.Add(t.Context(), dir, game, 2, options(0), open)
	should.Hold(t, errors.As(err, &order) && order.Next == 0, "error %v", err)
	mustSolve(t, dir, game, options(3))
	before := must.Tree(t, dir)
	for _, n := range []int{0, 3, 5} {
		_, err := solve.Add(t.Context(), dir, game, n, options(0), open)
		should.Hold(t, errors.As(err, &order) && order.Next == 4 && order.Seeds == n, "layer %d: error %v", n, err)
	}
	should.Be(t, must.Err(solve.Add(t.Context(), dir, awaritest.Game(t, 4, awari.Strict), 4, options(0), open)), rundir.ErrOtherRun)
	should.Be(t, must.Err(solve.Add(t.Context(), dir, game, 49, options(0), open)), awari.ErrSeeds)
	should.Not(t, opened > 0, "opened %d times", opened)
	_, err = solve.Add(t.Context(), dir, game, 4, options(0), open)
	should.Hold(t, errors.Is(err, broken) && opened == 1, "opened %d times, error %v", opened, err)
	must.Same(t, "changed", before, must.Tree(t, dir))
}

// TestAddImpossible: a layer with scores that no board of it has is not sealed, wherever the scores are.
func TestAddImpossible(t *testing.T) {
	game, dir := awaritest.Game(t, 12, awari.Awari), t.TempDir()
	mustSolve(t, dir, game, options(8))
	before := must.Tree(t, dir)
	for _, at := range []int{0, 70_000, 167_959} {
		g := &given{n: 9, scores: make([]int8, 167_960)}
		g.scores[at] = -10
		_, err := solve.Add(t.Context(), dir, game, 9, options(0), func(context.Context, *tables.Tables, vfs.Dir) (solve.Source, error) {
			return g, nil
		})
		should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && g.closed == 1, "rank %d: closed %d times, error %v", at, g.closed, err)
		should.Equal(t, cmp.Diff(before, must.Tree(t, dir)), "", "rank %d: the directory has changed", at)
	}
}
