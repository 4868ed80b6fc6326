package bench

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"grenier/io/memory"
	"grenier/layers/swap"
	"grenier/pipeline/job"
	"grenier/pipeline/swap/patterns"
	"grenier/pipeline/swap/search"
)

// SolversTable compares solvers on the same random grids of one size.
type SolversTable struct {
	Rows  int `json:"rows"`
	Cols  int `json:"cols"`
	Grids int `json:"grids"`
	// Known is the number of grids whose true distance is known; Distance is
	// theirs, and Source says how it is known.
	Known    int      `json:"known"`
	Source   string   `json:"distance_source"`
	Distance Distance `json:"distance"`
	Solvers  []Solver `json:"solvers"`
}

// How true distances are known.
const (
	fromDatabase = "database"
	fromSolvers  = "solvers"
)

// Solver is a row of a table.
type Solver struct {
	Name      string `json:"solver"`
	Heuristic string `json:"heuristic,omitempty"`
	// Exact says that the solver finds shortest solutions, unless it is stopped.
	Exact bool `json:"exact"`
	// Solved is the number of grids for which the search was not stopped for lack
	// of memory; where it was, the solution is the best one known by then.
	Solved int `json:"solved"`
	// Optimal is the number of grids of known distance whose solution has that
	// length, Excess the mean of the swaps beyond it.
	Optimal    int     `json:"optimal"`
	MeanLength float64 `json:"mean_length"`
	Excess     float64 `json:"mean_excess"`
	// States, as in search.Counts.
	Expanded   Spread  `json:"expanded"`
	Generated  float64 `json:"mean_generated"`
	PeakOpen   uint64  `json:"peak_open"`
	PeakClosed uint64  `json:"peak_closed"`
	// Seconds is the time of one grid.
	Seconds Spread `json:"seconds"`
	// Allocated is the mean of the bytes that the search of one grid allocated: a little
	// more than it held at a time.
	Allocated float64 `json:"mean_allocated_bytes"`
}

// Spread sums up numbers.
type Spread struct {
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

// sizes are the sizes of grids for solvers.
var sizes = []struct {
	rows, cols int
	part       int     // one in part of Options.Solves
	weight     float64 // of a grid, in seconds
}{{2, 4, 1, 0.012}, {3, 3, 1, 0.13}, {3, 4, 10, 1.7}, {4, 4, 5, 0.4}}

// fit has the largest number of cells for which a solver does not take minutes or
// gigabytes; others solve all sizes.
var fit = map[string]int{"graph": 9, "bfs": 9, "bidirectional": 12, "pseudo-bidirectional": 12, "astar-incremental": 12}

// solverHeuristic is the bound of all solvers that take one.
const solverHeuristic = "walking+parity"

func (b *bench) solverParts() (parts []part, err error) {
	b.report.Solvers = make([]SolversTable, len(sizes))
	for i, size := range sizes {
		g, err := swap.NewGrid(size.rows, size.cols)
		if err != nil {
			return nil, err
		}
		n := (b.o.Solves + size.part - 1) / size.part
		c := &contest{b: b, grid: g, states: randomGrids(g, n, b.o.Seed), table: &b.report.Solvers[i]}
		*c.table = SolversTable{Rows: size.rows, Cols: size.cols, Grids: n}
		parts = append(parts, part{fmt.Sprintf("solvers %d x %d", size.rows, size.cols), float64(n) * size.weight, c.run})
	}
	return parts, nil
}

// contest is the work on the solvers of one size.
type contest struct {
	b        *bench
	grid     *swap.Grid
	states   []swap.State
	table    *SolversTable
	distance []int // of each state, -1 if not known
}

// left returns the bytes that a search may take for states, 0 for no limit.
func (b *bench) left() uint64 {
	if b.o.Memory == 0 {
		return 0
	}
	return max(1, memory.Left(b.o.Memory))
}

// entrant is a solver with its results.
type entrant struct {
	name      string
	results   []search.Result
	allocated []float64
}

func (c *contest) run(ctx context.Context, tick func(float64)) error {
	h, err := search.ParseHeuristic(ctx, c.grid, solverHeuristic, nil, patterns.Options{})
	if err != nil {
		return err
	}
	o := search.Options{Job: job.Job{Memory: c.b.left(), Workers: c.b.o.Workers}, Heuristic: h}
	var all []entrant
	for _, name := range search.Names() {
		if most := fit[name]; most == 0 || c.grid.Cells() <= most {
			all = append(all, entrant{name: name})
		}
	}
	for i := range all {
		err := c.enter(ctx, &all[i], o, func(share float64) { tick((float64(i) + share) / float64(len(all))) })
		if err != nil {
			return err
		}
	}
	if err := c.findDistances(ctx, all); err != nil {
		return err
	}
	for i := range all {
		row, err := c.row(&all[i])
		if err != nil {
			return err
		}
		c.table.Solvers = append(c.table.Solvers, row)
	}
	return nil
}

// enter solves all grids by one solver.
func (c *contest) enter(ctx context.Context, e *entrant, o search.Options, tick func(float64)) error {
	runtime.GC() // the garbage of others
	for i, s := range c.states {
		tick(float64(i) / float64(len(c.states)))
		before := allocated()
		r, err := search.Solve(ctx, e.name, c.grid, c.grid.List(s), o)
		if err != nil {
			return err
		}
		e.results = append(e.results, r)
		e.allocated = append(e.allocated, float64(allocated()-before))
	}
	return nil
}

// allocated returns the number of bytes allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// findDistances takes the distances of small grids from a database, and of others from the
// solutions that are called shortest.
func (c *contest) findDistances(ctx context.Context, all []entrant) (err error) {
	if c.grid.Cells() <= 9 {
		c.table.Source, c.table.Known = fromDatabase, len(c.states)
		c.distance, c.table.Distance, err = c.b.distances(ctx, c.grid, c.states)
		return err
	}
	c.table.Source = fromSolvers
	c.distance = make([]int, len(c.states))
	sum := 0
	for i := range c.states {
		c.distance[i] = -1
		for _, e := range all {
			if e.results[i].Optimal {
				c.distance[i] = len(e.results[i].Swaps)
			}
		}
		if c.distance[i] >= 0 {
			c.table.Known++
			sum += c.distance[i]
			c.table.Distance.Largest = max(c.table.Distance.Largest, c.distance[i])
		}
	}
	c.table.Distance.Mean = float64(sum) / float64(max(1, c.table.Known))
	return nil
}

// row sums up the results of a solver.
func (c *contest) row(e *entrant) (Solver, error) {
	solver, err := search.Find(e.name)
	if err != nil {
		return Solver{}, err
	}
	row := Solver{Name: e.name, Heuristic: e.results[0].Heuristic, Exact: solver.Exact}
	var expanded, seconds []float64
	length, excess, generated := 0, 0, uint64(0)
	for i, r := range e.results {
		if err := c.check(e.name, i, r); err != nil {
			return row, err
		}
		length += len(r.Swaps)
		if r.Stopped == "" {
			row.Solved++
		}
		if d := c.distance[i]; d >= 0 {
			excess += len(r.Swaps) - d
			if len(r.Swaps) == d {
				row.Optimal++
			}
		}
		expanded, seconds = append(expanded, float64(r.Expanded)), append(seconds, r.Elapsed.Seconds())
		generated += r.Generated
		row.PeakOpen, row.PeakClosed = max(row.PeakOpen, r.PeakOpen), max(row.PeakClosed, r.PeakClosed)
	}
	row.Generated = float64(generated) / float64(len(c.states))
	row.MeanLength = float64(length) / float64(len(c.states))
	row.Excess = float64(excess) / float64(max(1, c.table.Known))
	row.Expanded, row.Seconds, row.Allocated = spreadOf(expanded), spreadOf(seconds), spreadOf(e.allocated).Mean
	return row, nil
}

// check compares a result with the true distance.
func (c *contest) check(name string, i int, r search.Result) error {
	d := c.distance[i]
	if d < 0 || len(r.Swaps) >= d && r.Lower <= d && (!r.Optimal || len(r.Swaps) == d) {
		return nil
	}
	return fmt.Errorf("%w: %s on %v found %d swaps and the lower bound %d, optimal %v; the distance is %d",
		ErrWrong, name, c.grid.List(c.states[i]), len(r.Swaps), r.Lower, r.Optimal, d)
}

// spreadOf sums up one number or more. The median of an even number of them is the
// lower one of the two in the middle.
func spreadOf(values []float64) Spread {
	sorted := slices.SortedFunc(slices.Values(values), cmp.Compare)
	s := Spread{Median: sorted[(len(sorted)-1)/2], Max: sorted[len(sorted)-1]}
	sum := 0.0
	for _, v := range sorted {
		sum += v
	}
	s.Mean = sum / float64(len(sorted))
	return s
}
