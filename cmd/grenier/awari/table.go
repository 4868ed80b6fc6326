package awari

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/layers/awari"
	"grenier/pipeline/spaces/access"
	"grenier/pipeline/spaces/census"
)

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

The document has 8 pits and rules strict; the rules matter to column (a) only.
That needs a search of the game. Up to 8 pits it begins with 3 seeds in each
pit, as in the document. --start begins with N seeds in each pit, or with a
board, "P0 P1 ...", on any number of pits. The search takes about a bit of
memory for each position of all layers up to the layer of the start, and two for
each position of that one: 215 GiB from 4 seeds in each of 12 pits. With --dir
these bits are on disk, and it takes 15 GiB. A checkpoint is written every
minute, or less often if that takes more than three seconds, and when the search
is interrupted; the same command resumes from it.
`,
		Example: `  grenier awari table --pits 8 --rules strict
  grenier awari table --seeds 48 --json
  grenier awari table --pits 10 --seeds 20 --start 2
  grenier awari table --seeds 36 --start 3 --dir data/reach`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.runTable(cmd.Context(), &f) }),
	}
	flags := cmd.Flags()
	f.gameFlags.define(flags)
	cli.IntVar(flags, &f.seeds, "seeds", 24, 0, awari.MaxSeeds, "largest `number` of seeds, 0 to 48")
	flags.StringVar(&f.start, "start", "", "begin the search with this many `seeds` in each pit, or with a board")
	flags.Var((*cli.Directory)(&f.dir), "dir", "`directory` for the bits of the search, which are in memory without it")
	f.JobFlags.Define(a.App, flags, "4GiB", cli.JSONUsage)
	return cmd
}

func (a *app) runTable(ctx context.Context, f *tableFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	shown, err := a.Begin(&f.JobFlags, &o.Search.Job)
	if err != nil {
		return err
	}
	if f.dir != "" {
		a.Resume = "; the same command resumes"
	}
	table, err := census.New(ctx, o)
	shown.Close()
	if err != nil {
		return f.Memory.Explain(err)
	}
	if f.JSON {
		return a.PrintJSON(table)
	}
	if err := table.WriteRST(a.Out, table.Columns()...); err != nil {
		return err
	}
	fmt.Fprintln(a.Out)
	return table.WriteRST(a.Out, census.Seeds, census.Cost)
}

// options checks the flags and returns the options that they ask for.
func (f *tableFlags) options() (o census.TableOptions, err error) {
	game, err := f.game()
	if err != nil {
		return o, err
	}
	o = census.TableOptions{Pits: f.pits, Seeds: f.seeds, Rules: game.Rules()}
	o.Search = access.Options{Dir: f.dir, Interval: time.Minute}
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
	o.Search.Job, err = f.Job()
	return o, err
}

// parseStart reads the number of seeds in each pit, or all pits.
func parseStart(game awari.Game, fields []string) (awari.Board, error) {
	if len(fields) > 1 {
		return parseBoard(game, fields)
	}
	return game.Parse(slices.Repeat(fields, game.Pits()))
}
