// Package bench measures the subjects that document 004 compares in its results: the
// heuristics of the swap puzzle, its solvers, and its pattern databases.
//
//	heuristics  every bound on the same random 3 x 3 grids: mean, share of the
//	            true distance, time of an evaluation, flags and size of its table
//	solvers     every solver on the same random grids of four sizes, as far as it
//	            is fit for them: length, states, memory and time
//	databases   the six databases of the document: time to build, bytes in memory
//	            and on disk, beside the figures there
//
// Everything but times and memory depends on the seed and the numbers of grids only.
//
// # True distances
//
// Up to 9 cells a pattern database of all tiles has the distance of every state: it
// comes from a breadth-first search. Larger grids have the length of the solutions
// that exact solvers found; the table says so.
//
// The results are also checked: a bound that is above the distance although it
// is called admissible, a swap that changes it by more than 1 although it is called
// consistent, a solution that is called shortest and is not, end the run with
// ErrWrong.
package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/pipeline/job"
)

var (
	// ErrWrong reports a bound or a solver that does not keep its claim: admissible,
	// consistent, exact.
	ErrWrong = fault.New(fault.Difference, "wrong result")
	// ErrOption reports an option that is not possible.
	ErrOption = fault.New(fault.Usage, "option not possible")
)

// The names of the tables.
const (
	Heuristics = "heuristics"
	Solvers    = "solvers"
	Databases  = "databases"
)

// TableNames returns the names of the tables in the order of a report.
func TableNames() []string { return []string{Heuristics, Solvers, Databases} }

// Options names the measurements. Workers build databases and run astar-parallel, all else runs in one; Family and Note
// are not used.
type Options struct {
	job.Job
	Tables []string // names
	Grids  int      // random grids for heuristics
	Solves int      // random grids for each solver; 3 x 4 takes a tenth, 4 x 4 a fifth
	Seed   uint64
}

// Report has the measures of a run. Parts that were not asked for are empty.
type Report struct {
	Seed       uint64           `json:"seed"`
	Machine    Machine          `json:"machine"`
	Heuristics *HeuristicsTable `json:"heuristics,omitempty"`
	Solvers    []SolversTable   `json:"solvers,omitempty"`
	Databases  []Database       `json:"databases,omitempty"`
}

// Machine is where the times were measured.
type Machine struct {
	CPU     string `json:"cpu"`
	Go      string `json:"go"`
	Threads int    `json:"threads"`
}

// MostGrids is the largest number of random grids of one table.
const MostGrids = 10_000_000

func (o *Options) check() error {
	for _, name := range o.Tables {
		if !slices.Contains(TableNames(), name) {
			return fmt.Errorf("%w: table %q: must be %s", ErrOption, name, strings.Join(TableNames(), ", "))
		}
	}
	switch {
	case len(o.Tables) == 0:
		return fmt.Errorf("%w: no table: must be some of %s", ErrOption, strings.Join(TableNames(), ", "))
	case o.Grids < 1 || o.Grids > MostGrids:
		return fmt.Errorf("%w: %d grids for heuristics: must be 1 to %d", ErrOption, o.Grids, MostGrids)
	case o.Solves < 1 || o.Solves > MostGrids:
		return fmt.Errorf("%w: %d grids for solvers: must be 1 to %d", ErrOption, o.Solves, MostGrids)
	}
	return nil
}

// Run measures. It fails with ErrOption, ErrWrong, a *memory.Error if a database
// needs more than Options.Memory, or the error of ctx.
func Run(ctx context.Context, o Options) (*Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o.Workers = max(1, o.Workers)
	b := &bench{o: o, report: &Report{Seed: o.Seed, Machine: Machine{cpu.Name(), runtime.Version(), o.Workers}}}
	for _, plan := range []struct {
		name  string
		parts func() ([]part, error)
	}{{Heuristics, b.heuristicParts}, {Solvers, b.solverParts}, {Databases, b.databaseParts}} {
		if !slices.Contains(o.Tables, plan.name) {
			continue
		}
		parts, err := plan.parts()
		if err != nil {
			return nil, err
		}
		b.parts = append(b.parts, parts...)
	}
	if err := b.run(ctx); err != nil {
		return nil, err
	}
	return b.report, nil
}

// bench is a run.
type bench struct {
	o      Options
	report *Report
	parts  []part
}

// part is a part of the work.
type part struct {
	doing  string
	weight float64 // about the seconds that it takes
	// run calls tick with the share of the part that is done.
	run func(ctx context.Context, tick func(share float64)) error
}

func (b *bench) run(ctx context.Context) error {
	total, done := 0.0, 0.0
	for _, p := range b.parts {
		total += p.weight
	}
	for _, p := range b.parts {
		tick := func(share float64) {
			b.o.Tell(job.Step{Doing: p.doing, Done: 100 * (done + share*p.weight) / total, Total: 100, Unit: job.Items})
		}
		tick(0)
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.run(ctx, tick); err != nil {
			return err
		}
		done += p.weight
	}
	return nil
}

// randomGrids returns states of a grid, any as likely as any other. Each size has
// its own, however many grids the others have.
func randomGrids(g *swap.Grid, n int, seed uint64) []swap.State {
	r := rand.New(rand.NewPCG(seed, uint64(g.Rows()<<8|g.Cols())))
	states := make([]swap.State, n)
	for i := range states {
		states[i] = perm.UnrankPacked(g.Cells(), r.Uint64N(perm.Factorial(g.Cells())))
	}
	return states
}
