package swap

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/rundir"
	"grenier/layers/swap"
	"grenier/pipeline/swap/bfs"
)

// bfsFlags are the flags of swap bfs as given.
type bfsFlags struct {
	cli.JobFlags
	rows, cols int
	dir        string
	force      bool
}

// bfsReport is the JSON of swap bfs.
type bfsReport struct {
	Rows      int      `json:"rows"`
	Cols      int      `json:"cols"`
	States    uint64   `json:"states"`
	Diameter  int      `json:"diameter"`
	Antipodes uint64   `json:"antipodes"`
	Mean      float64  `json:"mean"` // rounded to six places
	Depths    []uint64 `json:"depths"`
	Degree    int      `json:"degree"` // moves of each state
	Edges     uint64   `json:"edges"`  // pairs of states that a move joins
	cli.Took
}

func (a *app) bfs() *cobra.Command {
	var f bfsFlags
	cmd := &cobra.Command{
		Use:   "bfs --rows R --cols C",
		Short: "Count the states of a grid by distance from the goal",
		Long: `Visits all states of a grid, breadth first from the goal, and prints the number
of states at each distance, the largest distance (the diameter), the number of
states at that distance (the antipodes) and the mean distance, and of the state
graph the degree, the number of moves of each state, and the number of edges.

A state takes 0.15 bytes of memory: 12 cells 72 MB, 13 cells 0.94 GB, 14 cells
13 GB. A grid that needs more than --memory is refused. With --dir the states
are on disk: 13 cells then need about 110 MB of memory and up to 1.5 GB of
disk, 14 cells 560 MB and 20 GB, and memory beyond that holds a part of the
states. A disk with too little room is refused unless --force is given. Each
depth ends with a checkpoint in DIR, from which the same command resumes.
`,
		Example: `  grenier swap bfs --rows 3 --cols 4
  grenier swap bfs --rows 1 --cols 13 --memory 2GiB --json
  grenier swap bfs --rows 1 --cols 13 --memory 256MiB --dir data/line13`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.runBFS(cmd.Context(), f) }),
	}
	needGrid(cmd, &f.rows, &f.cols, swap.MaxCells)
	flags := cmd.Flags()
	flags.Var((*cli.Directory)(&f.dir), "dir", "directory for the states, which are in memory without it")
	f.Memory.Define(a.App, flags, "8GiB", &f.force)
	cli.ThreadsFlag(flags, &f.Threads, "use")
	cli.ProgressFlag(flags, &f.Form)
	flags.BoolVar(&f.force, "force", false, "start even if the disk has too little room for the states")
	flags.BoolVar(&f.JSON, "json", false, cli.JSONUsage)
	return cmd
}

// search checks the flags and returns the grid and the options of the search.
func (f *bfsFlags) search() (g *swap.Grid, o bfs.Options, err error) {
	o.Dir = f.dir
	if !f.force {
		o.Free = rundir.FreeBytes
	}
	if o.Job, err = f.Job(); err != nil {
		return nil, o, err
	}
	g, err = sized(swap.NewGrid(f.rows, f.cols))
	return g, o, err
}

func (a *app) runBFS(ctx context.Context, f bfsFlags) error {
	g, o, err := f.search()
	if err != nil {
		return err
	}
	shown, err := a.Begin(&f.JobFlags, &o.Job)
	if err != nil {
		return err
	}
	if f.dir != "" {
		a.Resume = "; the same command resumes after the last complete depth"
	}
	start := time.Now()
	r, err := bfs.Search(ctx, g, o)
	shown.Close()
	if cli.IsType[*rundir.RoomError](err) {
		return fmt.Errorf("%w; --force starts anyway", err)
	}
	if err != nil {
		return f.Memory.Explain(err)
	}
	report := bfsReport{
		Rows: r.Rows, Cols: r.Cols, States: r.States(), Degree: len(g.Swaps()), Edges: r.States() * uint64(len(g.Swaps())) / 2, Diameter: r.Diameter(), Antipodes: r.Antipodes(),
		Mean: math.Round(r.Mean()*1e6) / 1e6, Depths: r.Depths,
		Took: cli.TookSince(start),
	}
	if f.JSON {
		return a.PrintJSON(report)
	}
	a.printBFS(report)
	return nil
}

func (a *app) printBFS(r bfsReport) {
	fmt.Fprintf(a.Out, "%8s %18s\n", "distance", "states")
	for d, n := range r.Depths {
		fmt.Fprintf(a.Out, "%8d %18s\n", d, cli.Comma(n))
	}
	fmt.Fprintf(a.Out, "%s from each state, %s\n", cli.Count(r.Degree, "move"), cli.Count(r.Edges, "edge"))
	fmt.Fprintf(a.Out, "%d x %d: %s, diameter %d, antipodes %s, mean %.6f\n",
		r.Rows, r.Cols, cli.Count(r.States, "state"), r.Diameter, cli.Comma(r.Antipodes), r.Mean)
	fmt.Fprintf(a.Out, "%.1f s (%s); peak memory %s\n",
		r.Seconds, humanize.SIWithDigits(float64(r.States)/r.Seconds, 1, "states/s"), cli.Size(r.PeakRSS))
}
