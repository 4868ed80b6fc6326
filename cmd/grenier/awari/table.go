package awari

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/spaces/access"
	"grenier/pipeline/spaces/census"
)

// tableReport is what table prints as JSON.
type tableReport struct {
	Pits     int        `json:"pits"`
	Rules    string     `json:"rules,omitempty"` // of the search for accessible boards
	Start    []int      `json:"start,omitempty"`
	MaxSeeds int        `json:"max_seeds"`
	Rows     []tableRow `json:"rows"`
}

// tableRow is a row; the fields of columns that were not computed are nil.
type tableRow struct {
	Seeds           int      `json:"seeds"`
	Configs         uint64   `json:"configs"`
	Accessible      *uint64  `json:"accessible,omitempty"`
	Space           float64  `json:"space"`
	SpaceCumulative float64  `json:"space_cumulative"`
	SpaceAccessible *float64 `json:"space_accessible_cumulative,omitempty"`
	SpaceReal       float64  `json:"space_real"`
	Cost            uint64   `json:"cost"`
}

// tableFlags are the flags of table as given.
type tableFlags struct {
	gameFlags
	cli.JobFlags
	seeds      int
	start, dir string
}

func (a *app) table() *cobra.Command {
	var f tableFlags
	cmd := &cobra.Command{
		Use:   "table",
		Short: "Print the number of positions and the cost of solving them",
		Long: `Prints the tables of the document about retrograde analysis. Each number of
seeds has the number of positions; the number that play can reach from a start
(a); the least space for their scores and its sum (c); and the number of memory
accesses of the plain algorithm.

Column (a) needs a search of the game. Up to 8 pits it begins with 3 seeds in
each pit, as in the document. --start begins with so many seeds in each pit, or
with a board, "P0 P1 ...", on any number of pits. The search takes about a bit
of memory for each position of all layers from 0 to that of the start, and two
for those of the latter: 215 GiB from 4 seeds in each of 12 pits. With --dir
these bits are on disk, and it takes 15 GiB. A checkpoint is written every
minute, or less often if that takes more than three seconds, and when the search
is interrupted; the same command resumes from it.
`,
		Example: `  grenier awari table --pits 8 --seeds 24
  grenier awari table --pits 12 --seeds 48 --json
  grenier awari table --pits 10 --seeds 20 --start 2 --rules awari
  grenier awari table --pits 12 --seeds 36 --start 3 --rules awari --dir data/reach`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.runTable(cmd.Context(), &f) }),
	}
	flags := cmd.Flags()
	flags.IntVar(&f.pits, "pits", 8, "`number` of pits of the board: 4, 6, 8, 10 or 12")
	flags.StringVar(&f.rules, "rules", "strict", "`rules` of the search: awari or strict")
	flags.IntVar(&f.seeds, "seeds", 24, "largest `number` of seeds, 0 to 48")
	flags.StringVar(&f.start, "start", "", "begin the search with so many `seeds` in each pit, or with a board")
	f.Memory.Define(a.App, flags, "4GiB", nil)
	cli.ThreadsFlag(flags, &f.Threads, "use for the search")
	flags.Var((*cli.Directory)(&f.dir), "dir", "`directory` for the bits of the search, which are in memory without it")
	cli.ProgressFlag(flags, &f.Form)
	flags.BoolVar(&f.JSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) runTable(ctx context.Context, f *tableFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	shown, err := a.NewProgress(f.Form, f.JSON)
	if err != nil {
		return err
	}
	if f.dir != "" {
		a.Resume = "; the same command resumes"
	}
	runtime.GOMAXPROCS(f.Threads)
	o.Search.Progress = shown.Show
	table, err := census.New(ctx, o)
	shown.Close()
	if err != nil {
		return f.Memory.Explain(err)
	}
	if f.JSON {
		return a.PrintJSON(newTableReport(table, &o))
	}
	return a.printTable(table)
}

// options checks the flags and returns what they ask for.
func (f *tableFlags) options() (o census.TableOptions, err error) {
	game, err := f.game()
	if err != nil {
		return o, err
	}
	if err := cli.CheckThreads(f.Threads); err != nil {
		return o, err
	}
	o = census.TableOptions{Pits: f.pits, Seeds: f.seeds, Rules: game.Rules()}
	o.Search = access.Options{Job: job.Job{Workers: f.Threads}, Dir: f.dir, Interval: time.Minute}
	if o.Search.Family, err = cli.Family(); err != nil {
		return o, err
	}
	if f.dir != "" && f.start == "" {
		return o, cli.Usagef("--dir is for a search from --start")
	}
	if f.start != "" {
		start, err := parseStart(game, cli.Fields(f.start))
		if err != nil {
			return o, cli.Usagef("--start: %w", err)
		}
		o.Start = &start
	}
	o.Search.Memory, err = f.Memory.Limit()
	return o, err
}

// parseStart reads the number of seeds in each pit, or all pits.
func parseStart(game awari.Game, fields []string) (awari.Board, error) {
	if len(fields) > 1 {
		return game.Parse(fields)
	}
	return game.Parse(slices.Repeat(fields, game.Pits()))
}

func (a *app) printTable(table *census.Table) error {
	if err := table.WriteRST(a.Out, table.Columns()...); err != nil {
		return err
	}
	fmt.Fprintln(a.Out)
	return table.WriteRST(a.Out, census.CostColumns()...)
}

func newTableReport(table *census.Table, o *census.TableOptions) tableReport {
	report := tableReport{Pits: table.Pits, MaxSeeds: table.MaxSeeds, Rows: make([]tableRow, 0, len(table.Rows))}
	if o.Start != nil {
		report.Rules, report.Start = o.Rules.String(), widen(o.Start[:o.Pits])
	}
	for _, r := range table.Rows {
		row := tableRow{
			Seeds: r.Seeds, Configs: r.Configs, Space: r.Space, SpaceCumulative: r.SpaceCumulative,
			SpaceReal: r.SpaceReal, Cost: r.Cost,
		}
		if table.Accessible {
			row.Accessible, row.SpaceAccessible = &r.Accessible, &r.SpaceAccessible
		}
		report.Rows = append(report.Rows, row)
	}
	return report
}
