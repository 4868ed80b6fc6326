package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"grenier/io/rundir"
	"grenier/layers/swap"
	"grenier/pipeline/swap/bfs"
)

// swapBFSFlags are the flags of swap bfs as given.
type swapBFSFlags struct {
	rows, cols, threads int
	dir                 string
	progress            string
	memory              memoryFlag
	json, force         bool
}

// swapBFSReport is what swap bfs prints as JSON.
type swapBFSReport struct {
	Rows      int      `json:"rows"`
	Cols      int      `json:"cols"`
	States    uint64   `json:"states"`
	Diameter  int      `json:"diameter"`
	Antipodes uint64   `json:"antipodes"`
	Mean      float64  `json:"mean"` // rounded to six places
	Depths    []uint64 `json:"depths"`
	took
}

func (a *app) swapBFS() *cobra.Command {
	var f swapBFSFlags
	cmd := &cobra.Command{
		Use:   "bfs --rows R --cols C",
		Short: "Count the states of a grid by distance from the goal",
		Long: `Searches all states of a grid, breadth first from the solved one, and prints how many
there are at each distance, the largest distance (the diameter), the number of states
that far from the goal (the antipodes) and the mean distance.

A state takes 0.15 bytes of memory: 12 cells 72 MB, 13 cells 0.94 GB, 14 cells 13 GB.
A grid that needs more than --memory is refused, unless --dir says where to keep the
states: then 13 cells need some 110 MB of memory and up to 1.5 GB of disk, and more
memory is used to keep states there too. A disk with less room is refused, unless
--force is given. What is in DIR is made safe after each depth, and the same command
goes on from there. "grenier swap plan" tells what a grid takes.
` + exitHelp,
		Example: `  grenier swap bfs --rows 3 --cols 4
  grenier swap bfs --rows 1 --cols 13 --memory 2GiB --json
  grenier swap bfs --rows 1 --cols 13 --memory 256MiB --dir data/line13`,
		Args: noArgs,
		RunE: a.start(func(cmd *cobra.Command, _ []string) error { return a.runSwapBFS(cmd.Context(), f) }),
	}
	flags := cmd.Flags()
	flags.IntVar(&f.rows, "rows", 0, "`number` of rows of the grid")
	flags.IntVar(&f.cols, "cols", 0, "`number` of columns of the grid; rows times columns is 1 to 16")
	flags.Var((*directory)(&f.dir), "dir", "directory for the states, to keep them on disk instead of in memory")
	f.memory.define(a, flags, "8GiB", &f.force)
	flags.IntVar(&f.threads, "threads", runtime.NumCPU(), fmt.Sprintf("`number` of processors to use, 1 to %d", maxThreads))
	flags.StringVar(&f.progress, "progress", "auto", progressUsage)
	flags.BoolVar(&f.force, "force", false, "begin even if the disk has too little room for the states")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	need(cmd, "rows", "cols")
	return cmd
}

// search checks the flags and returns what to search.
func (f *swapBFSFlags) search() (g *swap.Grid, o bfs.Options, err error) {
	if err = checkThreads(f.threads); err != nil {
		return nil, o, err
	}
	o.Workers, o.Dir = f.threads, f.dir
	if !f.force {
		o.Free = rundir.FreeBytes
	}
	if o.Memory, err = f.memory.limit(); err != nil {
		return nil, o, err
	}
	g, err = swap.NewGrid(f.rows, f.cols)
	return g, o, err
}

func (a *app) runSwapBFS(ctx context.Context, f swapBFSFlags) error {
	g, o, err := f.search()
	if err != nil {
		return err
	}
	shown, err := a.newProgress(f.progress, f.json)
	if err != nil {
		return err
	}
	if f.dir != "" {
		a.resume = "; the same command continues after the last whole depth"
	}
	runtime.GOMAXPROCS(f.threads)
	start := time.Now()
	o.Progress = func(p bfs.Progress) { shown.update(swapSearching(p)) }
	r, err := bfs.Search(ctx, g, o)
	shown.close()
	if isType[*rundir.RoomError](err) {
		return fmt.Errorf("%w; --force begins all the same", err)
	}
	if err != nil {
		return f.memory.explain(err)
	}
	report := swapBFSReport{
		Rows: r.Rows, Cols: r.Cols, States: r.States(), Diameter: r.Diameter(), Antipodes: r.Antipodes(),
		Mean: math.Round(r.Mean()*1e6) / 1e6, Depths: r.Depths,
		took: took{time.Since(start).Seconds(), peakRSS()},
	}
	if f.json {
		return a.printJSON(report)
	}
	a.printSwapBFS(report)
	return nil
}

func (a *app) printSwapBFS(r swapBFSReport) {
	fmt.Fprintf(a.out, "%8s %18s\n", "distance", "states")
	for d, n := range r.Depths {
		fmt.Fprintf(a.out, "%8d %18s\n", d, comma(n))
	}
	fmt.Fprintf(a.out, "%d x %d: %s states, diameter %d, antipodes %s, mean %.6f\n",
		r.Rows, r.Cols, comma(r.States), r.Diameter, comma(r.Antipodes), r.Mean)
	fmt.Fprintf(a.out, "%.1f s (%s); peak memory %s\n",
		r.Seconds, humanize.SIWithDigits(float64(r.States)/r.Seconds, 1, "states/s"), size(r.PeakRSS))
}

// swapSearching is how far a search is.
type swapSearching bfs.Progress

func (s swapSearching) state(elapsed time.Duration) state {
	shown := steady(fmt.Sprintf("depth %d", s.Depth), s.Seen, s.Total, elapsed)
	shown.done, shown.runETA = s.Share*shown.total, unknown
	if s.Share > s.Begun {
		shown.runETA = time.Duration(float64(elapsed) * (1 - s.Share) / (s.Share - s.Begun))
	}
	return shown
}
