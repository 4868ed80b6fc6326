package swap

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/swap/patterns"
)

// pdbFlags are the flags of swap pdb build as given.
type pdbFlags struct {
	cli.JobFlags
	kind, cost, out string
	rows, cols, k   int
	tiles           []int
}

// pdbReport is the JSON of swap pdb build.
type pdbReport struct {
	Kind    string `json:"kind"`
	Rows    int    `json:"rows"`
	Cols    int    `json:"cols"`
	Tiles   []int  `json:"tiles,omitempty"`
	K       int    `json:"k"`
	Cost    string `json:"cost"`
	Entries int    `json:"entries"`
	File    string `json:"file"`
	Bytes   int64  `json:"bytes"`
	cli.Took
}

// pdb returns the commands about pattern databases.
func (a *app) pdb() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "pdb",
		Short: "Build pattern databases of the swap puzzle",
		Long: `A pattern database holds the cost of bringing some of the tiles home, from
everywhere. "swap solve --pdb" takes it as a heuristic.`,
		Example: "  grenier swap pdb build --kind gadb --rows 4 --cols 4 --k 3 --out k3.gp",
	}, a.pdbBuild())
}

func (a *app) pdbBuild() *cobra.Command {
	var f pdbFlags
	cmd := &cobra.Command{
		Use:   "build --kind KIND --rows R --cols C --out FILE",
		Short: "Build a pattern database",
		Long: `Computes, by breadth-first search, the cost of bringing a set of tiles home
from every placement, and writes it to FILE, or to stdout if FILE is -. An
existing file is replaced when the new one is complete.

  apdb  one set, --tiles, numbered from 1
  gadb  every set of --k tiles, at most 4

A swap costs 1 (--cost unit), or the number of tiles of the set that it moves
(--cost tracked). Summed over disjoint sets, either cost is at most twice the
distance; tracked is never the smaller one.
`,
		Example: `  grenier swap pdb build --kind apdb --rows 4 --cols 4 --tiles 1,2,3,5,6 --out a.gp
  grenier swap pdb build --kind gadb --rows 4 --cols 4 --k 3 --cost tracked --out k3.gp --json`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.runPDB(cmd.Context(), f) }),
	}
	needGrid(cmd, &f.rows, &f.cols, swap.MaxCells)
	flags := cmd.Flags()
	cli.ChoiceVar(flags, &f.kind, "kind", "", "`kind` of database", "apdb", "gadb")
	cli.ChoiceVar(flags, &f.cost, "cost", "unit", "`cost` of a swap", "unit", "tracked")
	flags.IntSliceVar(&f.tiles, "tiles", nil, "`tiles` of an apdb, from 1, with commas between")
	cli.IntVar(flags, &f.k, "k", 0, 0, heuristic.MaxSet, "`number` of tiles in the sets of a gadb, 1 to 4")
	flags.Var((*cli.File)(&f.out), "out", "`FILE` to write, - for stdout")
	f.Define(a.App, flags, "4GiB", cli.JSONUsage)
	cli.Need(cmd, "kind", "out")
	return cmd
}

// options checks the flags.
func (f *pdbFlags) options() (g *swap.Grid, o patterns.Options, err error) {
	switch {
	case f.kind == "apdb" && (len(f.tiles) == 0 || f.k != 0):
		err = fmt.Errorf("--kind apdb takes --tiles and not --k")
	case f.kind == "gadb" && (len(f.tiles) > 0 || f.k == 0):
		err = fmt.Errorf("--kind gadb takes --k and not --tiles")
	}
	if err != nil {
		return nil, o, cli.Usagef("%w", err)
	}
	if o.Job, err = f.Job(); err != nil {
		return nil, o, err
	}
	if o.Cost, err = heuristic.ParseCost(f.cost); err != nil {
		return nil, o, err
	}
	g, err = sized(swap.NewGrid(f.rows, f.cols))
	return g, o, err
}

func (a *app) runPDB(ctx context.Context, f pdbFlags) error {
	g, o, err := f.options()
	if err != nil {
		return err
	}
	if err := cli.CheckFile(f.out); err != nil {
		return err
	}
	if err := cli.OneStdout(f.JSON, map[string]string{"--out": f.out}); err != nil {
		return err
	}
	shown, err := a.Begin(&f.JobFlags, &o.Job)
	if err != nil {
		return err
	}
	start := time.Now()
	r := pdbReport{Kind: f.kind, Rows: f.rows, Cols: f.cols, Tiles: f.tiles, K: max(f.k, len(f.tiles)), Cost: o.Cost.String(), File: f.out}
	entries, data, err := f.build(ctx, g, o)
	if err == nil {
		err = a.WriteFile(f.out, data)
	}
	shown.Close()
	if err != nil || f.out == cli.Stdout {
		return f.Memory.Explain(err)
	}
	r.Entries, r.Bytes, r.Took = entries, int64(len(data)), cli.TookSince(start)
	if f.JSON {
		return a.PrintJSON(r)
	}
	what := "all sets of " + cli.Count(r.K, "tile")
	if len(r.Tiles) > 0 {
		what = "tiles " + strings.Trim(fmt.Sprint(r.Tiles), "[]")
	}
	a.Printf(2, "%d x %d, %s, cost %s: %s %s, %s bytes in %s, %.3f s, peak memory %s",
		r.Rows, r.Cols, what, r.Cost, cli.Comma(uint64(r.Entries)), english.PluralWord(r.Entries, "entry", ""),
		cli.Comma(uint64(r.Bytes)), r.File, r.Seconds, cli.Size(r.PeakRSS))
	return nil
}

// build returns the number of values of a database, and its file.
func (f *pdbFlags) build(ctx context.Context, g *swap.Grid, o patterns.Options) (entries int, data []byte, err error) {
	numbers := make([]int, len(f.tiles))
	for i, t := range f.tiles {
		numbers[i] = t - 1
	}
	file, err := patterns.Build(ctx, g, numbers, f.k, o)
	if err != nil {
		return 0, nil, err
	}
	data, err = file.Encode()
	return len(file.Values), data, err
}
