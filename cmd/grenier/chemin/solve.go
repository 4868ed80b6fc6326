package chemin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	game "grenier/layers/chemin"
	"grenier/pipeline/chemin"
)

// solveFlags are the flags of chemin solve as given.
type solveFlags struct {
	cli.JobFlags
	rows, cols       int
	method, dir, svg string
	time             time.Duration
	all              bool
}

func (a *app) solve() *cobra.Command {
	var f solveFlags
	cmd := &cobra.Command{
		Use:   "solve --rows R --cols C",
		Short: "Find the largest number and the orders that reach it",
		Long: `Finds the largest number that a board can have, or proven bounds of it if
--time ends the search. Counts the orders, the acyclic orientations (orders
with the same orientation of all pairs of neighbours fill the same grid) and
the final grids, those that reach the maximum, and each up to symmetry. A count
that a method does not find is left out.

  layers        visits each state once, layer by layer. Lists one solution of
                each class of symmetric orientations.
  orientations  visits one order of each orientation, except those that cannot
                reach the maximum. Lists the same solutions.
  naive         visits all orders, one after the other; for boards up to about
                11 cells. Lists what classes lists.
  classes       visits one order of each class of symmetric orders; for boards
                up to about 12 cells. Lists one solution of each class.

--all lists all optimal solutions, symmetric ones too: orders with the methods
naive and classes, orientations with the others.

The method layers keeps its states in memory and ends with bounds if --memory
is too small. With --dir it keeps them on disk, and the same command resumes
after the last complete layer. --memory must be at least 32 MiB and 2 MiB for
each thread.

--json prints {"rows", "cols", "method", "exact", "max", "lower", "upper",
"orders", "orientations", "grids", "leaves", "states_per_layer", "solutions":
[{"order": cells, "grid": rows of numbers}, ...], "cut", "seconds",
"peak_rss_bytes"}. "orders", "orientations" and "grids" are {"total",
"up_to_symmetry", "optimal", "optimal_up_to_symmetry"}, and of orders
"optimal_ending_in_score", those whose last cell has the score. "max" is absent
if it is not known, "cut" is true if not all solutions are listed.
"states_per_layer" counts the states that may still lead to the maximum.
`,
		Example: `  grenier chemin solve --rows 3 --cols 3 --method classes
  grenier chemin solve --rows 4 --cols 5 --memory 1GiB --time 10m --svg steps.svg`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error {
			return a.runSolve(cmd.Context(), f)
		}),
	}
	needSize(cmd, &f.rows, &f.cols)
	flags := cmd.Flags()
	cli.ChoiceVar(flags, &f.method, "method", string(chemin.Layers), "`method`", "naive", "classes", "orientations", "layers")
	flags.BoolVar(&f.all, "all", false, "list all optimal solutions, symmetric ones too")
	f.Define(a.App, flags, "1GiB", cli.JSONUsage)
	cli.TimeVar(flags, &f.time, "time", 0, 0, 0, "longest `time` to search, like 10m; 0 is no limit")
	flags.Var((*cli.Directory)(&f.dir), "dir", "directory for the states of the method layers")
	flags.Var((*cli.File)(&f.svg), "svg", "`FILE` for a drawing of the first solution; - prints it instead of text")
	return cmd
}

func (f *solveFlags) options() (o chemin.Options, err error) {
	o.Method, o.All, o.Time, o.Dir = chemin.Method(f.method), f.all, f.time, f.dir
	o.Job, err = f.Job()
	return o, err
}

func (a *app) runSolve(ctx context.Context, f solveFlags) error {
	opts, err := f.options()
	if err != nil {
		return err
	}
	b, err := game.New(f.rows, f.cols)
	if err != nil {
		return err
	}
	if err := cli.OneStdout(f.JSON, map[string]string{"--svg": f.svg}); err != nil {
		return err
	}
	if err := cli.CheckFile(f.svg); err != nil {
		return err
	}
	shown, err := a.Begin(&f.JobFlags, &opts.Job)
	if err != nil {
		return err
	}
	defer shown.Close()
	if f.dir != "" {
		a.Resume = "; the same command resumes after the last complete layer"
	}
	start := time.Now()
	r, err := chemin.Solve(ctx, b, opts)
	if r == nil {
		return f.Memory.Explain(err)
	}
	report := newReport(b, opts.Method, r, time.Since(start))
	shown.Pause(func() { err = errors.Join(a.show(b, report, f), err) })
	return err
}

// report is the JSON of chemin solve.
type report struct {
	Rows   int           `json:"rows"`
	Cols   int           `json:"cols"`
	Method chemin.Method `json:"method"`
	Exact  bool          `json:"exact"`
	Max    *uint32       `json:"max,omitempty"`
	*chemin.Result
	Solutions []solutionReport `json:"solutions"`
	Seconds   float64          `json:"seconds"`
	PeakRSS   uint64           `json:"peak_rss_bytes,omitempty"`
}

// solutionReport is an order and its grid.
type solutionReport struct {
	Order []int      `json:"order"`
	Grid  [][]uint32 `json:"grid"`
}

func newReport(b *game.Board, method chemin.Method, r *chemin.Result, elapsed time.Duration) *report {
	report := &report{
		Rows: b.Rows(), Cols: b.Cols(), Method: method, Exact: r.Exact(), Result: r, Seconds: elapsed.Seconds(), PeakRSS: cli.PeakRSS(),
	}
	if r.Exact() {
		report.Max = &r.Lower
	}
	for _, s := range r.Solutions {
		report.Solutions = append(report.Solutions, solutionReport{s.Order, rowsOf(b, s.Grid)})
	}
	return report
}

// show prints the result of a search, and draws the first solution.
func (a *app) show(b *game.Board, r *report, f solveFlags) error {
	if err := a.drawSVG(b, r.Solutions[0].Order, f.svg); err != nil || f.svg == cli.Stdout {
		return err
	}
	if f.JSON {
		return a.PrintJSON(r)
	}
	if r.Exact {
		fmt.Fprintf(a.Out, "%d x %d: maximum %s, by %s in %.1f s\n", r.Rows, r.Cols, cli.Comma(uint64(r.Lower)), r.Method, r.Seconds)
	} else {
		fmt.Fprintf(a.Out, "%d x %d: the maximum is %s to %s, by %s in %.1f s\n",
			r.Rows, r.Cols, cli.Comma(uint64(r.Lower)), cli.Comma(uint64(r.Upper)), r.Method, r.Seconds)
	}
	a.printCounts("orders", r.Orders)
	a.printCounts("orientations", r.Orientations)
	a.printCounts("grids", r.Grids)
	if r.Leaves > 0 {
		fmt.Fprintf(a.Out, "%s visited\n", cli.Count(r.Leaves, "complete order"))
	}
	if len(r.StatesPerLayer) > 0 {
		a.Printf(2, "states by number of filled cells: %s", cli.Spaced(r.StatesPerLayer))
	}
	return a.printSolutions(b, r)
}

// printCounts prints the numbers that are known.
func (a *app) printCounts(what string, c *chemin.Counts) {
	if c == nil {
		return
	}
	var parts []string
	for _, part := range []struct {
		n    *uint64
		text string
	}{
		{c.Total, ""}, {c.UpToSymmetry, " up to symmetry"}, {c.Optimal, " optimal"}, {c.OptimalUpToSymmetry, " optimal up to symmetry"},
		{c.OptimalEnding, " optimal that end in the score"},
	} {
		if part.n != nil {
			parts = append(parts, cli.Comma(*part.n)+part.text)
		}
	}
	fmt.Fprintf(a.Out, "%-13s %s\n", what, strings.Join(parts, ", "))
}

// printSolutions prints the orders and grids, the first one step by step.
func (a *app) printSolutions(b *game.Board, r *report) error {
	steps, err := b.DrawSteps(r.Solutions[0].Order, min(screen, cli.WidthOf(a.Out)))
	if err != nil {
		return err
	}
	for i, s := range r.Solutions {
		fmt.Fprintf(a.Out, "\nsolution %d of %d: %s\n", i+1, len(r.Solutions), cli.Spaced(s.Order))
		if i == 0 {
			fmt.Fprint(a.Out, steps)
			continue
		}
		var grid []uint32
		for _, row := range s.Grid {
			grid = append(grid, row...)
		}
		fmt.Fprintln(a.Out, b.Draw(grid))
	}
	if r.Cut {
		fmt.Fprintln(a.Out, "there are more")
	}
	return nil
}
