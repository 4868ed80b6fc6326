package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"grenier/layers/swap"
	"grenier/pipeline/swap/plan"
)

// swapPlanFlags are the flags of swap plan as given.
type swapPlanFlags struct {
	calibrationFlags
	rows, cols, threads int
	dir, form           string
	memory              memoryFlag
	json                bool
}

func (a *app) swapPlan() *cobra.Command {
	var f swapPlanFlags
	cmd := &cobra.Command{
		Use:   "plan --rows R --cols C",
		Short: "Predict what counting all states takes",
		Long: `Predicts what "swap bfs" takes for a grid: memory, in memory and with --dir, space on
disk, bytes read and written, number of depths and time; and says whether it fits.

A short calibration measures this machine: blocks of the grid with random states, and
a file in DIR, or else where the system has its temporary files. It can be saved and
used again, also elsewhere; it is JSON that may be edited to describe another machine.

docs/swap.md has the arithmetic, and plans beside what real searches took.
` + exitHelp,
		Example: `  grenier swap plan --rows 2 --cols 7 --dir data/2x7
  grenier swap plan --rows 3 --cols 5 --memory 16GiB --save-calibration here.json
  grenier swap plan --rows 3 --cols 5 --threads 16 --disk 3GB --calibration here.json --json`,
		Args: noArgs,
		RunE: a.start(func(cmd *cobra.Command, _ []string) error { return a.runSwapPlan(cmd.Context(), f) }),
	}
	flags := cmd.Flags()
	flags.IntVar(&f.rows, "rows", 0, "`number` of rows of the grid")
	flags.IntVar(&f.cols, "cols", 0, "`number` of columns of the grid; rows times columns is 1 to 16")
	f.memory.definePlan(a, flags, "8GiB")
	flags.IntVar(&f.threads, "threads", runtime.NumCPU(), fmt.Sprintf("`number` of processors to use, 1 to %d", maxThreads))
	flags.Var((*directory)(&f.dir), "dir", "directory for the states: its disk is measured, and what it has room for")
	f.define(flags)
	flags.StringVar(&f.form, "progress", "auto", progressUsage)
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	need(cmd, "rows", "cols")
	return cmd
}

func (a *app) runSwapPlan(ctx context.Context, f swapPlanFlags) error {
	g, o, err := (&swapBFSFlags{rows: f.rows, cols: f.cols, threads: f.threads, memory: f.memory}).search()
	if err != nil {
		return err
	}
	c, err := calibrated(&f.calibrationFlags, plan.Load, func(disk bool) (*plan.Calibration, error) {
		return a.measureSwap(ctx, &f, g, disk)
	})
	if err != nil {
		return err
	}
	free, err := roomFor(f.dir)
	if err != nil {
		return err
	}
	p, err := plan.New(g, o, c, free)
	if err != nil {
		return err
	}
	if f.json {
		return a.printJSON(p)
	}
	a.printSwapPlan(p)
	return nil
}

// measureSwap measures this machine.
func (a *app) measureSwap(ctx context.Context, f *swapPlanFlags, g *swap.Grid, disk bool) (*plan.Calibration, error) {
	if err := f.memory.calibrating(f.threads); err != nil {
		return nil, err
	}
	shown, err := a.newProgress(f.form, f.json)
	if err != nil {
		return nil, err
	}
	defer shown.close()
	runtime.GOMAXPROCS(f.threads)
	return plan.Measure(ctx, g, f.threads, f.dir, disk, func(share float64) { shown.update(calibrating(share)) })
}

func (a *app) printSwapPlan(p *plan.Plan) {
	about := "about"
	if p.Diameter == p.Least {
		about = "exactly"
	}
	fmt.Fprintf(a.out, "%d x %d: %s states, diameter %s %d (at least %d), %s visits of words of 60 states\n",
		p.Rows, p.Cols, comma(p.States), about, p.Diameter, p.Least, comma(p.Visits))
	fmt.Fprintf(a.out, "in memory: %s of memory, %s; %s\n", size(p.InMemory), period(p.Seconds),
		fits(p.FitsMemory, p.InMemory > p.Memory, p.Memory))
	fmt.Fprintf(a.out, "with --dir: %s of memory at least, %.0f%% of the states held within %s\n", size(p.OnDisk), 100*p.Held, size(p.Memory))
	fmt.Fprintf(a.out, "            %s read, %s written; %s on disk, at most %s\n", size(p.Read), size(p.Written), size(p.Disk), size(p.Most))
	onDisk := fits(p.FitsDisk, p.OnDisk > p.Memory, p.Memory)
	if p.FitsDisk && p.Free == nil {
		onDisk = "fits if the disk has room"
	}
	fmt.Fprintf(a.out, "            %s: processors %s, disk %s; %s\n", period(p.OnDiskSeconds), period(p.Processors), period(p.Transfers), onDisk)
	if p.Free != nil {
		enough := "enough"
		if *p.Free < p.Most {
			enough = "too little"
		}
		fmt.Fprintf(a.out, "%s are free: %s\n", size(*p.Free), enough)
	}
	c := p.Calibration
	fmt.Fprintf(a.out, "\nfor %s, calibrated %s\n", c.CPU, c.Date.Format(time.DateOnly))
	fmt.Fprintf(a.out, "one core: %.1f ns to visit a word, pack %.2f, unpack %.2f ns a word; %d cores do %.2f times as much\n",
		c.Step*float64(p.Steps), c.Pack, c.Unpack, c.Cores, c.Speedup)
	fmt.Fprintf(a.out, "disk: reads %s/s in pieces of 64 KiB, writes %s/s\n", size(c.Random), size(c.Write))
	fmt.Fprintln(a.out, "assumed: words are visited, and have newest states, as often as in searches of 10 to 13 cells")
}

// fits says whether something fits, and if not, whether for want of memory.
func fits(ok, noMemory bool, memory uint64) string {
	switch {
	case ok:
		return "fits"
	case noMemory:
		return fmt.Sprintf("does not fit into %s of memory", size(memory))
	}
	return "does not fit on the disk"
}
