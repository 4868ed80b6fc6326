package swap

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/layers/swap"
	"grenier/pipeline/swap/plan"
)

// planFlags are the flags of swap plan as given.
type planFlags struct {
	searchFlags
	cli.CalibrationFlags
	dir, form string
	json      bool
}

func (a *app) plan() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan --rows R --cols C",
		Short: "Predict memory, disk and time of swap bfs",
		Long: `Predicts what "swap bfs" takes for a grid, in memory and with --dir: memory,
disk, bytes read and written, number of depths and time; and says whether it
fits.

A short calibration measures this machine first: it searches blocks of the grid
with random states, and writes and reads a file in DIR, or in the directory for
temporary files. A saved calibration (--save-calibration) is JSON that you can
use again, or edit to describe another machine.

docs/swap.md explains the arithmetic and compares plans with real searches.
`,
		Example: `  grenier swap plan --rows 2 --cols 7 --dir data/2x7
  grenier swap plan --rows 3 --cols 5 --memory 16GiB --save-calibration here.json
  grenier swap plan --rows 3 --cols 5 --threads 16 --disk 3GB --calibration here.json --json`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.runPlan(cmd.Context(), f) }),
	}
	needGrid(cmd, &f.rows, &f.cols, swap.MaxCells)
	flags := cmd.Flags()
	f.memory.DefinePlan(a.App, flags, "8GiB")
	cli.ThreadsFlag(flags, &f.threads, "use")
	flags.Var((*cli.Directory)(&f.dir), "dir", "directory for the states; the plan measures the speed and the room of its disk")
	f.CalibrationFlags.Define(flags)
	cli.ProgressFlag(flags, &f.form)
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (a *app) runPlan(ctx context.Context, f planFlags) error {
	g, o, err := f.search()
	if err != nil {
		return err
	}
	if err := f.OneStdout(f.json); err != nil {
		return err
	}
	c, err := cli.Calibrated(a.App, &f.CalibrationFlags, plan.ParseCalibration,
		func(disk bool) (*plan.Calibration, error) { return a.measure(ctx, &f, g, disk) })
	if err != nil || f.Printed() {
		return err
	}
	free, err := cli.RoomFor(f.dir)
	if err != nil {
		return err
	}
	p, err := plan.New(g, o, c, free)
	if err != nil {
		return err
	}
	if f.json {
		return a.PrintJSON(p)
	}
	a.printPlan(p)
	return nil
}

// measure measures this machine.
func (a *app) measure(ctx context.Context, f *planFlags, g *swap.Grid, disk bool) (*plan.Calibration, error) {
	if err := f.memory.Calibrating(f.threads); err != nil {
		return nil, err
	}
	shown, err := a.NewProgress(f.form, f.json)
	if err != nil {
		return nil, err
	}
	defer shown.Close()
	runtime.GOMAXPROCS(f.threads)
	return plan.Measure(ctx, g, f.threads, f.dir, disk, func(share float64) { shown.Update(cli.Calibrating(share)) })
}

func (a *app) printPlan(p *plan.Plan) {
	about := "about"
	if p.Diameter == p.Least {
		about = "exactly"
	}
	a.Printf(2, "%d x %d: %s, diameter %s %d (at least %d), %s visits of words of 60 states",
		p.Rows, p.Cols, cli.Count(p.States, "state"), about, p.Diameter, p.Least, cli.Comma(p.Visits))
	a.Printf(2, "in memory: %s of memory, %s; %s", cli.Size(p.InMemory), cli.Period(p.Seconds),
		fits(p.FitsMemory, p.InMemory > p.Memory, p.Memory))
	a.Printf(12, "with --dir: %s of memory at least, %.0f%% of the states held within %s", cli.Size(p.OnDisk), 100*p.Held, cli.Size(p.Memory))
	a.Printf(12, "            %s read, %s written; %s on disk, at most %s", cli.Size(p.Read), cli.Size(p.Written), cli.Size(p.Disk), cli.Size(p.Most))
	onDisk := fits(p.FitsDisk, p.OnDisk > p.Memory, p.Memory)
	if p.FitsDisk && p.Free == nil {
		onDisk = "fits if the disk has room"
	}
	a.Printf(12, "            %s: processors %s, disk %s; %s", cli.Period(p.OnDiskSeconds), cli.Period(p.Processors), cli.Period(p.Transfers), onDisk)
	if p.Free != nil {
		enough := "enough"
		if *p.Free < p.Most {
			enough = "too little"
		}
		fmt.Fprintf(a.Out, "%s are free: %s\n", cli.Size(*p.Free), enough)
	}
	c := p.Calibration
	fmt.Fprintln(a.Out)
	a.Printf(2, "for %s, calibrated %s", c.CPU, c.Date.Format(time.DateOnly))
	a.PrintBusy(c.Busy(), c.Taken)
	a.Printf(2, "one core: %.1f ns to visit a word, pack %.2f, unpack %.2f ns a word; %d cores do %.2f times as much",
		c.Step*float64(p.Steps), c.Pack, c.Unpack, c.Cores, c.Speedup)
	a.Printf(2, "disk: reads %s/s in pieces of 64 KiB, writes %s/s", cli.Size(c.Random), cli.Size(c.Write))
	a.Printf(2, "assumed: words are visited, and have newest states, as often as in searches of 10 to 13 cells")
}

// fits says whether a search fits, and whether memory or disk is too small.
func fits(ok, noMemory bool, memory uint64) string {
	switch {
	case ok:
		return "fits"
	case noMemory:
		return fmt.Sprintf("does not fit into %s of memory", cli.Size(memory))
	}
	return "does not fit on the disk"
}
