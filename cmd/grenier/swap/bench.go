package swap

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/swap/bench"
)

// benchFlags are the flags of swap bench as given.
type benchFlags struct {
	cli.JobFlags
	tables        []string
	grids, solves int
	seed          uint64
}

// benchReport is the JSON of swap bench.
type benchReport struct {
	*bench.Report
	cli.Took
}

func (a *app) bench() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Compare heuristics, solvers and databases",
		Long: `Measures what the report on the swap puzzle compares, and prints three kinds of
tables:

  heuristics  every heuristic on the same random 3 x 3 grids: mean, share of
              the true distance, time of an evaluation, size of its tables
  solvers     every solver on the same random grids of 2 x 4, 3 x 3, 3 x 4 and
              4 x 4 that it can solve: length, states, time and memory
  databases   the six pattern databases of the report: seconds, memory and
              disk, next to the figures of the report

The same --seed, --grids and --solves give the same figures, except for times
and allocations.

EXIT STATUS
  3    an admissible heuristic exceeds the distance, or a solution that is said
       to be shortest is not
`,
		Example: `  grenier swap bench
  grenier swap bench --tables solvers --solves 1000 --seed 7 --json`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.runBench(cmd.Context(), f) }),
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.tables, "tables", bench.TableNames(), "`names` of the tables, separated by commas")
	cli.IntVar(flags, &f.grids, "grids", 10_000, 1, bench.MostGrids, "`number` of random grids for heuristics")
	cli.IntVar(flags, &f.solves, "solves", 100, 1, bench.MostGrids, "`number` of random grids for each solver; of 3 x 4 a tenth of it, of 4 x 4 a fifth")
	flags.Uint64Var(&f.seed, "seed", 1, "`number` from which the grids are made")
	f.Memory.Define(a.App, flags, "4GiB", nil)
	cli.ThreadsFlag(flags, &f.Threads, "build databases and run astar-parallel with")
	cli.ProgressFlag(flags, &f.Form)
	flags.BoolVar(&f.JSON, "json", false, cli.JSONUsage)
	cli.Completes(cmd, "tables", bench.TableNames()...)
	return cmd
}

func (a *app) runBench(ctx context.Context, f benchFlags) error {
	j, err := f.Job()
	if err != nil {
		return err
	}
	o := bench.Options{Job: j, Tables: f.tables, Grids: f.grids, Solves: f.solves, Seed: f.seed}
	shown, err := a.Begin(&f.JobFlags, &o.Job)
	if err != nil {
		return err
	}
	start := time.Now()
	r, err := bench.Run(ctx, o)
	shown.Close()
	if err != nil {
		return f.Memory.Explain(err)
	}
	report := benchReport{r, cli.TookSince(start)}
	if f.JSON {
		return a.PrintJSON(report)
	}
	a.printBench(report)
	return nil
}

func (a *app) printBench(r benchReport) {
	for _, t := range r.Tables() {
		fmt.Fprintln(a.Out, t.Title)
		a.printColumns(append([][]string{t.Head}, t.Rows...))
		fmt.Fprintf(a.Out, "%s\n\n", cli.Wrap(t.Text, min(textWidth, cli.WidthOf(a.Out)), 0))
	}
	fmt.Fprintf(a.Out, "%s\n%.1f s; peak memory %s\n", r.Summary(), r.Seconds, cli.Size(r.PeakRSS))
}

// textWidth is the width of the text below a table.
const textWidth = 110

// printColumns prints rows of cells in columns, the first of them aligned to the left.
func (a *app) printColumns(rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := fmt.Sprintf("%-*s", width[0], row[0])
		for i, cell := range row[1:] {
			line += fmt.Sprintf("  %*s", width[i+1], cell)
		}
		fmt.Fprintln(a.Out, strings.TrimRight(line, " "))
	}
}
