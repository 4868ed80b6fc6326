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
	"grenier/pipeline/swap/classes"
)

// swapBFSFlags are the flags of swap bfs as given.
type swapBFSFlags struct {
	rows, cols, threads int
	dir                 string
	progress            string
	memory              memoryFlag
	symmetry, json      bool
	force               bool
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
	Classes   uint64   `json:"classes,omitempty"` // these two with --symmetry
	ByDepth   []uint64 `json:"classes_per_depth,omitempty"`
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

--symmetry searches classes of states instead: a state, its images under the rotations
and reflections of the grid, and the inverses of these, up to 16 states. The numbers of
states are the same, found by another program, so each checks the other; that is what it
is for. It takes some 30 times as long: 80 to 100 s of one processor for 12 cells, all
states 3 s. It needs up to twice the disk, but less memory: 34 MiB for 11 cells.
` + exitHelp,
		Example: `  grenier swap bfs --rows 3 --cols 4
  grenier swap bfs --rows 1 --cols 13 --memory 2GiB --json
  grenier swap bfs --rows 1 --cols 13 --memory 256MiB --dir data/line13
  grenier swap bfs --rows 3 --cols 4 --symmetry`,
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
	flags.BoolVar(&f.symmetry, "symmetry", false, "search classes of states that symmetry and inverse make equal")
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
	r, err := f.count(ctx, g, o)
	shown.close()
	if err != nil {
		return err
	}
	report := swapBFSReport{
		Rows: r.Rows, Cols: r.Cols, States: r.States(), Diameter: r.Diameter(), Antipodes: r.Antipodes(),
		Mean: math.Round(r.Mean()*1e6) / 1e6, Depths: r.Depths,
		Classes: r.AllClasses(), ByDepth: r.Classes, took: took{time.Since(start).Seconds(), peakRSS()},
	}
	if f.json {
		return a.printJSON(report)
	}
	a.printSwapBFS(report)
	return nil
}

// count counts all states, or with --symmetry the classes too.
func (f *swapBFSFlags) count(ctx context.Context, g *swap.Grid, o bfs.Options) (*classes.Result, error) {
	if !f.symmetry {
		r, err := bfs.Search(ctx, g, o)
		if isType[*bfs.DiskError](err) {
			return nil, fmt.Errorf("%w; --force begins all the same", err)
		}
		if err != nil {
			return nil, f.memory.explain(err)
		}
		return &classes.Result{Result: *r}, nil
	}
	r, err := classes.Search(ctx, g, o)
	if isType[*bfs.DiskError](err) {
		return nil, fmt.Errorf("%w; --force begins all the same", err)
	}
	if isType[*classes.MemoryError](err) && f.dir == "" {
		err = fmt.Errorf("%w; --dir says where to keep them", err)
	}
	return r, f.memory.explain(err)
}

func (a *app) printSwapBFS(r swapBFSReport) {
	fmt.Fprintf(a.out, "%8s %18s", "distance", "states")
	if r.Classes > 0 {
		fmt.Fprintf(a.out, " %15s", "classes")
	}
	fmt.Fprintln(a.out)
	for d, n := range r.Depths {
		fmt.Fprintf(a.out, "%8d %18s", d, comma(n))
		if r.Classes > 0 {
			fmt.Fprintf(a.out, " %15s", comma(r.ByDepth[d]))
		}
		fmt.Fprintln(a.out)
	}
	if r.Classes > 0 {
		fmt.Fprintf(a.out, "%s classes up to symmetry and inverse\n", comma(r.Classes))
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
