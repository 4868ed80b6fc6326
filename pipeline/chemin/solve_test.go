package chemin

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/layers/chemin"
	"grenier/pipeline/internal/runs"
	"grenier/pipeline/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func board(t testing.TB, rows, cols int) *chemin.Board {
	t.Helper()
	return must.Get(chemin.New(rows, cols))(t)
}

func solve(t testing.TB, rows, cols int, opts Options) *Result {
	t.Helper()
	opts.Memory, opts.Workers = max(opts.Memory, 256<<20), 2
	r := must.Get(Solve(context.Background(), board(t, rows, cols), opts))(t)
	must.Hold(t, r.Exact(), "%d x %d, %s: bounds %d and %d", rows, cols, opts.Method, r.Lower, r.Upper)
	return r
}

// fields returns counts in the order of the reference file, "-" where there is none.
func fields(c *Counts) []string {
	if c == nil {
		c = &Counts{}
	}
	return []string{number(c.Total), number(c.UpToSymmetry), number(c.Optimal), number(c.OptimalUpToSymmetry)}
}

func number(n *uint64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatUint(*n, 10)
}

// ending returns the number of optimal orders that end in the score, "-" if it is not known.
func ending(r *Result) string {
	if r.Orders == nil {
		return "-"
	}
	return number(r.Orders.OptimalEnding)
}

func agree(t *testing.T, what string, c *Counts, want ...string) {
	t.Helper()
	for i, got := range fields(c) {
		should.Not(t, got != "-" && got != want[i], "%s: %v, want %v", what, fields(c), want)
	}
}

// TestLongReference compares all methods with values from elsewhere. Short tests do not play all orders of the largest boards.
func TestLongReference(t *testing.T) {
	found, most := map[Method]int{}, map[Method]int{Naive: tries.More(7, 9), Classes: tries.More(7, 9), Orientations: tries.More(8, 9), Layers: 9}
	for _, r := range must.Rows(t, "../../layers/chemin/testdata/small.csv") { // 12 boards
		rows, cols := must.Get(strconv.Atoi(r[0]))(t), must.Get(strconv.Atoi(r[1]))(t)
		for _, method := range []Method{Naive, Classes, Orientations, Layers} {
			if rows*cols > most[method] {
				continue
			}
			what := fmt.Sprintf("%d x %d, %s", rows, cols, method)
			got := solve(t, rows, cols, Options{Method: method})
			should.Equal(t, fmt.Sprint(got.Lower), r[9], "%s: maximum", what)
			agree(t, what+", orders", got.Orders, r[3], r[4], r[10], r[11])
			agree(t, what+", orientations", got.Orientations, r[5], r[6], r[12], r[13])
			agree(t, what+", grids", got.Grids, r[7], r[8], r[14], r[15])
			all := slices.Concat(fields(got.Orders), fields(got.Orientations), fields(got.Grids))
			found[method] += len(slices.DeleteFunc(all, func(n string) bool { return n == "-" }))
			leaves := map[Method]string{Naive: r[3], Classes: r[4]}[method]
			should.Not(t, leaves != "" && fmt.Sprint(got.Leaves) != leaves, "%s: %d leaves, want %s", what, got.Leaves, leaves)
			want := map[Method]string{Naive: r[11], Classes: r[11], Orientations: r[13], Layers: r[13]}[method]
			should.Hold(t, fmt.Sprint(len(got.Solutions)) == want, "%s: %d solutions, want %s", what, len(got.Solutions), want)
			checkSolutions(t, board(t, rows, cols), got)
		}
	}
	// Every method must find what it promises.
	must.Same(t, "numbers found", map[Method]int{Naive: tries.More(9, 12) * 12, Classes: tries.More(9, 12) * 12, Orientations: tries.More(11, 12) * 12, Layers: 12 * 12}, found)
}

func checkSolutions(t *testing.T, b *chemin.Board, r *Result) {
	t.Helper()
	for _, s := range r.Solutions {
		should.List(t, must.Get(b.Play(s.Order))(t), s.Grid, "order %v makes", s.Order)
		should.Equal(t, slices.Max(s.Grid), r.Lower, "order %v: the maximum", s.Order)
	}
}

// TestLongEnding compares the numbers of best orders that end in the score with all orders played one by one.
func TestLongEnding(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}, {2, 2}, {2, 3}, {3, 2}, {6, 1}, {1, 7}}[:tries.More(8, 10)] {
		b := board(t, size[0], size[1])
		want, best := 0, uint32(0)
		for order := range tries.Orders(b.Cells()) {
			grid := must.Get(b.Play(order))(t)
			score := slices.Max(grid)
			if score > best {
				want, best = 0, score
			}
			if score == best && grid[order[len(order)-1]] == best {
				want++
			}
		}
		for _, method := range []Method{Naive, Classes, Orientations, Layers} {
			got := ending(solve(t, size[0], size[1], Options{Method: method}))
			should.Hold(t, got == strconv.Itoa(want), "%v, %s: %s best orders end in the score, want %d", size, method, got, want)
		}
	}
}

// TestLongAll lists every optimal solution.
func TestLongAll(t *testing.T) {
	for method, want := range map[Method]int{Naive: 32, Classes: 32, Orientations: 16, Layers: 16} {
		if method == Naive && !tries.Long() {
			continue
		}
		r := solve(t, 3, 3, Options{Method: method, All: true})
		seen := map[string]bool{}
		for _, s := range r.Solutions {
			seen[fmt.Sprint(s.Order)] = true
		}
		should.Hold(t, len(r.Solutions) == want && len(seen) == want,
			"%s: %d solutions, %d differ, want %d", method, len(r.Solutions), len(seen), want)
		checkSolutions(t, board(t, 3, 3), r)
	}
}

// TestLongWorkers compares searches with different numbers of workers, also where there are more solutions than are listed.
func TestLongWorkers(t *testing.T) {
	type search struct {
		rows, cols int
		method     Method
		memory     uint64
		cut        bool
	}
	const much = 128 << 20
	searches := []search{
		{1, 8, Classes, runs.LeastMemory(7), true}, {2, 3, Naive, much, false}, {2, 3, Orientations, much, false}, {2, 3, Layers, much, false},
		{2, 4, Orientations, much, false}, {2, 4, Layers, much, false}, {2, 4, Classes, much, false}, {3, 3, Classes, much, false},
		{1, 8, Classes, much, false}, {1, 16, Orientations, runs.LeastMemory(7), true},
		{2, 4, Naive, much, false}, {3, 3, Orientations, much, false},
	}
	for _, tt := range searches[:tries.Pick(4, 10, 12)] {
		var want []any
		for _, workers := range []int{1, 7} {
			opts := Options{Job: job.Job{Memory: tt.memory, Workers: workers}, Method: tt.method}
			r := must.Get(Solve(t.Context(), board(t, tt.rows, tt.cols), opts))(t)
			should.Equal(t, r.Cut, tt.cut, "%+v: cut", tt)
			got := append(known(r), r.Leaves)
			if want == nil {
				want = got
			}
			if !reflect.DeepEqual(want, got) { // quicker than a diff
				t.Errorf("%+v: %d workers (-1 +%d)\n%.500s", tt, workers, workers, cmp.Diff(want, got))
			}
		}
	}
}

// TestLongLarger compares the methods on boards that are too large to visit every order of.
func TestLongLarger(t *testing.T) {
	sizes := [][3]int{
		{1, 10, 2}, {2, 5, 108}, {2, 6, 324}, {3, 4, 300},
		{1, 12, 2}, {4, 3, 300}, {2, 7, 972}, {2, 8, 2916}, {3, 5, 1500}, {4, 4, 2473}, {3, 6, 7557},
	}
	for _, size := range sizes[:tries.Pick(1, 4, 11)] {
		one := solve(t, size[0], size[1], Options{Method: Layers})
		other := solve(t, size[0], size[1], Options{Method: Orientations})
		should.Hold(t, one.Lower == uint32(size[2]) && other.Lower == one.Lower, "%v: layers find %d, the other %d", size, one.Lower, other.Lower)
		should.Hold(t, slices.Equal(fields(one.Orders), fields(other.Orders)),
			"%v: layers counts orders %v, orientations %v", size, fields(one.Orders), fields(other.Orders))
	}
}

var small = job.Job{Memory: 80 << 20, Workers: 2}

// TestTimeLimit stops each method at once: the bounds must enclose the maximum, and the end of the context is told.
func TestTimeLimit(t *testing.T) {
	b := board(t, 3, 4)
	for _, method := range []Method{Classes, Orientations, Layers} {
		r, err := Solve(context.Background(), b, Options{Job: small, Method: method, Time: time.Millisecond})
		must.Hold(t, err == nil && r.Lower <= 300 && r.Upper >= 300 && !r.Exact() && len(r.Solutions) == 1, "%s: %+v, %v", method, r, err)
		should.Hold(t, slices.Max(r.Solutions[0].Grid) == r.Lower, "%s: lower bound %d of the order %v", method, r.Lower, r.Solutions[0])
		should.Be(t, must.Err(Solve(must.Ended(t), b, Options{Job: small, Method: method})), context.Canceled, "%s", method)
	}
}

func TestOptions(t *testing.T) {
	for _, opts := range []Options{{Job: small, Method: "other"}, {Job: small, Method: Classes, Dir: "x"}} {
		should.Be(t, must.Err(Solve(context.Background(), board(t, 2, 2), opts)), ErrOption, "%+v", opts)
	}
	for _, little := range []uint64{0, 1, runs.LeastMemory(3) - 1} {
		err := must.Err(Solve(t.Context(), board(t, 2, 2), Options{Job: job.Job{Memory: little, Workers: 3}, Method: Layers}))
		refused := must.As[*memory.Error](t, err, "%d bytes", little)
		should.Hold(t, refused.Need == runs.LeastMemory(3) && refused.Allowed == little, "%d bytes: %v", little, err)
	}
}

// sweepAll runs a sweep to the end and returns the states of each layer, and the bytes of its work file, if it has one.
func sweepAll(t *testing.T, s *sweep) (states []int, bytes int64) {
	t.Helper()
	must.OK(t, s.run(t.Context(), func() {
		if s.layer.filled > 0 {
			states = append(states, s.layer.N)
		}
	}, func() ([]byte, error) { return nil, nil }))
	s.store.Drop(s.layer.Run)
	should.Equal(t, s.store.Held(), 0, "bytes are still held")
	if s.store.Dir == nil {
		return states, 0
	}
	return states, s.store.Dir.Size()
}

func newTestSweep(b *chemin.Board, room int64, target uint32) *sweep {
	s := &sweep{board: b, bounds: &bounds{board: b}, best: &incumbent{}, workers: 2, store: &runs.Store{Most: 1 << 30}, room: room}
	if target > 0 {
		s.counting, s.target = true, target
	}
	return s
}

// TestSpill runs sweeps that have next to no room for records at work: many runs, merged two at a time.
func TestSpill(t *testing.T) {
	b := board(t, 3, 3)
	for _, tt := range []struct {
		target  uint32
		optimal uint64
	}{{0, 0}, {57, 32}} {
		large := newTestSweep(b, 1<<30, tt.target)
		want, _ := sweepAll(t, large)
		const little = 2*runs.WriterBytes + 1<<14
		for _, dir := range []string{"", t.TempDir()} {
			small := newTestSweep(b, little, tt.target)
			if dir != "" {
				must.OK(t, must.Err((&solver{Options: Options{Dir: dir}, board: b, store: small.store}).openDir()))
			}
			got, bytes := sweepAll(t, small)
			if dir != "" {
				should.Not(t, bytes == 0, "nothing was written")
				must.OK(t, small.store.Dir.Close())
			}
			if tt.target == 0 {
				// Fewer comparisons leave more states, never less.
				for i := range want {
					should.Not(t, got[i] < want[i], "layer %d: %d states, %d at once", i+1, got[i], want[i])
				}
				should.Equal(t, small.best.score.Load(), 57, "found")
				should.Equal(t, large.best.score.Load(), 57, "found at once")
				continue
			}
			should.Hold(t, slices.Equal(got, want) && small.optimal.Load() == tt.optimal && large.optimal.Load() == tt.optimal,
				"states %v, %d orders; at once %v, %d; want %d orders", got, small.optimal.Load(), want, large.optimal.Load(), tt.optimal)
		}
	}
}

// TestCountingStates compares the states of a sweep that drops none with those found by filling boards.
func TestCountingStates(t *testing.T) {
	b := board(t, 2, 3)
	got, _ := sweepAll(t, newTestSweep(b, 1<<30, 1000)) // never reached
	known := map[chemin.State]uint32{}
	rest(b, &chemin.State{}, known)
	classes := map[chemin.State]bool{}
	want := make([]int, b.Cells()-1)
	for s := range known {
		if to, _ := b.Canonical(&s); s.Filled != 0 && s.Filled != b.Full() && !classes[to] {
			classes[to] = true
			want[bits.OnesCount32(s.Filled)-1]++
		}
	}
	should.List(t, got[:len(want)], want, "states")
}

// rest returns the largest number that can still be written, by trying everything.
func rest(b *chemin.Board, s *chemin.State, known map[chemin.State]uint32) uint32 {
	if best, ok := known[*s]; ok {
		return best
	}
	best := uint32(0)
	for cell := range b.Cells() {
		if s.Filled>>cell&1 == 0 {
			next, value := b.Fill(s, cell)
			best = max(best, value, rest(b, &next, known))
		}
	}
	known[*s] = best
	return best
}

// TestBound compares the bound of every state with what is possible: never less, and the same as long as no vectors are merged.
func TestBound(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 5}, {2, 3}, {2, 4}, {3, 3}} {
		b := board(t, size[0], size[1])
		known := map[chemin.State]uint32{}
		rest(b, &chemin.State{}, known)
		for _, perSize := range []int{1, 100, 1 << 20} {
			bounds := must.Get(newBounds(t.Context(), b, growth(b), limits{1 << 30, perSize, 2}, func(int) {}))(t)
			for s, want := range known {
				if s.Filled == b.Full() {
					continue
				}
				look := bounds.outlook(b.Full() &^ s.Filled)
				got := look.upper(&s.Values, noBound)
				few := 2*bits.OnesCount32(b.Full()&^s.Filled) <= b.Cells()+1
				must.Not(t, got < uint64(want) || few && perSize == 1<<20 && got != uint64(want),
					"%v, %d vectors: bound %d of %v, %d is possible", size, perSize, got, s, want)
			}
		}
	}
}

// TestDominance raises values of states: what is possible must not fall.
func TestDominance(t *testing.T) {
	random := tries.Rand(t)
	b := board(t, 2, 4)
	known := map[chemin.State]uint32{}
	rest(b, &chemin.State{}, known)
	for _, s := range slices.Collect(maps.Keys(known)) {
		more := s
		for cell := range b.Cells() {
			if s.Values[cell] > 0 {
				more.Values[cell] += random.Uint32N(3)
			}
		}
		less, got := known[s], rest(b, &more, known)
		must.Not(t, got < less, "%v leads to %d, %v only to %d", s, less, more, got)
	}
}

// TestThin checks that every vector is covered by one that is kept.
func TestThin(t *testing.T) {
	random := tries.Rand(t)
	for range 200 {
		stride, n, most := 1+random.IntN(5), 1+random.IntN(300), 1+random.IntN(40)
		vectors := make([]uint32, n*stride)
		for i := range vectors {
			vectors[i] = random.Uint32N(50)
		}
		kept := split(thin(slices.Clone(vectors), stride, most), stride)
		must.Not(t, len(kept) > most, "%d vectors, %d allowed", len(kept), most)
		for _, v := range split(vectors, stride) {
			must.Hold(t, slices.ContainsFunc(kept, func(other []uint32) bool { return covers(other, v) }), "%v is not covered by %v", v, kept)
		}
	}
}

// TestLongGrowth compares the limit with the maxima that are known.
func TestLongGrowth(t *testing.T) {
	known := []struct {
		rows, cols int
		maximum    uint32
	}{{1, 1, 1}, {1, 8, 2}, {2, 2, 4}, {2, 8, 2916}, {3, 3, 57}, {3, 4, 300}, {3, 5, 1500}, {4, 4, 2473}, {3, 6, 7557}, {4, 5, 22634}}
	for _, tt := range known[:tries.More(6, 10)] {
		got := growth(board(t, tt.rows, tt.cols))[tt.rows*tt.cols]
		should.Not(t, got < tt.maximum, "%d x %d: limit %d, %d is possible", tt.rows, tt.cols, got, tt.maximum)
	}
}

// inDir returns the options of a search in a directory.
func inDir(dir string, workers int) Options {
	return Options{Job: job.Job{Memory: runs.LeastMemory(workers), Workers: workers}, Method: Layers, Dir: dir}
}

func phaseOf(s job.Step) string {
	phase, _, _ := strings.Cut(s.Doing, ",")
	return phase
}

// known are the numbers of a result that do not depend on how a search was run.
func known(r *Result) []any {
	var orders [][]int
	for _, s := range r.Solutions {
		orders = append(orders, s.Order)
	}
	return []any{r.Lower, r.Upper, r.Cut, fields(r.Orders), ending(r), fields(r.Orientations), fields(r.Grids), orders}
}

// TestGolden compares the files of two searches with those in testdata, and resumes from these (package runs tests that a search is stopped and
// resumed in each layer). If the compression library has changed, -update is right; otherwise the format has, and checkpointVersion must grow.
func TestGolden(t *testing.T) {
	b := board(t, 3, 3)
	want := known(solve(t, 3, 3, Options{Method: Layers}))
	for _, doing := range []string{"layers", "counting"} {
		t.Run(doing, func(t *testing.T) {
			o := inDir("", 1)
			other := runstest.Stopped(t, filepath.Join("testdata", doing), &o.Job, func(s job.Step) bool {
				return phaseOf(s) == doing && s.Done == 2 // which is then in the checkpoint
			}, func(ctx context.Context, dir string) error {
				o.Dir = dir
				r, err := Solve(ctx, b, o)
				should.Not(t, r.Lower > 57 || r.Upper < 57, "stopped: %d to %d", r.Lower, r.Upper)
				return err
			})
			first, o := "", inDir(other, 2)
			o.Progress = func(s job.Step) {
				if phase := phaseOf(s); first == "" && (phase == "layers" || phase == "counting") {
					first = fmt.Sprint(phase, " ", s.Done)
				}
			}
			r, err := Solve(t.Context(), b, o)
			must.Hold(t, err == nil && first == doing+" 2", "it began with %q: %v", first, err)
			must.Same(t, "another result", want, known(r))
			must.Empty(t, filepath.Join(other, rundir.WorkName))
		})
	}
}

// TestCheckpointContradicts parses checkpoints with one impossible field.
func TestCheckpointContradicts(t *testing.T) {
	b := board(t, 3, 3)
	search := func(dir string) error { return must.Err(Solve(t.Context(), b, inDir(dir, 1))) }
	runstest.Contradicts(t, "testdata/layers", checkpointKind, checkpointVersion, map[string]func(c *checkpoint){
		"order too short":   func(c *checkpoint) { c.Order = c.Order[1:] },
		"order with a twin": func(c *checkpoint) { c.Order[0] = c.Order[1] },
		"cell out of range": func(c *checkpoint) { c.Order[0] = 9 },
		"filled":            func(c *checkpoint) { c.Filled = 9 },
		"negative filled":   func(c *checkpoint) { c.Filled = -1 },
		"another layer":     func(c *checkpoint) { c.Filled++ },
		"no blocks":         func(c *checkpoint) { c.Blocks = nil },
		"one block twice":   func(c *checkpoint) { c.Blocks = append(c.Blocks, c.Blocks[0]) },
		"records":           func(c *checkpoint) { c.Blocks[0].Records++ },
		"no records":        func(c *checkpoint) { c.Blocks[0].Records = 0 },
		"states":            func(c *checkpoint) { c.States[c.Filled]++ },
		"another beginning": func(c *checkpoint) { c.States[0] = 2 },
		"too many states":   func(c *checkpoint) { c.States[1] = 10 },
		"no states":         func(c *checkpoint) { c.States = nil },
		"counting":          func(c *checkpoint) { c.Counting = true },
	}, search)
	runstest.Contradicts(t, "testdata/counting", checkpointKind, checkpointVersion, map[string]func(c *checkpoint){
		"optimal": func(c *checkpoint) { c.Optimal = math.MaxUint64 },
	}, search)
}

// TestRecords reads layers with records that cannot be.
func TestRecords(t *testing.T) {
	b := board(t, 3, 3)
	first := []uint32{1, 1, 0, 0, 0, 0, 0} // a corner
	edge := []uint32{2, 1, 1, 0, 0, 0, 0}
	for _, tt := range []struct {
		name     string
		counting bool
		optimal  uint64
		rows     [][]uint32
		ok       bool
	}{
		{"right", false, 0, [][]uint32{first, edge}, true},
		{"out of order", false, 0, [][]uint32{edge, first}, false},
		{"twice", false, 0, [][]uint32{first, first}, false},
		{"two cells filled", false, 0, [][]uint32{{3, 1, 0, 0, 0, 0, 0}}, false},
		{"cell out of range", false, 0, [][]uint32{{1 << 9, 1, 9, 0, 0, 0, 0}}, false},
		{"another corner", false, 0, [][]uint32{{4, 1, 2, 0, 0, 0, 0}}, false},
		{"another value", false, 0, [][]uint32{{1, 2, 0, 0, 0, 0, 0}}, false},
		{"no value", false, 0, [][]uint32{{1, 0, 0, 0, 0, 0, 0}}, false},
		{"another order", false, 0, [][]uint32{{1, 1, 4, 0, 0, 0, 0}}, false},
		{"order of cells out of range", false, 0, [][]uint32{{1, 1, 31, 0, 0, 0, 0}}, false},
		{"a longer order", false, 0, [][]uint32{{1, 1, 1 << 5, 0, 0, 0, 0}}, false},
		{"counted", true, 1, [][]uint32{{1, 1, 4, 0}, {2, 1, 4, 0}}, true},
		{"none counted", true, 0, [][]uint32{{1, 1, 0, 0}}, false},
		{"more than all", true, 0, [][]uint32{{1, 1, 10, 0}}, false},
		{"overflow", true, 0, [][]uint32{{1, 1, math.MaxUint32, math.MaxUint32}}, false},
		{"more than all together", true, 0, [][]uint32{{1, 1, 5, 0}, {2, 1, 5, 0}}, false},
		{"more than all with those before", true, 2 * 40320, [][]uint32{{1, 1, 4, 0}, {2, 1, 4, 0}}, false},
		{"value out of range", true, 0, [][]uint32{{1, math.MaxUint32, 4, 0}}, false},
	} {
		c := &checkpoint{Counting: tt.counting, Filled: 1, Optimal: tt.optimal}
		s := &runs.Store{Most: 1 << 20}
		w := runs.NewWriter(s, c.layout().stride())
		for _, row := range tt.rows {
			must.OK(t, w.Add(row))
		}
		c.Blocks = must.Get(w.Finish())(t).Blocks
		err := verify(s, b, c, growth(b))
		should.Not(t, tt.ok && err != nil || !tt.ok && !errors.Is(err, corrupt.ErrCorrupt), "%s: %v", tt.name, err)
	}
}

// FuzzCheckpoint resumes from any sealed checkpoint: it is refused, or the search ends.
func FuzzCheckpoint(f *testing.F) {
	for _, dir := range []string{"testdata/layers", "testdata/counting"} {
		f.Add(runstest.Checkpoint(f, dir, checkpointKind, checkpointVersion))
	}
	b := board(f, 3, 3)
	f.Fuzz(func(t *testing.T, payload []byte) {
		dir := t.TempDir()
		runstest.Copy(t, "testdata/layers", dir)
		runstest.SetCheckpoint(t, dir, checkpointKind, checkpointVersion, payload)
		err := must.Err(Solve(t.Context(), b, inDir(dir, 1)))
		should.Not(t, err != nil && !errors.Is(err, corrupt.ErrCorrupt), "%v", err)
	})
}

// FuzzRecords resumes from layers of any records: they are refused, or the sweep ends.
func FuzzRecords(f *testing.F) {
	f.Add(false, uint8(1), []byte{1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})
	f.Add(true, uint8(1), []byte{1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0})
	f.Add(true, uint8(2), []byte{3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255})
	b := board(f, 2, 3)
	limits := growth(b)
	f.Fuzz(func(t *testing.T, counting bool, filled uint8, raw []byte) {
		c := &checkpoint{Counting: counting, Filled: int(filled) % b.Cells()}
		s := newTestSweep(b, 1<<20, 0)
		s.counting, s.target = counting, 12
		w := runs.NewWriter(s.store, c.layout().stride())
		row := make([]uint32, c.layout().stride())
		for range 100 {
			if len(raw) == 0 {
				break
			}
			for i := range row {
				var word [4]byte
				raw = raw[copy(word[:], raw):]
				row[i] = binary.LittleEndian.Uint32(word[:])
			}
			must.OK(t, w.Add(row))
		}
		layer := must.Get(w.Finish())(t)
		c.Blocks = layer.Blocks
		if err := verify(s.store, b, c, limits); err != nil {
			should.Be(t, err, corrupt.ErrCorrupt)
			return
		}
		s.layer = &run{c.layout(), layer}
		if layer.N == 0 {
			return
		}
		must.OK(t, s.run(t.Context(), func() {}, nil))
	})
}
