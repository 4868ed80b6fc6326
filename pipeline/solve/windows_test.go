package solve_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/crew"
	"grenier/io/layerfile"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/internal/halfboard"
	"grenier/pipeline/tables"
)

// narrowOptions are those of a solver that adds a layer window by window.
func narrowOptions(t *testing.T, game awari.Game, seeds int) solve.Options {
	t.Helper()
	o := options(seeds)
	o.Memory, o.Interval = halfboard.Least(game, seeds, o.Workers), 50*time.Millisecond
	whole := halfboard.Whole(game, seeds, o.Workers)
	must.Not(t, whole <= o.Memory, "%d seeds are solved in one piece with %d bytes", seeds, o.Memory)
	return o
}

// solveNarrow solves one layer and checks that it was not in memory, and that nothing was noted.
func solveNarrow(t *testing.T, dir string, game awari.Game, o solve.Options) solve.Report {
	t.Helper()
	o.Note = func(text string) { t.Errorf("note: %s", text) }
	reports := mustSolve(t, dir, game, o)
	must.Hold(t, len(reports) == 1 && reports[0].Engine.Bits < 8 && reports[0].Engine.Windows >= 2, "not window by window: %+v", reports)
	return reports[0]
}

// TestLongWindows solves a layer that does not fit into memory. In long tests it is a larger one, stopped in each of its stages and resumed
// with other options that must not matter, one of them memory enough.
func TestLongWindows(t *testing.T) {
	game, seeds := awaritest.Game(t, 12, awari.Awari), tries.Pick(14, 16, 18) // hardly a smaller one needs windows if there is little memory
	below, want := t.TempDir(), t.TempDir()
	mustSolve(t, below, game, options(seeds-1))
	dir, o := testrun.Copy(t, below), narrowOptions(t, game, seeds)
	last, least := solve.Progress{}, solve.Progress{}
	o.Progress = progress(func(p solve.Progress) {
		should.Not(t, p.Share < last.Share || p.Share > 1 || p.RunDone < last.RunDone || p.Window < last.Window && p.Stage != "seal" ||
			p.Stage == last.Stage && p.Stage == "seal" && p.Done < last.Done, "after %+v comes %+v", last, p)
		if p.Stage == "full" && p.Window == 0 {
			least = p
		}
		last = p
	})
	r := solveNarrow(t, dir, game, o)
	streams := r.Streams()
	for stage, want := range map[string][2]bool{"capture": {false, true}, "dense": {true, true}, "full": {true, true}, "seal": {true, false}} {
		s := streams[stage]
		should.Not(t, want[0] && s.Read == 0 || want[1] && s.Written == 0 && stage != "dense" || s.Written > 0 && !want[1],
			"the %s stage has read and written %+v", stage, s)
	}
	found, read := streams["full"].Written, streams["seal"].Read
	should.Not(t, read > found, "sealing reads %d bytes, windows have written %d", read, found)
	stages := r.Stages()
	should.Not(t, stages["capture"] <= 0 || stages["dense"] <= 0 || stages["full"] <= 0 || stages["seal"] <= 0, "stages took %v", stages)
	should.Not(t, least.Share == 1, "after the first of %d windows all is said to be done: %+v", r.Engine.Windows, least)
	if !tries.Long() {
		should.Equal(t, r.Layer.Hash.String(), "54e37ef65cdf2978", "that of layers.csv of layers/awari")
		return
	}
	solveAbove(t, below, game, seeds)(want)
	sameRun(t, want, dir)
	needs, whole := func(workers int) uint64 { return halfboard.Least(game, seeds, workers) }, halfboard.Whole(game, seeds, 1)
	for stage, vary := range map[string]func(*solve.Options){
		"capture": func(o *solve.Options) { o.Workers, o.Memory = 1, whole-1 },
		"dense": func(o *solve.Options) {
			o.Workers, o.Memory, o.Family = 5, needs(5), tries.Pick(cpu.Best(), cpu.Best(), cpu.Generic)
		},
		"full": func(o *solve.Options) { o.Memory = 0 },
		"seal": func(o *solve.Options) { o.Memory, o.Interval = (needs(2)+whole)/2, time.Millisecond },
	} {
		dir, o, start := testrun.Copy(t, below), narrowOptions(t, game, seeds), time.Now()
		must.Hold(t, stopIn(t, dir, game, o, stage), "not stopped")
		stopped, again := time.Since(start), time.Now()
		if vary(&o); o.Memory == 0 {
			mustSolve(t, dir, game, o)
		} else {
			sumUp(t, solveNarrow(t, dir, game, o), stopped, time.Since(again), stage != "capture")
		}
		sameRun(t, want, dir)
	}
}

// sumUp checks that the time of a layer that was stopped is that of both runs.
func sumUp(t *testing.T, r solve.Report, stopped, rest time.Duration, kept bool) {
	stages := time.Duration(0)
	for _, took := range r.Stages() {
		stages += took
	}
	should.Not(t, r.Engine.Before < 0 || r.Engine.Before > stopped || r.Engine.Before == 0 && kept,
		"stopped after %v, %v of that are known", stopped, r.Engine.Before)
	should.Hold(t, r.Elapsed > r.Engine.Before && r.Elapsed <= r.Engine.Before+rest && r.Layer.Seconds == r.Elapsed.Seconds(),
		"%v before and %v since make %v, %v s in the manifest", r.Engine.Before, rest, r.Elapsed, r.Layer.Seconds)
	should.Not(t, stages > r.Elapsed || stages <= 0, "stages take %v of %v", stages, r.Elapsed)
}

// stopIn solves until a report of the stage that is neither its first nor its end, if there is one, and reports whether that stopped it.
func stopIn(t *testing.T, dir string, game awari.Game, o solve.Options, stage string) bool {
	t.Helper()
	return stopWhen(t, dir, game, o, func(p solve.Progress) bool { return p.Stage == stage && (p.Done > p.Positions/3 || p.Sweep > 2) })
}

// TestStale leaves the work of a layer that is sealed, as a crash just then does.
func TestStale(t *testing.T) {
	s, o := newStepper(t), options(stepSeeds)
	o.Bits, o.Interval = 4, 1
	must.Hold(t, stopIn(t, s.dir, s.game, o, "seal"), "not stopped")
	work := os.DirFS(filepath.Join(s.dir, rundir.WorkName)) // of what is sealed by now
	found := must.Get(fs.Glob(work, "window-*"))(t)
	must.Not(t, len(found) == 0, "no windows are left")
	o.Note = func(text string) { t.Errorf("note: %s", text) }
	for _, o.Bits = range []int{0, 4} {
		dir := testrun.Copy(t, s.want)
		must.OK(t, os.CopyFS(filepath.Join(dir, rundir.WorkName), work))
		o.Seeds = stepSeeds
		mustSolve(t, dir, s.game, o)
		must.Empty(t, filepath.Join(dir, rundir.WorkName))
		must.OK(t, os.CopyFS(filepath.Join(dir, rundir.WorkName), work))
		o.Seeds = stepSeeds + 1
		mustSolve(t, dir, s.game, o)
		sameRun(t, s.above(t), dir)
	}
}

// parts is a layer with one part at a time in memory.
type parts struct {
	given
	t          *testing.T
	size       uint64       // of a part
	mu         sync.RWMutex // nobody reads while it is held
	begin, end uint64       // in memory
	loads      int
	sample     bool                    // is in memory, instead
	fail       func(what string) error // called in each method
}

func (p *parts) Load(_ context.Context, start uint64, _ func(uint64)) (uint64, error) {
	if !p.mu.TryLock() {
		p.t.Error("somebody reads while a part is loaded")
		p.mu.Lock()
	}
	defer p.mu.Unlock()
	should.Hold(p.t, start%p.size == 0 && start == p.end, "loading from %d on after %d", start, p.end)
	p.loads++
	p.sample, p.begin, p.end = false, start, min(start+p.size, p.Positions())
	return p.end, p.fail("load")
}

func (p *parts) LoadSample(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sample = true
	return p.fail("load the sample")
}

func (p *parts) Close() error { return errors.Join(p.given.Close(), p.fail("close")) }

func (p *parts) Read(start uint64, dst []int8) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	should.Not(p.t, !p.sample && (start < p.begin || start+uint64(len(dst)) > p.end),
		"%d scores from %d on are not in memory", len(dst), start)
	what := "read"
	if p.sample {
		what = "sample"
	}
	if err := p.fail(what); err != nil {
		return err
	}
	return p.given.Read(start, dst)
}

// partsRun is a directory that lacks a layer, which comes in parts.
type partsRun struct {
	game   awari.Game
	dir    string
	n      int
	scores []int8
	want   string // the contents of its file
}

func newPartsRun(t *testing.T) (r partsRun) {
	t.Helper()
	r = partsRun{game: awaritest.Game(t, 12, awari.Awari), dir: filepath.Join(t.TempDir(), "run"), n: tries.More(9, 11)}
	mustSolve(t, r.dir, r.game, options(r.n-1))
	whole := testrun.Copy(t, r.dir)
	mustSolve(t, whole, r.game, options(r.n))
	r.want = must.Tree(t, whole)[rundir.LayerName(r.n)]
	solved := must.Get(tables.Open(t.Context(), whole))(t)
	defer solved.Close()
	r.scores = make([]int8, solved.Layers()[r.n].Positions)
	must.OK(t, solved.Read(t.Context(), r.n, 0, r.scores))
	return r
}

// add adds the layer, in parts of so many blocks.
func (r *partsRun) add(t *testing.T, ctx context.Context, dir string, o solve.Options, blocks int, fail func(string) error) (p *parts, err error) {
	t.Helper()
	p = &parts{given: given{n: r.n, scores: r.scores}, t: t, size: uint64(blocks) * layerfile.MaxBlockSize, fail: fail}
	tries.Within(t, "sealing", func() { _, err = solve.Add(ctx, dir, r.game, r.n, o, giving(p)) })
	return p, err
}

func never(string) error { return nil }

// TestLongSealInParts: the same file, whatever the size of parts and the number of workers.
func TestLongSealInParts(t *testing.T) {
	r := newPartsRun(t)
	sizes := tries.More([]int{1, 2}, []int{1, 2, 4, 100})
	for _, blocks := range sizes {
		for _, workers := range []int{1, 3} {
			dir, o := testrun.Copy(t, r.dir), options(0)
			o.Workers = workers
			p, err := r.add(t, t.Context(), dir, o, blocks, never)
			all := (len(r.scores) + layerfile.MaxBlockSize - 1) / layerfile.MaxBlockSize
			want := (all + blocks - 1) / blocks
			should.Hold(t, err == nil && p.loads == want && p.closed == 1,
				"parts of %d blocks: %d loaded, want %d, closed %d times; %v", blocks, p.loads, want, p.closed, err)
			should.Hold(t, must.Tree(t, dir)[rundir.LayerName(r.n)] == r.want,
				"parts of %d blocks, %d workers: another file", blocks, workers)
		}
	}
}

// TestLongSealFails: a failure, a panic or the end of the context, in whatever stage, ends the sealing and changes nothing.
func TestLongSealFails(t *testing.T) {
	r := newPartsRun(t)
	rng := tries.Rand(t)
	before := must.Tree(t, r.dir)
	bad := errors.New("disk on fire")
	most := tries.More(map[string]int{"load the sample": 1, "sample": 40, "load": 1, "read": 3, "write": 2, "close": 1},
		map[string]int{"load the sample": 1, "sample": 50, "load": 3, "read": 11, "write": 8, "close": 1}) // calls
	attempts := tries.More(1, 4)
	for where := range most {
		for how, want := range []error{bad, nil, context.Canceled} {
			if how == 1 && (where == "load the sample" || where == "sample") || how > 0 && where == "close" {
				continue // that ends the program, as any panic of its main goroutine, or comes too late
			}
			for range attempts {
				ctx, cancel := context.WithCancel(t.Context())
				at := 1 + rng.IntN(most[where])
				var mu sync.Mutex
				calls := 0
				fail := func(what string) error {
					mu.Lock()
					defer mu.Unlock()
					if what == where {
						calls++
					}
					switch {
					case what != where || calls != at:
					case how == 0:
						return bad
					case how == 1:
						panic("a bug")
					default:
						cancel()
					}
					return nil
				}
				o := options(0)
				o.Workers = 1 + rng.IntN(4)
				o.Progress = func(job.Step) {
					if err := fail("write"); err != nil {
						panic(err) // it cannot fail otherwise
					}
				}
				what := fmt.Sprintf("%s %d, way %d, %d workers", where, at, how, o.Workers)
				p, err := r.add(t, ctx, r.dir, o, 1+rng.IntN(4), fail)
				cancel()
				_, bug := errors.AsType[*crew.PanicError](err)
				if where == "write" && how == 0 || how == 1 {
					should.Hold(t, bug, "%s: %v", what, err)
				} else if !errors.Is(err, want) || !strings.Contains(err.Error(), fmt.Sprintf("layer %d", r.n)) {
					t.Errorf("%s: %v", what, err)
				}
				should.Hold(t, p.closed == 1, "%s: closed %d times", what, p.closed)
				must.Equal(t, cmp.Diff(before, must.Tree(t, r.dir)), "", "%s: the directory has changed", what)
			}
		}
	}
}
