package solve_test

import (
	"context"
	"errors"
	"fmt"
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
	"grenier/io/vfs"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

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
	r = partsRun{game: awaritest.Game(t, 12, awari.Awari), dir: filepath.Join(t.TempDir(), "run"), n: 11}
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
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err = solve.Add(ctx, dir, r.game, r.n, o, func(context.Context, *tables.Tables, vfs.Dir) (solve.Source, error) { return p, nil })
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		t.Fatal("sealing hangs")
	}
	return p, err
}

func never(string) error { return nil }

// TestLongSealInParts: the same file, whatever the size of parts and the number of workers.
func TestLongSealInParts(t *testing.T) {
	r := newPartsRun(t)
	sizes := tries.More([]int{1, 4}, []int{1, 2, 4, 100})
	for _, blocks := range sizes {
		for _, workers := range []int{1, 3} {
			dir, o := testrun.Copy(t, r.dir), options(0)
			o.Workers = workers
			p, err := r.add(t, t.Context(), dir, o, blocks, never)
			all := (len(r.scores) + layerfile.MaxBlockSize - 1) / layerfile.MaxBlockSize
			if want := (all + blocks - 1) / blocks; err != nil || p.loads != want || p.closed != 1 {
				t.Errorf("parts of %d blocks: %d loaded, want %d, closed %d times; %v", blocks, p.loads, want, p.closed, err)
			}
			should.Hold(t, must.Tree(t, dir)[rundir.LayerName(r.n)] == r.want,
				"parts of %d blocks, %d workers: another file", blocks, workers)
		}
	}
}

// TestLongSealFails: a failure, a panic or the end of the context, in whatever stage, ends the
// sealing and changes nothing.
func TestLongSealFails(t *testing.T) {
	r := newPartsRun(t)
	rng := tries.Rand(t)
	before := must.Tree(t, r.dir)
	bad := errors.New("disk on fire")
	most := map[string]int{"load the sample": 1, "sample": 50, "load": 3, "read": 11, "write": 8} // calls
	attempts := tries.More(1, 4)
	for where := range most {
		for how, want := range []error{bad, nil, context.Canceled} {
			if how == 1 && (where == "load the sample" || where == "sample") {
				continue // that ends the program, as any panic of its main goroutine
			}
			for range attempts {
				ctx, cancel := context.WithCancel(t.Context())
				at := 1 + rng.IntN(most[where])
				var mu sync.Mutex
				calls := 0
				fail := func(what string) error {
					mu.Lock()
					defer mu.Unlock()
					if what != where {
						return nil
					}
					if calls++; calls != at {
						return nil
					}
					switch how {
					case 0:
						return bad
					case 1:
						panic("a bug")
					}
					cancel()
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
