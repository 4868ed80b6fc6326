package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/internal/testkit/golden"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/swaptest"
	"grenier/internal/testkit/tries"
	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/job"
	"grenier/pipeline/swap/search"
)

func TestMain(m *testing.M) {
	round = 100 * time.Microsecond
	sizes[1].rows, partitions = tries.More(2, 3), partitions[tries.More(1, 0):] // all of 3 x 3 takes long
	m.Run()
}

func untimed(t *testing.T, r *Report) *Report {
	t.Helper()
	c := new(must.JSON[Report](t, must.Get(json.Marshal(r))(t)))
	c.Machine = Machine{}
	for i := range c.Solvers {
		for j := range c.Solvers[i].Solvers {
			s := &c.Solvers[i].Solvers[j]
			should.Not(t, s.Seconds.Max <= 0 || s.Allocated < 0, "%s: %v s, %g bytes", s.Name, s.Seconds, s.Allocated)
			s.Seconds, s.Allocated = Spread{}, 0
		}
	}
	for i := range c.Heuristics.Bounds {
		should.Not(t, c.Heuristics.Bounds[i].Nanoseconds <= 0, "%s takes no time", c.Heuristics.Bounds[i].Name)
		c.Heuristics.Bounds[i].Nanoseconds = 0
	}
	return c
}

// steps is the progress of shortRun.
var steps []job.Step

// short is a run without databases; the large grids of its seed are easy.
func short() Options {
	j := job.Job{Workers: 2, Progress: func(s job.Step) { steps = append(steps, s) }}
	return Options{Tables: []string{Heuristics, Solvers}, Grids: 60, Solves: tries.More(1, 2), Seed: 46, Job: j}
}

// slow skips a test that takes seconds, and minutes under the race detector.
func slow(t *testing.T) { t.Helper(); tries.SkipIf(t, testing.Short(), "measures much") }

// shortRun is the report of a short run, for all tests that do not change it.
var shortRun = sync.OnceValues(func() (*Report, error) { return Run(context.Background(), short()) })

// TestSolvers checks the tables of solvers of a run without limits, and its progress.
func TestSolvers(t *testing.T) {
	slow(t)
	r := untimed(t, must.Get(shortRun())(t))
	must.Equal(t, len(r.Solvers), 4, "tables of solvers")
	for _, table := range r.Solvers {
		small := table.Rows*table.Cols <= 9
		should.Not(t, small != (table.Source == fromDatabase) || small && len(table.Solvers) != len(search.Names()),
			"%s: distances from %s, %d solvers", table.size(), table.Source, len(table.Solvers))
		should.Hold(t, table.Known == table.Grids, "%s: %d of %d distances known", table.size(), table.Known, table.Grids)
		for _, s := range table.Solvers {
			exact := s.Optimal == table.Grids && s.Excess == 0 && s.MeanLength == table.Distance.Mean
			should.Not(t, s.Exact && !exact || s.Excess < 0 || s.Solved != table.Grids, "%s: %+v", table.size(), s)
			should.Not(t, s.Expanded.Median > s.Expanded.Max || s.Expanded.Mean > s.Expanded.Max, "%s: %s has %+v", table.size(), s.Name, s.Expanded)
		}
	}
	last := 0.0
	for _, s := range steps {
		should.Not(t, s.Doing == "" || s.Done < last || s.Done > s.Total, "%+v after %g", s, last)
		last = s.Done
	}
	should.Not(t, last < 50, "the last step is at %g", last)
}

// TestLongRepeated wants the same values for the same seed, and others for another one.
func TestLongRepeated(t *testing.T) {
	tries.NeedsLong(t, "two more runs")
	o := short()
	o.Workers, o.Progress = 1, nil
	first := untimed(t, must.Get(Run(t.Context(), o))(t))
	must.Same(t, "another run, another result", untimed(t, must.Get(shortRun())(t)), first)
	o.Tables, o.Seed = []string{Heuristics}, 47
	other := untimed(t, must.Get(Run(t.Context(), o))(t))
	should.Not(t, cmp.Equal(first.Heuristics, other.Heuristics) || other.Solvers != nil || other.Databases != nil, "%+v with another seed", other)
}

type boast struct{ heuristic.Heuristic }

func (boast) Name() string                { return "boast" }
func (b boast) Estimate(s swap.State) int { return 2 * b.Heuristic.Estimate(s) }

// TestWrong wants what is wrong to be noticed.
func TestWrong(t *testing.T) {
	g := swaptest.Grid(t, 2, 3)
	s := &survey{grid: g}
	for rank, d := range swaptest.Distances(g) {
		s.states, s.distance = append(s.states, perm.UnrankPacked(6, uint64(rank))), append(s.distance, int(d))
	}
	should.Says(t, must.Err(s.measure(t.Context(), bound{boast{heuristic.NewManhattan(g)}, "boast", 0})), ErrWrong, "boast")
	c := &contest{grid: g, states: s.states, distance: s.distance}
	away := slices.Index(s.distance, 3)
	for _, r := range []search.Result{
		{Swaps: make([]swap.Swap, 5), Lower: 5, Optimal: true}, {Swaps: make([]swap.Swap, 1)}, {Swaps: make([]swap.Swap, 5), Lower: 5},
	} {
		should.Says(t, c.check("astar", away, r), ErrWrong, "on [")
	}
	must.OK(t, c.check("astar", away, search.Result{Swaps: make([]swap.Swap, 5), Lower: 3}))
}

// built measures the databases that take no time, once for all tests.
var built = sync.OnceValues(func() (databases []Database, err error) {
	b := &bench{o: Options{Job: job.Job{Workers: 2}}}
	for _, i := range []int{0, 2} {
		d := documented[i]
		g, err := swap.NewListedGrid(d.Rows, d.Cols)
		if err == nil {
			err = b.build(context.Background(), g, &d, func(float64) {})
		}
		if err != nil {
			return nil, err
		}
		databases = append(databases, d)
	}
	return databases, nil
})

// TestLongDatabases builds small ones and looks at what is left of them.
func TestLongDatabases(t *testing.T) {
	for i, d := range must.Get(built())(t) {
		want := []int{1_881_600, 362_880}[i]
		should.Hold(t, d.Entries == want && d.Bytes > 0 && d.Seconds > 0 && d.Faster == d.Document.Seconds/d.Seconds, "%+v, want %d", d, want)
		should.Not(t, float64(d.Bytes) > d.Document.DiskMB*1e6, "%s: %d bytes, more than in the document", d.Name, d.Bytes)
	}
	o, begun := Options{Tables: []string{Databases}, Grids: 1, Solves: 1, Job: job.Job{Workers: 2}}, math.Inf(1)
	runstest.Interrupt(t, &o.Job, func(s job.Step) bool {
		inside := strings.Contains(s.Doing, tries.More("k=3", "k=4"))
		if inside {
			begun = min(begun, s.Done)
		}
		return inside && s.Done > begun
	}, func(ctx context.Context) error { return must.Err(Run(ctx, o)) })
}

// TestReport compares the shape of the JSON, and reads the text.
func TestReport(t *testing.T) {
	slow(t)
	r := *must.Get(shortRun())(t)
	r.Databases = must.Get(built())(t)
	paths := map[string]bool{}
	shape("", must.JSON[any](t, must.Get(json.Marshal(r))(t)), paths)
	golden.Check(t, "testdata/shape.txt", []byte(strings.Join(slices.Sorted(maps.Keys(paths)), "\n")+"\n"))
	var all strings.Builder
	tables := r.Tables()
	for _, table := range tables {
		fmt.Fprintln(&all, table.Title, table.Text)
		for _, row := range append(table.Rows, table.Head) {
			should.Hold(t, len(row) == len(table.Head), "%s: row %q below %q", table.Title, row, table.Head)
			fmt.Fprintln(&all, strings.Join(row, "|"))
		}
	}
	should.Lacks(t, all.String(), "NaN", "Inf")
	should.Equal(t, len(tables), 6, "tables")
	should.Has(t, all.String(), "Heuristics on 60 random grids of 3 x 3", "Solvers on 1 random grids of 4 x 4", "Databases of the document",
		"gadb tracked k=4 exact|", "|1,881,600|", "|3.27|", "\nidastar|1|100%|")
}

func shape(path string, value any, paths map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			shape(path+"."+key, inner, paths)
		}
	case []any:
		for _, inner := range v {
			shape(path+"[]", inner, paths)
		}
	default:
		paths[fmt.Sprintf("%s %T", strings.TrimPrefix(path, "."), value)] = true
	}
}

func TestDigits(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.000123456: "0.000123", 0.5: "0.500", 3.27: "3.27", 12.34: "12.3", 99.96: "100.0", 123.4: "123", 3652: "3,652",
	} {
		should.Equal(t, digits(x), want, "%g", x)
	}
}
